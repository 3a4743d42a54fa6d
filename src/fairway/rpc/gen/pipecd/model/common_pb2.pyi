from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ApplicationKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    KUBERNETES: _ClassVar[ApplicationKind]
    TERRAFORM: _ClassVar[ApplicationKind]
    LAMBDA: _ClassVar[ApplicationKind]
    CLOUDRUN: _ClassVar[ApplicationKind]
    ECS: _ClassVar[ApplicationKind]

class RollbackKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    Rollback_KUBERNETES: _ClassVar[RollbackKind]
    Rollback_TERRAFORM: _ClassVar[RollbackKind]
    Rollback_LAMBDA: _ClassVar[RollbackKind]
    Rollback_CLOUDRUN: _ClassVar[RollbackKind]
    Rollback_ECS: _ClassVar[RollbackKind]
    Rollback_CUSTOM_SYNC: _ClassVar[RollbackKind]

class ApplicationActiveStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ENABLED: _ClassVar[ApplicationActiveStatus]
    DISABLED: _ClassVar[ApplicationActiveStatus]
    DELETED: _ClassVar[ApplicationActiveStatus]

class SyncStrategy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    AUTO: _ClassVar[SyncStrategy]
    QUICK_SYNC: _ClassVar[SyncStrategy]
    PIPELINE: _ClassVar[SyncStrategy]
KUBERNETES: ApplicationKind
TERRAFORM: ApplicationKind
LAMBDA: ApplicationKind
CLOUDRUN: ApplicationKind
ECS: ApplicationKind
Rollback_KUBERNETES: RollbackKind
Rollback_TERRAFORM: RollbackKind
Rollback_LAMBDA: RollbackKind
Rollback_CLOUDRUN: RollbackKind
Rollback_ECS: RollbackKind
Rollback_CUSTOM_SYNC: RollbackKind
ENABLED: ApplicationActiveStatus
DISABLED: ApplicationActiveStatus
DELETED: ApplicationActiveStatus
AUTO: SyncStrategy
QUICK_SYNC: SyncStrategy
PIPELINE: SyncStrategy

class ApplicationGitPath(_message.Message):
    __slots__ = ("repo", "path", "config_filename", "url")
    REPO_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FILENAME_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    repo: ApplicationGitRepository
    path: str
    config_filename: str
    url: str
    def __init__(self, repo: _Optional[_Union[ApplicationGitRepository, _Mapping]] = ..., path: _Optional[str] = ..., config_filename: _Optional[str] = ..., url: _Optional[str] = ...) -> None: ...

class ApplicationGitRepository(_message.Message):
    __slots__ = ("id", "remote", "branch")
    ID_FIELD_NUMBER: _ClassVar[int]
    REMOTE_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    id: str
    remote: str
    branch: str
    def __init__(self, id: _Optional[str] = ..., remote: _Optional[str] = ..., branch: _Optional[str] = ...) -> None: ...

class ApplicationInfo(_message.Message):
    __slots__ = ("id", "name", "kind", "labels", "repo_id", "path", "config_filename", "piped_id", "description")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    REPO_ID_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FILENAME_FIELD_NUMBER: _ClassVar[int]
    PIPED_ID_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    id: str
    name: str
    kind: ApplicationKind
    labels: _containers.ScalarMap[str, str]
    repo_id: str
    path: str
    config_filename: str
    piped_id: str
    description: str
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., kind: _Optional[_Union[ApplicationKind, str]] = ..., labels: _Optional[_Mapping[str, str]] = ..., repo_id: _Optional[str] = ..., path: _Optional[str] = ..., config_filename: _Optional[str] = ..., piped_id: _Optional[str] = ..., description: _Optional[str] = ...) -> None: ...

class ArtifactVersion(_message.Message):
    __slots__ = ("kind", "version", "name", "url")
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[ArtifactVersion.Kind]
        CONTAINER_IMAGE: _ClassVar[ArtifactVersion.Kind]
        S3_OBJECT: _ClassVar[ArtifactVersion.Kind]
        GIT_SOURCE: _ClassVar[ArtifactVersion.Kind]
        TERRAFORM_MODULE: _ClassVar[ArtifactVersion.Kind]
    UNKNOWN: ArtifactVersion.Kind
    CONTAINER_IMAGE: ArtifactVersion.Kind
    S3_OBJECT: ArtifactVersion.Kind
    GIT_SOURCE: ArtifactVersion.Kind
    TERRAFORM_MODULE: ArtifactVersion.Kind
    KIND_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    kind: ArtifactVersion.Kind
    version: str
    name: str
    url: str
    def __init__(self, kind: _Optional[_Union[ArtifactVersion.Kind, str]] = ..., version: _Optional[str] = ..., name: _Optional[str] = ..., url: _Optional[str] = ...) -> None: ...
