from fairway.rpc.gen.pipecd.model import analysis_result_pb2 as _analysis_result_pb2
from fairway.rpc.gen.pipecd.model import application_pb2 as _application_pb2
from fairway.rpc.gen.pipecd.model import application_live_state_pb2 as _application_live_state_pb2
from fairway.rpc.gen.pipecd.model import command_pb2 as _command_pb2
from fairway.rpc.gen.pipecd.model import common_pb2 as _common_pb2
from fairway.rpc.gen.pipecd.model import deployment_pb2 as _deployment_pb2
from fairway.rpc.gen.pipecd.model import event_pb2 as _event_pb2
from fairway.rpc.gen.pipecd.model import logblock_pb2 as _logblock_pb2
from fairway.rpc.gen.pipecd.model import piped_pb2 as _piped_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ListOrder(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    NONE: _ClassVar[ListOrder]
    ASC: _ClassVar[ListOrder]
    DESC: _ClassVar[ListOrder]
NONE: ListOrder
ASC: ListOrder
DESC: ListOrder

class ReportStatRequest(_message.Message):
    __slots__ = ("piped_stats",)
    PIPED_STATS_FIELD_NUMBER: _ClassVar[int]
    piped_stats: bytes
    def __init__(self, piped_stats: _Optional[bytes] = ...) -> None: ...

class ReportStatResponse(_message.Message):
    __slots__ = ("report_interval",)
    REPORT_INTERVAL_FIELD_NUMBER: _ClassVar[int]
    report_interval: int
    def __init__(self, report_interval: _Optional[int] = ...) -> None: ...

class ReportPipedMetaRequest(_message.Message):
    __slots__ = ("version", "cloud_providers", "platform_providers", "plugins", "repositories", "secret_encryption", "config")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    CLOUD_PROVIDERS_FIELD_NUMBER: _ClassVar[int]
    PLATFORM_PROVIDERS_FIELD_NUMBER: _ClassVar[int]
    PLUGINS_FIELD_NUMBER: _ClassVar[int]
    REPOSITORIES_FIELD_NUMBER: _ClassVar[int]
    SECRET_ENCRYPTION_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    version: str
    cloud_providers: _containers.RepeatedCompositeFieldContainer[_piped_pb2.Piped.CloudProvider]
    platform_providers: _containers.RepeatedCompositeFieldContainer[_piped_pb2.Piped.PlatformProvider]
    plugins: _containers.RepeatedCompositeFieldContainer[_piped_pb2.Piped.Plugin]
    repositories: _containers.RepeatedCompositeFieldContainer[_common_pb2.ApplicationGitRepository]
    secret_encryption: _piped_pb2.Piped.SecretEncryption
    config: str
    def __init__(self, version: _Optional[str] = ..., cloud_providers: _Optional[_Iterable[_Union[_piped_pb2.Piped.CloudProvider, _Mapping]]] = ..., platform_providers: _Optional[_Iterable[_Union[_piped_pb2.Piped.PlatformProvider, _Mapping]]] = ..., plugins: _Optional[_Iterable[_Union[_piped_pb2.Piped.Plugin, _Mapping]]] = ..., repositories: _Optional[_Iterable[_Union[_common_pb2.ApplicationGitRepository, _Mapping]]] = ..., secret_encryption: _Optional[_Union[_piped_pb2.Piped.SecretEncryption, _Mapping]] = ..., config: _Optional[str] = ...) -> None: ...

class ReportPipedMetaResponse(_message.Message):
    __slots__ = ("name", "web_base_url")
    NAME_FIELD_NUMBER: _ClassVar[int]
    WEB_BASE_URL_FIELD_NUMBER: _ClassVar[int]
    name: str
    web_base_url: str
    def __init__(self, name: _Optional[str] = ..., web_base_url: _Optional[str] = ...) -> None: ...

class ListApplicationsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListApplicationsResponse(_message.Message):
    __slots__ = ("applications",)
    APPLICATIONS_FIELD_NUMBER: _ClassVar[int]
    applications: _containers.RepeatedCompositeFieldContainer[_application_pb2.Application]
    def __init__(self, applications: _Optional[_Iterable[_Union[_application_pb2.Application, _Mapping]]] = ...) -> None: ...

class ReportApplicationSyncStateRequest(_message.Message):
    __slots__ = ("application_id", "state")
    APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    application_id: str
    state: _application_pb2.ApplicationSyncState
    def __init__(self, application_id: _Optional[str] = ..., state: _Optional[_Union[_application_pb2.ApplicationSyncState, _Mapping]] = ...) -> None: ...

class ReportApplicationSyncStateResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ReportApplicationDeployingStatusRequest(_message.Message):
    __slots__ = ("application_id", "deploying")
    APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
    DEPLOYING_FIELD_NUMBER: _ClassVar[int]
    application_id: str
    deploying: bool
    def __init__(self, application_id: _Optional[str] = ..., deploying: _Optional[bool] = ...) -> None: ...

class ReportApplicationDeployingStatusResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ReportApplicationMostRecentDeploymentRequest(_message.Message):
    __slots__ = ("application_id", "status", "deployment")
    APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    DEPLOYMENT_FIELD_NUMBER: _ClassVar[int]
    application_id: str
    status: _deployment_pb2.DeploymentStatus
    deployment: _application_pb2.ApplicationDeploymentReference
    def __init__(self, application_id: _Optional[str] = ..., status: _Optional[_Union[_deployment_pb2.DeploymentStatus, str]] = ..., deployment: _Optional[_Union[_application_pb2.ApplicationDeploymentReference, _Mapping]] = ...) -> None: ...

class ReportApplicationMostRecentDeploymentResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetApplicationMostRecentDeploymentRequest(_message.Message):
    __slots__ = ("application_id", "status")
    APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    application_id: str
    status: _deployment_pb2.DeploymentStatus
    def __init__(self, application_id: _Optional[str] = ..., status: _Optional[_Union[_deployment_pb2.DeploymentStatus, str]] = ...) -> None: ...

class GetApplicationMostRecentDeploymentResponse(_message.Message):
    __slots__ = ("deployment",)
    DEPLOYMENT_FIELD_NUMBER: _ClassVar[int]
    deployment: _application_pb2.ApplicationDeploymentReference
    def __init__(self, deployment: _Optional[_Union[_application_pb2.ApplicationDeploymentReference, _Mapping]] = ...) -> None: ...

class GetDeploymentRequest(_message.Message):
    __slots__ = ("id",)
    ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    def __init__(self, id: _Optional[str] = ...) -> None: ...

class GetDeploymentResponse(_message.Message):
    __slots__ = ("deployment",)
    DEPLOYMENT_FIELD_NUMBER: _ClassVar[int]
    deployment: _deployment_pb2.Deployment
    def __init__(self, deployment: _Optional[_Union[_deployment_pb2.Deployment, _Mapping]] = ...) -> None: ...

class ListNotCompletedDeploymentsRequest(_message.Message):
    __slots__ = ("cursor",)
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    cursor: str
    def __init__(self, cursor: _Optional[str] = ...) -> None: ...

class ListNotCompletedDeploymentsResponse(_message.Message):
    __slots__ = ("deployments", "cursor")
    DEPLOYMENTS_FIELD_NUMBER: _ClassVar[int]
    CURSOR_FIELD_NUMBER: _ClassVar[int]
    deployments: _containers.RepeatedCompositeFieldContainer[_deployment_pb2.Deployment]
    cursor: str
    def __init__(self, deployments: _Optional[_Iterable[_Union[_deployment_pb2.Deployment, _Mapping]]] = ..., cursor: _Optional[str] = ...) -> None: ...

class CreateDeploymentRequest(_message.Message):
    __slots__ = ("deployment",)
    DEPLOYMENT_FIELD_NUMBER: _ClassVar[int]
    deployment: _deployment_pb2.Deployment
    def __init__(self, deployment: _Optional[_Union[_deployment_pb2.Deployment, _Mapping]] = ...) -> None: ...

class CreateDeploymentResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ReportDeploymentPlannedRequest(_message.Message):
    __slots__ = ("deployment_id", "summary", "status_reason", "running_commit_hash", "running_config_filename", "sync_strategy", "version", "versions", "stages", "deployment_chain_id", "deployment_chain_block_index")
    DEPLOYMENT_ID_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    STATUS_REASON_FIELD_NUMBER: _ClassVar[int]
    RUNNING_COMMIT_HASH_FIELD_NUMBER: _ClassVar[int]
    RUNNING_CONFIG_FILENAME_FIELD_NUMBER: _ClassVar[int]
    SYNC_STRATEGY_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    VERSIONS_FIELD_NUMBER: _ClassVar[int]
    STAGES_FIELD_NUMBER: _ClassVar[int]
    DEPLOYMENT_CHAIN_ID_FIELD_NUMBER: _ClassVar[int]
    DEPLOYMENT_CHAIN_BLOCK_INDEX_FIELD_NUMBER: _ClassVar[int]
    deployment_id: str
    summary: str
    status_reason: str
    running_commit_hash: str
    running_config_filename: str
    sync_strategy: _common_pb2.SyncStrategy
    version: str
    versions: _containers.RepeatedCompositeFieldContainer[_common_pb2.ArtifactVersion]
    stages: _containers.RepeatedCompositeFieldContainer[_deployment_pb2.PipelineStage]
    deployment_chain_id: str
    deployment_chain_block_index: int
    def __init__(self, deployment_id: _Optional[str] = ..., summary: _Optional[str] = ..., status_reason: _Optional[str] = ..., running_commit_hash: _Optional[str] = ..., running_config_filename: _Optional[str] = ..., sync_strategy: _Optional[_Union[_common_pb2.SyncStrategy, str]] = ..., version: _Optional[str] = ..., versions: _Optional[_Iterable[_Union[_common_pb2.ArtifactVersion, _Mapping]]] = ..., stages: _Optional[_Iterable[_Union[_deployment_pb2.PipelineStage, _Mapping]]] = ..., deployment_chain_id: _Optional[str] = ..., deployment_chain_block_index: _Optional[int] = ...) -> None: ...

class ReportDeploymentPlannedResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ReportDeploymentStatusChangedRequest(_message.Message):
    __slots__ = ("deployment_id", "status", "status_reason", "deployment_chain_id", "deployment_chain_block_index")
    DEPLOYMENT_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    STATUS_REASON_FIELD_NUMBER: _ClassVar[int]
    DEPLOYMENT_CHAIN_ID_FIELD_NUMBER: _ClassVar[int]
    DEPLOYMENT_CHAIN_BLOCK_INDEX_FIELD_NUMBER: _ClassVar[int]
    deployment_id: str
    status: _deployment_pb2.DeploymentStatus
    status_reason: str
    deployment_chain_id: str
    deployment_chain_block_index: int
    def __init__(self, deployment_id: _Optional[str] = ..., status: _Optional[_Union[_deployment_pb2.DeploymentStatus, str]] = ..., status_reason: _Optional[str] = ..., deployment_chain_id: _Optional[str] = ..., deployment_chain_block_index: _Optional[int] = ...) -> None: ...

class ReportDeploymentStatusChangedResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ReportDeploymentCompletedRequest(_message.Message):
    __slots__ = ("deployment_id", "status", "status_reason", "stage_statuses", "deployment_chain_id", "deployment_chain_block_index", "completed_at")
    class StageStatusesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: _deployment_pb2.StageStatus
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[_deployment_pb2.StageStatus, str]] = ...) -> None: ...
    DEPLOYMENT_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    STATUS_REASON_FIELD_NUMBER: _ClassVar[int]
    STAGE_STATUSES_FIELD_NUMBER: _ClassVar[int]
    DEPLOYMENT_CHAIN_ID_FIELD_NUMBER: _ClassVar[int]
    DEPLOYMENT_CHAIN_BLOCK_INDEX_FIELD_NUMBER: _ClassVar[int]
    COMPLETED_AT_FIELD_NUMBER: _ClassVar[int]
    deployment_id: str
    status: _deployment_pb2.DeploymentStatus
    status_reason: str
    stage_statuses: _containers.ScalarMap[str, _deployment_pb2.StageStatus]
    deployment_chain_id: str
    deployment_chain_block_index: int
    completed_at: int
    def __init__(self, deployment_id: _Optional[str] = ..., status: _Optional[_Union[_deployment_pb2.DeploymentStatus, str]] = ..., status_reason: _Optional[str] = ..., stage_statuses: _Optional[_Mapping[str, _deployment_pb2.StageStatus]] = ..., deployment_chain_id: _Optional[str] = ..., deployment_chain_block_index: _Optional[int] = ..., completed_at: _Optional[int] = ...) -> None: ...

class ReportDeploymentCompletedResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class SaveDeploymentMetadataRequest(_message.Message):
    __slots__ = ("deployment_id", "metadata")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    DEPLOYMENT_ID_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    deployment_id: str
    metadata: _containers.ScalarMap[str, str]
    def __init__(self, deployment_id: _Optional[str] = ..., metadata: _Optional[_Mapping[str, str]] = ...) -> None: ...

class SaveDeploymentMetadataResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class SaveDeploymentSharedMetadataRequest(_message.Message):
    __slots__ = ("deployment_id", "metadata")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    DEPLOYMENT_ID_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    deployment_id: str
    metadata: _containers.ScalarMap[str, str]
    def __init__(self, deployment_id: _Optional[str] = ..., metadata: _Optional[_Mapping[str, str]] = ...) -> None: ...

class SaveDeploymentSharedMetadataResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class SaveDeploymentPluginMetadataRequest(_message.Message):
    __slots__ = ("deployment_id", "plugin_name", "metadata")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    DEPLOYMENT_ID_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_NAME_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    deployment_id: str
    plugin_name: str
    metadata: _containers.ScalarMap[str, str]
    def __init__(self, deployment_id: _Optional[str] = ..., plugin_name: _Optional[str] = ..., metadata: _Optional[_Mapping[str, str]] = ...) -> None: ...

class SaveDeploymentPluginMetadataResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class SaveStageMetadataRequest(_message.Message):
    __slots__ = ("deployment_id", "stage_id", "metadata")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    DEPLOYMENT_ID_FIELD_NUMBER: _ClassVar[int]
    STAGE_ID_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    deployment_id: str
    stage_id: str
    metadata: _containers.ScalarMap[str, str]
    def __init__(self, deployment_id: _Optional[str] = ..., stage_id: _Optional[str] = ..., metadata: _Optional[_Mapping[str, str]] = ...) -> None: ...

class SaveStageMetadataResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ReportStageLogsRequest(_message.Message):
    __slots__ = ("deployment_id", "stage_id", "retried_count", "blocks")
    DEPLOYMENT_ID_FIELD_NUMBER: _ClassVar[int]
    STAGE_ID_FIELD_NUMBER: _ClassVar[int]
    RETRIED_COUNT_FIELD_NUMBER: _ClassVar[int]
    BLOCKS_FIELD_NUMBER: _ClassVar[int]
    deployment_id: str
    stage_id: str
    retried_count: int
    blocks: _containers.RepeatedCompositeFieldContainer[_logblock_pb2.LogBlock]
    def __init__(self, deployment_id: _Optional[str] = ..., stage_id: _Optional[str] = ..., retried_count: _Optional[int] = ..., blocks: _Optional[_Iterable[_Union[_logblock_pb2.LogBlock, _Mapping]]] = ...) -> None: ...

class ReportStageLogsResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ReportStageLogsFromLastCheckpointRequest(_message.Message):
    __slots__ = ("deployment_id", "stage_id", "retried_count", "blocks", "completed")
    DEPLOYMENT_ID_FIELD_NUMBER: _ClassVar[int]
    STAGE_ID_FIELD_NUMBER: _ClassVar[int]
    RETRIED_COUNT_FIELD_NUMBER: _ClassVar[int]
    BLOCKS_FIELD_NUMBER: _ClassVar[int]
    COMPLETED_FIELD_NUMBER: _ClassVar[int]
    deployment_id: str
    stage_id: str
    retried_count: int
    blocks: _containers.RepeatedCompositeFieldContainer[_logblock_pb2.LogBlock]
    completed: bool
    def __init__(self, deployment_id: _Optional[str] = ..., stage_id: _Optional[str] = ..., retried_count: _Optional[int] = ..., blocks: _Optional[_Iterable[_Union[_logblock_pb2.LogBlock, _Mapping]]] = ..., completed: _Optional[bool] = ...) -> None: ...

class ReportStageLogsFromLastCheckpointResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ReportStageStatusChangedRequest(_message.Message):
    __slots__ = ("deployment_id", "stage_id", "status", "status_reason", "requires", "visible", "retried_count", "completed_at")
    DEPLOYMENT_ID_FIELD_NUMBER: _ClassVar[int]
    STAGE_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    STATUS_REASON_FIELD_NUMBER: _ClassVar[int]
    REQUIRES_FIELD_NUMBER: _ClassVar[int]
    VISIBLE_FIELD_NUMBER: _ClassVar[int]
    RETRIED_COUNT_FIELD_NUMBER: _ClassVar[int]
    COMPLETED_AT_FIELD_NUMBER: _ClassVar[int]
    deployment_id: str
    stage_id: str
    status: _deployment_pb2.StageStatus
    status_reason: str
    requires: _containers.RepeatedScalarFieldContainer[str]
    visible: bool
    retried_count: int
    completed_at: int
    def __init__(self, deployment_id: _Optional[str] = ..., stage_id: _Optional[str] = ..., status: _Optional[_Union[_deployment_pb2.StageStatus, str]] = ..., status_reason: _Optional[str] = ..., requires: _Optional[_Iterable[str]] = ..., visible: _Optional[bool] = ..., retried_count: _Optional[int] = ..., completed_at: _Optional[int] = ...) -> None: ...

class ReportStageStatusChangedResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListUnhandledCommandsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListUnhandledCommandsResponse(_message.Message):
    __slots__ = ("commands",)
    COMMANDS_FIELD_NUMBER: _ClassVar[int]
    commands: _containers.RepeatedCompositeFieldContainer[_command_pb2.Command]
    def __init__(self, commands: _Optional[_Iterable[_Union[_command_pb2.Command, _Mapping]]] = ...) -> None: ...

class ReportCommandHandledRequest(_message.Message):
    __slots__ = ("command_id", "status", "metadata", "handled_at", "output")
    class MetadataEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    COMMAND_ID_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    HANDLED_AT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    command_id: str
    status: _command_pb2.CommandStatus
    metadata: _containers.ScalarMap[str, str]
    handled_at: int
    output: bytes
    def __init__(self, command_id: _Optional[str] = ..., status: _Optional[_Union[_command_pb2.CommandStatus, str]] = ..., metadata: _Optional[_Mapping[str, str]] = ..., handled_at: _Optional[int] = ..., output: _Optional[bytes] = ...) -> None: ...

class ReportCommandHandledResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ReportApplicationLiveStateRequest(_message.Message):
    __slots__ = ("snapshot",)
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    snapshot: _application_live_state_pb2.ApplicationLiveStateSnapshot
    def __init__(self, snapshot: _Optional[_Union[_application_live_state_pb2.ApplicationLiveStateSnapshot, _Mapping]] = ...) -> None: ...

class ReportApplicationLiveStateResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ReportApplicationLiveStateEventsRequest(_message.Message):
    __slots__ = ("kubernetes_events",)
    KUBERNETES_EVENTS_FIELD_NUMBER: _ClassVar[int]
    kubernetes_events: _containers.RepeatedCompositeFieldContainer[_application_live_state_pb2.KubernetesResourceStateEvent]
    def __init__(self, kubernetes_events: _Optional[_Iterable[_Union[_application_live_state_pb2.KubernetesResourceStateEvent, _Mapping]]] = ...) -> None: ...

class ReportApplicationLiveStateEventsResponse(_message.Message):
    __slots__ = ("failed_ids",)
    FAILED_IDS_FIELD_NUMBER: _ClassVar[int]
    failed_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, failed_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class GetLatestEventRequest(_message.Message):
    __slots__ = ("name", "labels")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    NAME_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    name: str
    labels: _containers.ScalarMap[str, str]
    def __init__(self, name: _Optional[str] = ..., labels: _Optional[_Mapping[str, str]] = ...) -> None: ...

class GetLatestEventResponse(_message.Message):
    __slots__ = ("event",)
    EVENT_FIELD_NUMBER: _ClassVar[int]
    event: _event_pb2.Event
    def __init__(self, event: _Optional[_Union[_event_pb2.Event, _Mapping]] = ...) -> None: ...

class ListEventsRequest(_message.Message):
    __slots__ = ("to", "order", "status")
    class Status(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        ALL: _ClassVar[ListEventsRequest.Status]
        NOT_HANDLED: _ClassVar[ListEventsRequest.Status]
        SUCCESS: _ClassVar[ListEventsRequest.Status]
        FAILURE: _ClassVar[ListEventsRequest.Status]
        OUTDATED: _ClassVar[ListEventsRequest.Status]
    ALL: ListEventsRequest.Status
    NOT_HANDLED: ListEventsRequest.Status
    SUCCESS: ListEventsRequest.Status
    FAILURE: ListEventsRequest.Status
    OUTDATED: ListEventsRequest.Status
    FROM_FIELD_NUMBER: _ClassVar[int]
    TO_FIELD_NUMBER: _ClassVar[int]
    ORDER_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    to: int
    order: ListOrder
    status: ListEventsRequest.Status
    def __init__(self, to: _Optional[int] = ..., order: _Optional[_Union[ListOrder, str]] = ..., status: _Optional[_Union[ListEventsRequest.Status, str]] = ..., **kwargs) -> None: ...

class ListEventsResponse(_message.Message):
    __slots__ = ("events",)
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[_event_pb2.Event]
    def __init__(self, events: _Optional[_Iterable[_Union[_event_pb2.Event, _Mapping]]] = ...) -> None: ...

class ReportEventStatusesRequest(_message.Message):
    __slots__ = ("events",)
    class Event(_message.Message):
        __slots__ = ("id", "status", "status_description")
        ID_FIELD_NUMBER: _ClassVar[int]
        STATUS_FIELD_NUMBER: _ClassVar[int]
        STATUS_DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
        id: str
        status: _event_pb2.EventStatus
        status_description: str
        def __init__(self, id: _Optional[str] = ..., status: _Optional[_Union[_event_pb2.EventStatus, str]] = ..., status_description: _Optional[str] = ...) -> None: ...
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedCompositeFieldContainer[ReportEventStatusesRequest.Event]
    def __init__(self, events: _Optional[_Iterable[_Union[ReportEventStatusesRequest.Event, _Mapping]]] = ...) -> None: ...

class ReportEventStatusesResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetLatestAnalysisResultRequest(_message.Message):
    __slots__ = ("application_id",)
    APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
    application_id: str
    def __init__(self, application_id: _Optional[str] = ...) -> None: ...

class GetLatestAnalysisResultResponse(_message.Message):
    __slots__ = ("analysis_result",)
    ANALYSIS_RESULT_FIELD_NUMBER: _ClassVar[int]
    analysis_result: _analysis_result_pb2.AnalysisResult
    def __init__(self, analysis_result: _Optional[_Union[_analysis_result_pb2.AnalysisResult, _Mapping]] = ...) -> None: ...

class PutLatestAnalysisResultRequest(_message.Message):
    __slots__ = ("application_id", "analysis_result")
    APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
    ANALYSIS_RESULT_FIELD_NUMBER: _ClassVar[int]
    application_id: str
    analysis_result: _analysis_result_pb2.AnalysisResult
    def __init__(self, application_id: _Optional[str] = ..., analysis_result: _Optional[_Union[_analysis_result_pb2.AnalysisResult, _Mapping]] = ...) -> None: ...

class PutLatestAnalysisResultResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetDesiredVersionRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class GetDesiredVersionResponse(_message.Message):
    __slots__ = ("version",)
    VERSION_FIELD_NUMBER: _ClassVar[int]
    version: str
    def __init__(self, version: _Optional[str] = ...) -> None: ...

class UpdateApplicationConfigurationsRequest(_message.Message):
    __slots__ = ("applications",)
    APPLICATIONS_FIELD_NUMBER: _ClassVar[int]
    applications: _containers.RepeatedCompositeFieldContainer[_common_pb2.ApplicationInfo]
    def __init__(self, applications: _Optional[_Iterable[_Union[_common_pb2.ApplicationInfo, _Mapping]]] = ...) -> None: ...

class UpdateApplicationConfigurationsResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ReportUnregisteredApplicationConfigurationsRequest(_message.Message):
    __slots__ = ("applications",)
    APPLICATIONS_FIELD_NUMBER: _ClassVar[int]
    applications: _containers.RepeatedCompositeFieldContainer[_common_pb2.ApplicationInfo]
    def __init__(self, applications: _Optional[_Iterable[_Union[_common_pb2.ApplicationInfo, _Mapping]]] = ...) -> None: ...

class ReportUnregisteredApplicationConfigurationsResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class CreateDeploymentChainRequest(_message.Message):
    __slots__ = ("first_deployment", "matchers")
    class ApplicationMatcher(_message.Message):
        __slots__ = ("name", "kind", "labels")
        class LabelsEntry(_message.Message):
            __slots__ = ("key", "value")
            KEY_FIELD_NUMBER: _ClassVar[int]
            VALUE_FIELD_NUMBER: _ClassVar[int]
            key: str
            value: str
            def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
        NAME_FIELD_NUMBER: _ClassVar[int]
        KIND_FIELD_NUMBER: _ClassVar[int]
        LABELS_FIELD_NUMBER: _ClassVar[int]
        name: str
        kind: str
        labels: _containers.ScalarMap[str, str]
        def __init__(self, name: _Optional[str] = ..., kind: _Optional[str] = ..., labels: _Optional[_Mapping[str, str]] = ...) -> None: ...
    FIRST_DEPLOYMENT_FIELD_NUMBER: _ClassVar[int]
    MATCHERS_FIELD_NUMBER: _ClassVar[int]
    first_deployment: _deployment_pb2.Deployment
    matchers: _containers.RepeatedCompositeFieldContainer[CreateDeploymentChainRequest.ApplicationMatcher]
    def __init__(self, first_deployment: _Optional[_Union[_deployment_pb2.Deployment, _Mapping]] = ..., matchers: _Optional[_Iterable[_Union[CreateDeploymentChainRequest.ApplicationMatcher, _Mapping]]] = ...) -> None: ...

class CreateDeploymentChainResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class InChainDeploymentPlannableRequest(_message.Message):
    __slots__ = ("deployment_id", "deployment_chain_id", "deployment_chain_block_index")
    DEPLOYMENT_ID_FIELD_NUMBER: _ClassVar[int]
    DEPLOYMENT_CHAIN_ID_FIELD_NUMBER: _ClassVar[int]
    DEPLOYMENT_CHAIN_BLOCK_INDEX_FIELD_NUMBER: _ClassVar[int]
    deployment_id: str
    deployment_chain_id: str
    deployment_chain_block_index: int
    def __init__(self, deployment_id: _Optional[str] = ..., deployment_chain_id: _Optional[str] = ..., deployment_chain_block_index: _Optional[int] = ...) -> None: ...

class InChainDeploymentPlannableResponse(_message.Message):
    __slots__ = ("plannable", "cancel", "cancel_reason")
    PLANNABLE_FIELD_NUMBER: _ClassVar[int]
    CANCEL_FIELD_NUMBER: _ClassVar[int]
    CANCEL_REASON_FIELD_NUMBER: _ClassVar[int]
    plannable: bool
    cancel: bool
    cancel_reason: str
    def __init__(self, plannable: _Optional[bool] = ..., cancel: _Optional[bool] = ..., cancel_reason: _Optional[str] = ...) -> None: ...

class GetApplicationSharedObjectRequest(_message.Message):
    __slots__ = ("application_id", "plugin_name", "key")
    APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_NAME_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    application_id: str
    plugin_name: str
    key: str
    def __init__(self, application_id: _Optional[str] = ..., plugin_name: _Optional[str] = ..., key: _Optional[str] = ...) -> None: ...

class GetApplicationSharedObjectResponse(_message.Message):
    __slots__ = ("object",)
    OBJECT_FIELD_NUMBER: _ClassVar[int]
    object: bytes
    def __init__(self, object: _Optional[bytes] = ...) -> None: ...

class PutApplicationSharedObjectRequest(_message.Message):
    __slots__ = ("application_id", "plugin_name", "key", "object")
    APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
    PLUGIN_NAME_FIELD_NUMBER: _ClassVar[int]
    KEY_FIELD_NUMBER: _ClassVar[int]
    OBJECT_FIELD_NUMBER: _ClassVar[int]
    application_id: str
    plugin_name: str
    key: str
    object: bytes
    def __init__(self, application_id: _Optional[str] = ..., plugin_name: _Optional[str] = ..., key: _Optional[str] = ..., object: _Optional[bytes] = ...) -> None: ...

class PutApplicationSharedObjectResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
