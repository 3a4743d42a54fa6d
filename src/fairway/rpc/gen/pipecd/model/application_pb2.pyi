from fairway.rpc.gen.pipecd.model import common_pb2 as _common_pb2
from fairway.rpc.gen.pipecd.model import deployment_pb2 as _deployment_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ApplicationSyncStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    UNKNOWN: _ClassVar[ApplicationSyncStatus]
    SYNCED: _ClassVar[ApplicationSyncStatus]
    DEPLOYING: _ClassVar[ApplicationSyncStatus]
    OUT_OF_SYNC: _ClassVar[ApplicationSyncStatus]
    INVALID_CONFIG: _ClassVar[ApplicationSyncStatus]
UNKNOWN: ApplicationSyncStatus
SYNCED: ApplicationSyncStatus
DEPLOYING: ApplicationSyncStatus
OUT_OF_SYNC: ApplicationSyncStatus
INVALID_CONFIG: ApplicationSyncStatus

class Application(_message.Message):
    __slots__ = ("id", "name", "piped_id", "project_id", "kind", "git_path", "cloud_provider", "platform_provider", "deploy_targets_by_plugin", "description", "labels", "most_recently_successful_deployment", "most_recently_triggered_deployment", "sync_state", "deploying", "deleted_at", "deleted", "disabled", "created_at", "updated_at")
    class DeployTargetsByPluginEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: _deployment_pb2.DeployTargets
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[_deployment_pb2.DeployTargets, _Mapping]] = ...) -> None: ...
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PIPED_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    GIT_PATH_FIELD_NUMBER: _ClassVar[int]
    CLOUD_PROVIDER_FIELD_NUMBER: _ClassVar[int]
    PLATFORM_PROVIDER_FIELD_NUMBER: _ClassVar[int]
    DEPLOY_TARGETS_BY_PLUGIN_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    MOST_RECENTLY_SUCCESSFUL_DEPLOYMENT_FIELD_NUMBER: _ClassVar[int]
    MOST_RECENTLY_TRIGGERED_DEPLOYMENT_FIELD_NUMBER: _ClassVar[int]
    SYNC_STATE_FIELD_NUMBER: _ClassVar[int]
    DEPLOYING_FIELD_NUMBER: _ClassVar[int]
    DELETED_AT_FIELD_NUMBER: _ClassVar[int]
    DELETED_FIELD_NUMBER: _ClassVar[int]
    DISABLED_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    id: str
    name: str
    piped_id: str
    project_id: str
    kind: _common_pb2.ApplicationKind
    git_path: _common_pb2.ApplicationGitPath
    cloud_provider: str
    platform_provider: str
    deploy_targets_by_plugin: _containers.MessageMap[str, _deployment_pb2.DeployTargets]
    description: str
    labels: _containers.ScalarMap[str, str]
    most_recently_successful_deployment: ApplicationDeploymentReference
    most_recently_triggered_deployment: ApplicationDeploymentReference
    sync_state: ApplicationSyncState
    deploying: bool
    deleted_at: int
    deleted: bool
    disabled: bool
    created_at: int
    updated_at: int
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., piped_id: _Optional[str] = ..., project_id: _Optional[str] = ..., kind: _Optional[_Union[_common_pb2.ApplicationKind, str]] = ..., git_path: _Optional[_Union[_common_pb2.ApplicationGitPath, _Mapping]] = ..., cloud_provider: _Optional[str] = ..., platform_provider: _Optional[str] = ..., deploy_targets_by_plugin: _Optional[_Mapping[str, _deployment_pb2.DeployTargets]] = ..., description: _Optional[str] = ..., labels: _Optional[_Mapping[str, str]] = ..., most_recently_successful_deployment: _Optional[_Union[ApplicationDeploymentReference, _Mapping]] = ..., most_recently_triggered_deployment: _Optional[_Union[ApplicationDeploymentReference, _Mapping]] = ..., sync_state: _Optional[_Union[ApplicationSyncState, _Mapping]] = ..., deploying: _Optional[bool] = ..., deleted_at: _Optional[int] = ..., deleted: _Optional[bool] = ..., disabled: _Optional[bool] = ..., created_at: _Optional[int] = ..., updated_at: _Optional[int] = ...) -> None: ...

class ApplicationSyncState(_message.Message):
    __slots__ = ("status", "short_reason", "reason", "head_deployment_id", "timestamp")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    SHORT_REASON_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    HEAD_DEPLOYMENT_ID_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    status: ApplicationSyncStatus
    short_reason: str
    reason: str
    head_deployment_id: str
    timestamp: int
    def __init__(self, status: _Optional[_Union[ApplicationSyncStatus, str]] = ..., short_reason: _Optional[str] = ..., reason: _Optional[str] = ..., head_deployment_id: _Optional[str] = ..., timestamp: _Optional[int] = ...) -> None: ...

class ApplicationDeploymentReference(_message.Message):
    __slots__ = ("deployment_id", "trigger", "summary", "version", "config_filename", "versions", "started_at", "completed_at")
    DEPLOYMENT_ID_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FILENAME_FIELD_NUMBER: _ClassVar[int]
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    COMPLETED_AT_FIELD_NUMBER: _ClassVar[int]
    deployment_id: str
    trigger: _deployment_pb2.DeploymentTrigger
    summary: str
    version: str
    config_filename: str
    versions: _containers.RepeatedCompositeFieldContainer[_common_pb2.ArtifactVersion]
    started_at: int
    completed_at: int
    def __init__(self, deployment_id: _Optional[str] = ..., trigger: _Optional[_Union[_deployment_pb2.DeploymentTrigger, _Mapping]] = ..., summary: _Optional[str] = ..., version: _Optional[str] = ..., config_filename: _Optional[str] = ..., versions: _Optional[_Iterable[_Union[_common_pb2.ArtifactVersion, _Mapping]]] = ..., started_at: _Optional[int] = ..., completed_at: _Optional[int] = ...) -> None: ...
