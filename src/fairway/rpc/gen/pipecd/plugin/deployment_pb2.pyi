from fairway.rpc.gen.pipecd.model import common_pb2 as _common_pb2
from fairway.rpc.gen.pipecd.model import deployment_pb2 as _deployment_pb2
from fairway.rpc.gen.pipecd.plugin import common_pb2 as _common_pb2_1
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DetermineVersionsRequest(_message.Message):
    __slots__ = ("input",)
    INPUT_FIELD_NUMBER: _ClassVar[int]
    input: PlanPluginInput
    def __init__(self, input: _Optional[_Union[PlanPluginInput, _Mapping]] = ...) -> None: ...

class DetermineVersionsResponse(_message.Message):
    __slots__ = ("versions",)
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    versions: _containers.RepeatedCompositeFieldContainer[_common_pb2.ArtifactVersion]
    def __init__(self, versions: _Optional[_Iterable[_Union[_common_pb2.ArtifactVersion, _Mapping]]] = ...) -> None: ...

class DetermineStrategyRequest(_message.Message):
    __slots__ = ("input",)
    INPUT_FIELD_NUMBER: _ClassVar[int]
    input: PlanPluginInput
    def __init__(self, input: _Optional[_Union[PlanPluginInput, _Mapping]] = ...) -> None: ...

class DetermineStrategyResponse(_message.Message):
    __slots__ = ("sync_strategy", "summary", "unsupported")
    SYNC_STRATEGY_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    UNSUPPORTED_FIELD_NUMBER: _ClassVar[int]
    sync_strategy: _common_pb2.SyncStrategy
    summary: str
    unsupported: bool
    def __init__(self, sync_strategy: _Optional[_Union[_common_pb2.SyncStrategy, str]] = ..., summary: _Optional[str] = ..., unsupported: _Optional[bool] = ...) -> None: ...

class BuildPipelineSyncStagesRequest(_message.Message):
    __slots__ = ("rollback", "stages")
    class StageConfig(_message.Message):
        __slots__ = ("name", "desc", "timeout", "index", "config")
        NAME_FIELD_NUMBER: _ClassVar[int]
        DESC_FIELD_NUMBER: _ClassVar[int]
        TIMEOUT_FIELD_NUMBER: _ClassVar[int]
        INDEX_FIELD_NUMBER: _ClassVar[int]
        CONFIG_FIELD_NUMBER: _ClassVar[int]
        name: str
        desc: str
        timeout: str
        index: int
        config: bytes
        def __init__(self, name: _Optional[str] = ..., desc: _Optional[str] = ..., timeout: _Optional[str] = ..., index: _Optional[int] = ..., config: _Optional[bytes] = ...) -> None: ...
    ROLLBACK_FIELD_NUMBER: _ClassVar[int]
    STAGES_FIELD_NUMBER: _ClassVar[int]
    rollback: bool
    stages: _containers.RepeatedCompositeFieldContainer[BuildPipelineSyncStagesRequest.StageConfig]
    def __init__(self, rollback: _Optional[bool] = ..., stages: _Optional[_Iterable[_Union[BuildPipelineSyncStagesRequest.StageConfig, _Mapping]]] = ...) -> None: ...

class BuildPipelineSyncStagesResponse(_message.Message):
    __slots__ = ("stages",)
    STAGES_FIELD_NUMBER: _ClassVar[int]
    stages: _containers.RepeatedCompositeFieldContainer[_deployment_pb2.PipelineStage]
    def __init__(self, stages: _Optional[_Iterable[_Union[_deployment_pb2.PipelineStage, _Mapping]]] = ...) -> None: ...

class BuildQuickSyncStagesRequest(_message.Message):
    __slots__ = ("rollback",)
    ROLLBACK_FIELD_NUMBER: _ClassVar[int]
    rollback: bool
    def __init__(self, rollback: _Optional[bool] = ...) -> None: ...

class BuildQuickSyncStagesResponse(_message.Message):
    __slots__ = ("stages",)
    STAGES_FIELD_NUMBER: _ClassVar[int]
    stages: _containers.RepeatedCompositeFieldContainer[_deployment_pb2.PipelineStage]
    def __init__(self, stages: _Optional[_Iterable[_Union[_deployment_pb2.PipelineStage, _Mapping]]] = ...) -> None: ...

class FetchDefinedStagesRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class FetchDefinedStagesResponse(_message.Message):
    __slots__ = ("stages",)
    STAGES_FIELD_NUMBER: _ClassVar[int]
    stages: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, stages: _Optional[_Iterable[str]] = ...) -> None: ...

class ExecuteStageRequest(_message.Message):
    __slots__ = ("input",)
    INPUT_FIELD_NUMBER: _ClassVar[int]
    input: ExecutePluginInput
    def __init__(self, input: _Optional[_Union[ExecutePluginInput, _Mapping]] = ...) -> None: ...

class ExecuteStageResponse(_message.Message):
    __slots__ = ("status", "message")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    status: _deployment_pb2.StageStatus
    message: str
    def __init__(self, status: _Optional[_Union[_deployment_pb2.StageStatus, str]] = ..., message: _Optional[str] = ...) -> None: ...

class PlanPluginInput(_message.Message):
    __slots__ = ("deployment", "running_deployment_source", "target_deployment_source")
    DEPLOYMENT_FIELD_NUMBER: _ClassVar[int]
    RUNNING_DEPLOYMENT_SOURCE_FIELD_NUMBER: _ClassVar[int]
    TARGET_DEPLOYMENT_SOURCE_FIELD_NUMBER: _ClassVar[int]
    deployment: _deployment_pb2.Deployment
    running_deployment_source: _common_pb2_1.DeploymentSource
    target_deployment_source: _common_pb2_1.DeploymentSource
    def __init__(self, deployment: _Optional[_Union[_deployment_pb2.Deployment, _Mapping]] = ..., running_deployment_source: _Optional[_Union[_common_pb2_1.DeploymentSource, _Mapping]] = ..., target_deployment_source: _Optional[_Union[_common_pb2_1.DeploymentSource, _Mapping]] = ...) -> None: ...

class ExecutePluginInput(_message.Message):
    __slots__ = ("deployment", "stage", "stage_config", "running_deployment_source", "target_deployment_source")
    DEPLOYMENT_FIELD_NUMBER: _ClassVar[int]
    STAGE_FIELD_NUMBER: _ClassVar[int]
    STAGE_CONFIG_FIELD_NUMBER: _ClassVar[int]
    RUNNING_DEPLOYMENT_SOURCE_FIELD_NUMBER: _ClassVar[int]
    TARGET_DEPLOYMENT_SOURCE_FIELD_NUMBER: _ClassVar[int]
    deployment: _deployment_pb2.Deployment
    stage: _deployment_pb2.PipelineStage
    stage_config: bytes
    running_deployment_source: _common_pb2_1.DeploymentSource
    target_deployment_source: _common_pb2_1.DeploymentSource
    def __init__(self, deployment: _Optional[_Union[_deployment_pb2.Deployment, _Mapping]] = ..., stage: _Optional[_Union[_deployment_pb2.PipelineStage, _Mapping]] = ..., stage_config: _Optional[bytes] = ..., running_deployment_source: _Optional[_Union[_common_pb2_1.DeploymentSource, _Mapping]] = ..., target_deployment_source: _Optional[_Union[_common_pb2_1.DeploymentSource, _Mapping]] = ...) -> None: ...
