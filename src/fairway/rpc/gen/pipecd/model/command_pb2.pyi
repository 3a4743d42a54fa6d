from fairway.rpc.gen.pipecd.model import common_pb2 as _common_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class CommandStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    COMMAND_NOT_HANDLED_YET: _ClassVar[CommandStatus]
    COMMAND_SUCCEEDED: _ClassVar[CommandStatus]
    COMMAND_FAILED: _ClassVar[CommandStatus]
    COMMAND_TIMEOUT: _ClassVar[CommandStatus]
COMMAND_NOT_HANDLED_YET: CommandStatus
COMMAND_SUCCEEDED: CommandStatus
COMMAND_FAILED: CommandStatus
COMMAND_TIMEOUT: CommandStatus

class Command(_message.Message):
    __slots__ = ("id", "piped_id", "application_id", "deployment_id", "stage_id", "commander", "project_id", "status", "metadata", "handled_at", "type", "sync_application", "update_application_config", "cancel_deployment", "approve_stage", "build_plan_preview", "chain_sync_application", "skip_stage", "restart_piped", "created_at", "updated_at")
    class Type(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        SYNC_APPLICATION: _ClassVar[Command.Type]
        UPDATE_APPLICATION_CONFIG: _ClassVar[Command.Type]
        CANCEL_DEPLOYMENT: _ClassVar[Command.Type]
        APPROVE_STAGE: _ClassVar[Command.Type]
        BUILD_PLAN_PREVIEW: _ClassVar[Command.Type]
        CHAIN_SYNC_APPLICATION: _ClassVar[Command.Type]
        SKIP_STAGE: _ClassVar[Command.Type]
        RESTART_PIPED: _ClassVar[Command.Type]
    SYNC_APPLICATION: Command.Type
    UPDATE_APPLICATION_CONFIG: Command.Type
    CANCEL_DEPLOYMENT: Command.Type
    APPROVE_STAGE: Command.Type
    BUILD_PLAN_PREVIEW: Command.Type
    CHAIN_SYNC_APPLICATION: Command.Type
    SKIP_STAGE: Command.Type
    RESTART_PIPED: Command.Type
    class SyncApplication(_message.Message):
        __slots__ = ("application_id", "sync_strategy")
        APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
        SYNC_STRATEGY_FIELD_NUMBER: _ClassVar[int]
        application_id: str
        sync_strategy: _common_pb2.SyncStrategy
        def __init__(self, application_id: _Optional[str] = ..., sync_strategy: _Optional[_Union[_common_pb2.SyncStrategy, str]] = ...) -> None: ...
    class UpdateApplicationConfig(_message.Message):
        __slots__ = ("application_id", "config_path", "config")
        APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
        CONFIG_PATH_FIELD_NUMBER: _ClassVar[int]
        CONFIG_FIELD_NUMBER: _ClassVar[int]
        application_id: str
        config_path: str
        config: str
        def __init__(self, application_id: _Optional[str] = ..., config_path: _Optional[str] = ..., config: _Optional[str] = ...) -> None: ...
    class CancelDeployment(_message.Message):
        __slots__ = ("deployment_id", "force_rollback", "force_no_rollback")
        DEPLOYMENT_ID_FIELD_NUMBER: _ClassVar[int]
        FORCE_ROLLBACK_FIELD_NUMBER: _ClassVar[int]
        FORCE_NO_ROLLBACK_FIELD_NUMBER: _ClassVar[int]
        deployment_id: str
        force_rollback: bool
        force_no_rollback: bool
        def __init__(self, deployment_id: _Optional[str] = ..., force_rollback: _Optional[bool] = ..., force_no_rollback: _Optional[bool] = ...) -> None: ...
    class ApproveStage(_message.Message):
        __slots__ = ("deployment_id", "stage_id")
        DEPLOYMENT_ID_FIELD_NUMBER: _ClassVar[int]
        STAGE_ID_FIELD_NUMBER: _ClassVar[int]
        deployment_id: str
        stage_id: str
        def __init__(self, deployment_id: _Optional[str] = ..., stage_id: _Optional[str] = ...) -> None: ...
    class BuildPlanPreview(_message.Message):
        __slots__ = ("repository_id", "head_branch", "head_commit", "base_branch", "timeout")
        REPOSITORY_ID_FIELD_NUMBER: _ClassVar[int]
        HEAD_BRANCH_FIELD_NUMBER: _ClassVar[int]
        HEAD_COMMIT_FIELD_NUMBER: _ClassVar[int]
        BASE_BRANCH_FIELD_NUMBER: _ClassVar[int]
        TIMEOUT_FIELD_NUMBER: _ClassVar[int]
        repository_id: str
        head_branch: str
        head_commit: str
        base_branch: str
        timeout: int
        def __init__(self, repository_id: _Optional[str] = ..., head_branch: _Optional[str] = ..., head_commit: _Optional[str] = ..., base_branch: _Optional[str] = ..., timeout: _Optional[int] = ...) -> None: ...
    class ChainSyncApplication(_message.Message):
        __slots__ = ("deployment_chain_id", "block_index", "application_id", "sync_strategy")
        DEPLOYMENT_CHAIN_ID_FIELD_NUMBER: _ClassVar[int]
        BLOCK_INDEX_FIELD_NUMBER: _ClassVar[int]
        APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
        SYNC_STRATEGY_FIELD_NUMBER: _ClassVar[int]
        deployment_chain_id: str
        block_index: int
        application_id: str
        sync_strategy: _common_pb2.SyncStrategy
        def __init__(self, deployment_chain_id: _Optional[str] = ..., block_index: _Optional[int] = ..., application_id: _Optional[str] = ..., sync_strategy: _Optional[_Union[_common_pb2.SyncStrategy, str]] = ...) -> None: ...
    class SkipStage(_message.Message):
        __slots__ = ("deployment_id", "stage_id")
        DEPLOYMENT_ID_FIELD_NUMBER: _ClassVar[int]
        STAGE_ID_FIELD_NUMBER: _ClassVar[int]
        deployment_id: str
        stage_id: str
        def __init__(self, deployment_id: _Optional[str] = ..., stage_id: _Optional[str] = ...) -> None: ...
    class RestartPiped(_message.Message):
        __slots__ = ("piped_id",)
        PIPED_ID_FIELD_NUMBER: _ClassVar[int]
        piped_id: str
        def __init__(self, piped_id: _Optional[str] = ...) -> None: ...
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    PIPED_ID_FIELD_NUMBER: _ClassVar[int]
    APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
    DEPLOYMENT_ID_FIELD_NUMBER: _ClassVar[int]
    STAGE_ID_FIELD_NUMBER: _ClassVar[int]
    COMMANDER_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    HANDLED_AT_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    SYNC_APPLICATION_FIELD_NUMBER: _ClassVar[int]
    UPDATE_APPLICATION_CONFIG_FIELD_NUMBER: _ClassVar[int]
    CANCEL_DEPLOYMENT_FIELD_NUMBER: _ClassVar[int]
    APPROVE_STAGE_FIELD_NUMBER: _ClassVar[int]
    BUILD_PLAN_PREVIEW_FIELD_NUMBER: _ClassVar[int]
    CHAIN_SYNC_APPLICATION_FIELD_NUMBER: _ClassVar[int]
    SKIP_STAGE_FIELD_NUMBER: _ClassVar[int]
    RESTART_PIPED_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    id: str
    piped_id: str
    application_id: str
    deployment_id: str
    stage_id: str
    commander: str
    project_id: str
    status: CommandStatus
    metadata: _containers.ScalarMap[str, str]
    handled_at: int
    type: Command.Type
    sync_application: Command.SyncApplication
    update_application_config: Command.UpdateApplicationConfig
    cancel_deployment: Command.CancelDeployment
    approve_stage: Command.ApproveStage
    build_plan_preview: Command.BuildPlanPreview
    chain_sync_application: Command.ChainSyncApplication
    skip_stage: Command.SkipStage
    restart_piped: Command.RestartPiped
    created_at: int
    updated_at: int
    def __init__(self, id: _Optional[str] = ..., piped_id: _Optional[str] = ..., application_id: _Optional[str] = ..., deployment_id: _Optional[str] = ..., stage_id: _Optional[str] = ..., commander: _Optional[str] = ..., project_id: _Optional[str] = ..., status: _Optional[_Union[CommandStatus, str]] = ..., metadata: _Optional[_Mapping[str, str]] = ..., handled_at: _Optional[int] = ..., type: _Optional[_Union[Command.Type, str]] = ..., sync_application: _Optional[_Union[Command.SyncApplication, _Mapping]] = ..., update_application_config: _Optional[_Union[Command.UpdateApplicationConfig, _Mapping]] = ..., cancel_deployment: _Optional[_Union[Command.CancelDeployment, _Mapping]] = ..., approve_stage: _Optional[_Union[Command.ApproveStage, _Mapping]] = ..., build_plan_preview: _Optional[_Union[Command.BuildPlanPreview, _Mapping]] = ..., chain_sync_application: _Optional[_Union[Command.ChainSyncApplication, _Mapping]] = ..., skip_stage: _Optional[_Union[Command.SkipStage, _Mapping]] = ..., restart_piped: _Optional[_Union[Command.RestartPiped, _Mapping]] = ..., created_at: _Optional[int] = ..., updated_at: _Optional[int] = ...) -> None: ...
