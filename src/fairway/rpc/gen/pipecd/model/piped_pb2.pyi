from fairway.rpc.gen.pipecd.model import common_pb2 as _common_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Piped(_message.Message):
    __slots__ = ("id", "name", "desc", "project_id", "version", "started_at", "cloud_providers", "repositories", "status", "config", "platform_providers", "plugins", "secret_encryption", "keys", "desired_version", "disabled", "created_at", "updated_at")
    class ConnectionStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        UNKNOWN: _ClassVar[Piped.ConnectionStatus]
        ONLINE: _ClassVar[Piped.ConnectionStatus]
        OFFLINE: _ClassVar[Piped.ConnectionStatus]
    UNKNOWN: Piped.ConnectionStatus
    ONLINE: Piped.ConnectionStatus
    OFFLINE: Piped.ConnectionStatus
    class CloudProvider(_message.Message):
        __slots__ = ("name", "type")
        NAME_FIELD_NUMBER: _ClassVar[int]
        TYPE_FIELD_NUMBER: _ClassVar[int]
        name: str
        type: str
        def __init__(self, name: _Optional[str] = ..., type: _Optional[str] = ...) -> None: ...
    class PlatformProvider(_message.Message):
        __slots__ = ("name", "type")
        NAME_FIELD_NUMBER: _ClassVar[int]
        TYPE_FIELD_NUMBER: _ClassVar[int]
        name: str
        type: str
        def __init__(self, name: _Optional[str] = ..., type: _Optional[str] = ...) -> None: ...
    class Plugin(_message.Message):
        __slots__ = ("name", "deploy_targets")
        NAME_FIELD_NUMBER: _ClassVar[int]
        DEPLOY_TARGETS_FIELD_NUMBER: _ClassVar[int]
        name: str
        deploy_targets: _containers.RepeatedScalarFieldContainer[str]
        def __init__(self, name: _Optional[str] = ..., deploy_targets: _Optional[_Iterable[str]] = ...) -> None: ...
    class SecretEncryption(_message.Message):
        __slots__ = ("type", "public_key", "encrypt_service_account")
        TYPE_FIELD_NUMBER: _ClassVar[int]
        PUBLIC_KEY_FIELD_NUMBER: _ClassVar[int]
        ENCRYPT_SERVICE_ACCOUNT_FIELD_NUMBER: _ClassVar[int]
        type: str
        public_key: str
        encrypt_service_account: str
        def __init__(self, type: _Optional[str] = ..., public_key: _Optional[str] = ..., encrypt_service_account: _Optional[str] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESC_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    CLOUD_PROVIDERS_FIELD_NUMBER: _ClassVar[int]
    REPOSITORIES_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    PLATFORM_PROVIDERS_FIELD_NUMBER: _ClassVar[int]
    PLUGINS_FIELD_NUMBER: _ClassVar[int]
    SECRET_ENCRYPTION_FIELD_NUMBER: _ClassVar[int]
    KEYS_FIELD_NUMBER: _ClassVar[int]
    DESIRED_VERSION_FIELD_NUMBER: _ClassVar[int]
    DISABLED_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    id: str
    name: str
    desc: str
    project_id: str
    version: str
    started_at: int
    cloud_providers: _containers.RepeatedCompositeFieldContainer[Piped.CloudProvider]
    repositories: _containers.RepeatedCompositeFieldContainer[_common_pb2.ApplicationGitRepository]
    status: Piped.ConnectionStatus
    config: str
    platform_providers: _containers.RepeatedCompositeFieldContainer[Piped.PlatformProvider]
    plugins: _containers.RepeatedCompositeFieldContainer[Piped.Plugin]
    secret_encryption: Piped.SecretEncryption
    keys: _containers.RepeatedCompositeFieldContainer[PipedKey]
    desired_version: str
    disabled: bool
    created_at: int
    updated_at: int
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., desc: _Optional[str] = ..., project_id: _Optional[str] = ..., version: _Optional[str] = ..., started_at: _Optional[int] = ..., cloud_providers: _Optional[_Iterable[_Union[Piped.CloudProvider, _Mapping]]] = ..., repositories: _Optional[_Iterable[_Union[_common_pb2.ApplicationGitRepository, _Mapping]]] = ..., status: _Optional[_Union[Piped.ConnectionStatus, str]] = ..., config: _Optional[str] = ..., platform_providers: _Optional[_Iterable[_Union[Piped.PlatformProvider, _Mapping]]] = ..., plugins: _Optional[_Iterable[_Union[Piped.Plugin, _Mapping]]] = ..., secret_encryption: _Optional[_Union[Piped.SecretEncryption, _Mapping]] = ..., keys: _Optional[_Iterable[_Union[PipedKey, _Mapping]]] = ..., desired_version: _Optional[str] = ..., disabled: _Optional[bool] = ..., created_at: _Optional[int] = ..., updated_at: _Optional[int] = ...) -> None: ...

class PipedKey(_message.Message):
    __slots__ = ("hash", "creator", "created_at")
    HASH_FIELD_NUMBER: _ClassVar[int]
    CREATOR_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    hash: str
    creator: str
    created_at: int
    def __init__(self, hash: _Optional[str] = ..., creator: _Optional[str] = ..., created_at: _Optional[int] = ...) -> None: ...
