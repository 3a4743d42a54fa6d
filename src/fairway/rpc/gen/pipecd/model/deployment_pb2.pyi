from fairway.rpc.gen.pipecd.model import common_pb2 as _common_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DeploymentStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DEPLOYMENT_PENDING: _ClassVar[DeploymentStatus]
    DEPLOYMENT_PLANNED: _ClassVar[DeploymentStatus]
    DEPLOYMENT_RUNNING: _ClassVar[DeploymentStatus]
    DEPLOYMENT_ROLLING_BACK: _ClassVar[DeploymentStatus]
    DEPLOYMENT_SUCCESS: _ClassVar[DeploymentStatus]
    DEPLOYMENT_FAILURE: _ClassVar[DeploymentStatus]
    DEPLOYMENT_CANCELLED: _ClassVar[DeploymentStatus]

class StageStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STAGE_NOT_STARTED_YET: _ClassVar[StageStatus]
    STAGE_RUNNING: _ClassVar[StageStatus]
    STAGE_SUCCESS: _ClassVar[StageStatus]
    STAGE_FAILURE: _ClassVar[StageStatus]
    STAGE_CANCELLED: _ClassVar[StageStatus]
    STAGE_SKIPPED: _ClassVar[StageStatus]
    STAGE_EXITED: _ClassVar[StageStatus]

class TriggerKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ON_COMMIT: _ClassVar[TriggerKind]
    ON_COMMAND: _ClassVar[TriggerKind]
    ON_OUT_OF_SYNC: _ClassVar[TriggerKind]
    ON_CHAIN: _ClassVar[TriggerKind]

class ManualOperation(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    MANUAL_OPERATION_UNKNOWN: _ClassVar[ManualOperation]
    MANUAL_OPERATION_SKIP: _ClassVar[ManualOperation]
    MANUAL_OPERATION_APPROVE: _ClassVar[ManualOperation]
    MANUAL_OPERATION_NONE: _ClassVar[ManualOperation]
DEPLOYMENT_PENDING: DeploymentStatus
DEPLOYMENT_PLANNED: DeploymentStatus
DEPLOYMENT_RUNNING: DeploymentStatus
DEPLOYMENT_ROLLING_BACK: DeploymentStatus
DEPLOYMENT_SUCCESS: DeploymentStatus
DEPLOYMENT_FAILURE: DeploymentStatus
DEPLOYMENT_CANCELLED: DeploymentStatus
STAGE_NOT_STARTED_YET: StageStatus
STAGE_RUNNING: StageStatus
STAGE_SUCCESS: StageStatus
STAGE_FAILURE: StageStatus
STAGE_CANCELLED: StageStatus
STAGE_SKIPPED: StageStatus
STAGE_EXITED: StageStatus
ON_COMMIT: TriggerKind
ON_COMMAND: TriggerKind
ON_OUT_OF_SYNC: TriggerKind
ON_CHAIN: TriggerKind
MANUAL_OPERATION_UNKNOWN: ManualOperation
MANUAL_OPERATION_SKIP: ManualOperation
MANUAL_OPERATION_APPROVE: ManualOperation
MANUAL_OPERATION_NONE: ManualOperation

class Deployment(_message.Message):
    __slots__ = ("id", "application_id", "application_name", "piped_id", "project_id", "kind", "git_path", "cloud_provider", "platform_provider", "deploy_targets_by_plugin", "labels", "trigger", "summary", "versions", "running_commit_hash", "running_config_filename", "status", "status_reason", "stages", "metadata", "metadata_v2", "deployment_chain_id", "deployment_chain_block_index", "deployment_trace_commit_hash", "completed_at", "created_at", "updated_at")
    class DeployTargetsByPluginEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: DeployTargets
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[DeployTargets, _Mapping]] = ...) -> None: ...
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
    APPLICATION_NAME_FIELD_NUMBER: _ClassVar[int]
    PIPED_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    GIT_PATH_FIELD_NUMBER: _ClassVar[int]
    CLOUD_PROVIDER_FIELD_NUMBER: _ClassVar[int]
    PLATFORM_PROVIDER_FIELD_NUMBER: _ClassVar[int]
    DEPLOY_TARGETS_BY_PLUGIN_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    RUNNING_COMMIT_HASH_FIELD_NUMBER: _ClassVar[int]
    RUNNING_CONFIG_FILENAME_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    STATUS_REASON_FIELD_NUMBER: _ClassVar[int]
    STAGES_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    METADATA_V2_FIELD_NUMBER: _ClassVar[int]
    DEPLOYMENT_CHAIN_ID_FIELD_NUMBER: _ClassVar[int]
    DEPLOYMENT_CHAIN_BLOCK_INDEX_FIELD_NUMBER: _ClassVar[int]
    DEPLOYMENT_TRACE_COMMIT_HASH_FIELD_NUMBER: _ClassVar[int]
    COMPLETED_AT_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    id: str
    application_id: str
    application_name: str
    piped_id: str
    project_id: str
    kind: _common_pb2.ApplicationKind
    git_path: _common_pb2.ApplicationGitPath
    cloud_provider: str
    platform_provider: str
    deploy_targets_by_plugin: _containers.MessageMap[str, DeployTargets]
    labels: _containers.ScalarMap[str, str]
    trigger: DeploymentTrigger
    summary: str
    versions: _containers.RepeatedCompositeFieldContainer[_common_pb2.ArtifactVersion]
    running_commit_hash: str
    running_config_filename: str
    status: DeploymentStatus
    status_reason: str
    stages: _containers.RepeatedCompositeFieldContainer[PipelineStage]
    metadata: _containers.ScalarMap[str, str]
    metadata_v2: DeploymentMetadata
    deployment_chain_id: str
    deployment_chain_block_index: int
    deployment_trace_commit_hash: str
    completed_at: int
    created_at: int
    updated_at: int
    def __init__(self, id: _Optional[str] = ..., application_id: _Optional[str] = ..., application_name: _Optional[str] = ..., piped_id: _Optional[str] = ..., project_id: _Optional[str] = ..., kind: _Optional[_Union[_common_pb2.ApplicationKind, str]] = ..., git_path: _Optional[_Union[_common_pb2.ApplicationGitPath, _Mapping]] = ..., cloud_provider: _Optional[str] = ..., platform_provider: _Optional[str] = ..., deploy_targets_by_plugin: _Optional[_Mapping[str, DeployTargets]] = ..., labels: _Optional[_Mapping[str, str]] = ..., trigger: _Optional[_Union[DeploymentTrigger, _Mapping]] = ..., summary: _Optional[str] = ..., versions: _Optional[_Iterable[_Union[_common_pb2.ArtifactVersion, _Mapping]]] = ..., running_commit_hash: _Optional[str] = ..., running_config_filename: _Optional[str] = ..., status: _Optional[_Union[DeploymentStatus, str]] = ..., status_reason: _Optional[str] = ..., stages: _Optional[_Iterable[_Union[PipelineStage, _Mapping]]] = ..., metadata: _Optional[_Mapping[str, str]] = ..., metadata_v2: _Optional[_Union[DeploymentMetadata, _Mapping]] = ..., deployment_chain_id: _Optional[str] = ..., deployment_chain_block_index: _Optional[int] = ..., deployment_trace_commit_hash: _Optional[str] = ..., completed_at: _Optional[int] = ..., created_at: _Optional[int] = ..., updated_at: _Optional[int] = ...) -> None: ...

class DeployTargets(_message.Message):
    __slots__ = ("deploy_targets",)
    DEPLOY_TARGETS_FIELD_NUMBER: _ClassVar[int]
    deploy_targets: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, deploy_targets: _Optional[_Iterable[str]] = ...) -> None: ...

class DeploymentTrigger(_message.Message):
    __slots__ = ("commit", "commander", "timestamp", "sync_strategy", "strategy_summary")
    COMMIT_FIELD_NUMBER: _ClassVar[int]
    COMMANDER_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    SYNC_STRATEGY_FIELD_NUMBER: _ClassVar[int]
    STRATEGY_SUMMARY_FIELD_NUMBER: _ClassVar[int]
    commit: Commit
    commander: str
    timestamp: int
    sync_strategy: _common_pb2.SyncStrategy
    strategy_summary: str
    def __init__(self, commit: _Optional[_Union[Commit, _Mapping]] = ..., commander: _Optional[str] = ..., timestamp: _Optional[int] = ..., sync_strategy: _Optional[_Union[_common_pb2.SyncStrategy, str]] = ..., strategy_summary: _Optional[str] = ...) -> None: ...

class PipelineStage(_message.Message):
    __slots__ = ("id", "name", "desc", "index", "predefined", "requires", "visible", "status", "status_reason", "metadata", "retried_count", "rollback", "completed_at", "created_at", "updated_at", "available_operation", "authorized_operators")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    DESC_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    PREDEFINED_FIELD_NUMBER: _ClassVar[int]
    REQUIRES_FIELD_NUMBER: _ClassVar[int]
    VISIBLE_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    STATUS_REASON_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    RETRIED_COUNT_FIELD_NUMBER: _ClassVar[int]
    ROLLBACK_FIELD_NUMBER: _ClassVar[int]
    COMPLETED_AT_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    AVAILABLE_OPERATION_FIELD_NUMBER: _ClassVar[int]
    AUTHORIZED_OPERATORS_FIELD_NUMBER: _ClassVar[int]
    id: str
    name: str
    desc: str
    index: int
    predefined: bool
    requires: _containers.RepeatedScalarFieldContainer[str]
    visible: bool
    status: StageStatus
    status_reason: str
    metadata: _containers.ScalarMap[str, str]
    retried_count: int
    rollback: bool
    completed_at: int
    created_at: int
    updated_at: int
    available_operation: ManualOperation
    authorized_operators: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., desc: _Optional[str] = ..., index: _Optional[int] = ..., predefined: _Optional[bool] = ..., requires: _Optional[_Iterable[str]] = ..., visible: _Optional[bool] = ..., status: _Optional[_Union[StageStatus, str]] = ..., status_reason: _Optional[str] = ..., metadata: _Optional[_Mapping[str, str]] = ..., retried_count: _Optional[int] = ..., rollback: _Optional[bool] = ..., completed_at: _Optional[int] = ..., created_at: _Optional[int] = ..., updated_at: _Optional[int] = ..., available_operation: _Optional[_Union[ManualOperation, str]] = ..., authorized_operators: _Optional[_Iterable[str]] = ...) -> None: ...

class Commit(_message.Message):
    __slots__ = ("hash", "message", "author", "branch", "pull_request", "url", "created_at")
    HASH_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    AUTHOR_FIELD_NUMBER: _ClassVar[int]
    BRANCH_FIELD_NUMBER: _ClassVar[int]
    PULL_REQUEST_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    hash: str
    message: str
    author: str
    branch: str
    pull_request: int
    url: str
    created_at: int
    def __init__(self, hash: _Optional[str] = ..., message: _Optional[str] = ..., author: _Optional[str] = ..., branch: _Optional[str] = ..., pull_request: _Optional[int] = ..., url: _Optional[str] = ..., created_at: _Optional[int] = ...) -> None: ...

class DeploymentMetadata(_message.Message):
    __slots__ = ("shared", "plugins")
    class KeyValues(_message.Message):
        __slots__ = ("keyValues",)
        class KeyValuesEntry(_message.Message):
            __slots__ = ("key", "value")
            KEY_FIELD_NUMBER: _ClassVar[int]
            VALUE_FIELD_NUMBER: _ClassVar[int]
            key: str
            value: str
            def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
        KEYVALUES_FIELD_NUMBER: _ClassVar[int]
        keyValues: _containers.ScalarMap[str, str]
        def __init__(self, keyValues: _Optional[_Mapping[str, str]] = ...) -> None: ...
    class PluginsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: DeploymentMetadata.KeyValues
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[DeploymentMetadata.KeyValues, _Mapping]] = ...) -> None: ...
    SHARED_FIELD_NUMBER: _ClassVar[int]
    PLUGINS_FIELD_NUMBER: _ClassVar[int]
    shared: DeploymentMetadata.KeyValues
    plugins: _containers.MessageMap[str, DeploymentMetadata.KeyValues]
    def __init__(self, shared: _Optional[_Union[DeploymentMetadata.KeyValues, _Mapping]] = ..., plugins: _Optional[_Mapping[str, DeploymentMetadata.KeyValues]] = ...) -> None: ...
