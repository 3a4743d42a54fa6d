from fairway.rpc.gen.pipecd.model import application_pb2 as _application_pb2
from fairway.rpc.gen.pipecd.model import deployment_pb2 as _deployment_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class NotificationEventType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EVENT_DEPLOYMENT_TRIGGERED: _ClassVar[NotificationEventType]
    EVENT_DEPLOYMENT_PLANNED: _ClassVar[NotificationEventType]
    EVENT_DEPLOYMENT_APPROVED: _ClassVar[NotificationEventType]
    EVENT_DEPLOYMENT_ROLLING_BACK: _ClassVar[NotificationEventType]
    EVENT_DEPLOYMENT_SUCCEEDED: _ClassVar[NotificationEventType]
    EVENT_DEPLOYMENT_FAILED: _ClassVar[NotificationEventType]
    EVENT_DEPLOYMENT_CANCELLED: _ClassVar[NotificationEventType]
    EVENT_DEPLOYMENT_WAIT_APPROVAL: _ClassVar[NotificationEventType]
    EVENT_DEPLOYMENT_TRIGGER_FAILED: _ClassVar[NotificationEventType]
    EVENT_DEPLOYMENT_STARTED: _ClassVar[NotificationEventType]
    EVENT_APPLICATION_SYNCED: _ClassVar[NotificationEventType]
    EVENT_APPLICATION_OUT_OF_SYNC: _ClassVar[NotificationEventType]
    EVENT_APPLICATION_HEALTHY: _ClassVar[NotificationEventType]
    EVENT_PIPED_STARTED: _ClassVar[NotificationEventType]
    EVENT_PIPED_STOPPED: _ClassVar[NotificationEventType]
    EVENT_STAGE_STARTED: _ClassVar[NotificationEventType]
    EVENT_STAGE_SKIPPED: _ClassVar[NotificationEventType]
    EVENT_STAGE_SUCCEEDED: _ClassVar[NotificationEventType]
    EVENT_STAGE_FAILED: _ClassVar[NotificationEventType]
    EVENT_STAGE_CANCELLED: _ClassVar[NotificationEventType]

class NotificationEventGroup(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EVENT_NONE: _ClassVar[NotificationEventGroup]
    EVENT_DEPLOYMENT: _ClassVar[NotificationEventGroup]
    EVENT_APPLICATION_SYNC: _ClassVar[NotificationEventGroup]
    EVENT_APPLICATION_HEALTH: _ClassVar[NotificationEventGroup]
    EVENT_PIPED: _ClassVar[NotificationEventGroup]
    EVENT_STAGE: _ClassVar[NotificationEventGroup]
EVENT_DEPLOYMENT_TRIGGERED: NotificationEventType
EVENT_DEPLOYMENT_PLANNED: NotificationEventType
EVENT_DEPLOYMENT_APPROVED: NotificationEventType
EVENT_DEPLOYMENT_ROLLING_BACK: NotificationEventType
EVENT_DEPLOYMENT_SUCCEEDED: NotificationEventType
EVENT_DEPLOYMENT_FAILED: NotificationEventType
EVENT_DEPLOYMENT_CANCELLED: NotificationEventType
EVENT_DEPLOYMENT_WAIT_APPROVAL: NotificationEventType
EVENT_DEPLOYMENT_TRIGGER_FAILED: NotificationEventType
EVENT_DEPLOYMENT_STARTED: NotificationEventType
EVENT_APPLICATION_SYNCED: NotificationEventType
EVENT_APPLICATION_OUT_OF_SYNC: NotificationEventType
EVENT_APPLICATION_HEALTHY: NotificationEventType
EVENT_PIPED_STARTED: NotificationEventType
EVENT_PIPED_STOPPED: NotificationEventType
EVENT_STAGE_STARTED: NotificationEventType
EVENT_STAGE_SKIPPED: NotificationEventType
EVENT_STAGE_SUCCEEDED: NotificationEventType
EVENT_STAGE_FAILED: NotificationEventType
EVENT_STAGE_CANCELLED: NotificationEventType
EVENT_NONE: NotificationEventGroup
EVENT_DEPLOYMENT: NotificationEventGroup
EVENT_APPLICATION_SYNC: NotificationEventGroup
EVENT_APPLICATION_HEALTH: NotificationEventGroup
EVENT_PIPED: NotificationEventGroup
EVENT_STAGE: NotificationEventGroup

class NotificationEventDeploymentTriggered(_message.Message):
    __slots__ = ("deployment", "mentioned_accounts", "mentioned_groups")
    DEPLOYMENT_FIELD_NUMBER: _ClassVar[int]
    MENTIONED_ACCOUNTS_FIELD_NUMBER: _ClassVar[int]
    MENTIONED_GROUPS_FIELD_NUMBER: _ClassVar[int]
    deployment: _deployment_pb2.Deployment
    mentioned_accounts: _containers.RepeatedScalarFieldContainer[str]
    mentioned_groups: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, deployment: _Optional[_Union[_deployment_pb2.Deployment, _Mapping]] = ..., mentioned_accounts: _Optional[_Iterable[str]] = ..., mentioned_groups: _Optional[_Iterable[str]] = ...) -> None: ...

class NotificationEventDeploymentPlanned(_message.Message):
    __slots__ = ("deployment", "summary", "mentioned_accounts", "mentioned_groups")
    DEPLOYMENT_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    MENTIONED_ACCOUNTS_FIELD_NUMBER: _ClassVar[int]
    MENTIONED_GROUPS_FIELD_NUMBER: _ClassVar[int]
    deployment: _deployment_pb2.Deployment
    summary: str
    mentioned_accounts: _containers.RepeatedScalarFieldContainer[str]
    mentioned_groups: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, deployment: _Optional[_Union[_deployment_pb2.Deployment, _Mapping]] = ..., summary: _Optional[str] = ..., mentioned_accounts: _Optional[_Iterable[str]] = ..., mentioned_groups: _Optional[_Iterable[str]] = ...) -> None: ...

class NotificationEventDeploymentStarted(_message.Message):
    __slots__ = ("deployment", "mentioned_accounts", "mentioned_groups")
    DEPLOYMENT_FIELD_NUMBER: _ClassVar[int]
    MENTIONED_ACCOUNTS_FIELD_NUMBER: _ClassVar[int]
    MENTIONED_GROUPS_FIELD_NUMBER: _ClassVar[int]
    deployment: _deployment_pb2.Deployment
    mentioned_accounts: _containers.RepeatedScalarFieldContainer[str]
    mentioned_groups: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, deployment: _Optional[_Union[_deployment_pb2.Deployment, _Mapping]] = ..., mentioned_accounts: _Optional[_Iterable[str]] = ..., mentioned_groups: _Optional[_Iterable[str]] = ...) -> None: ...

class NotificationEventDeploymentApproved(_message.Message):
    __slots__ = ("deployment", "approver", "mentioned_accounts", "mentioned_groups")
    DEPLOYMENT_FIELD_NUMBER: _ClassVar[int]
    APPROVER_FIELD_NUMBER: _ClassVar[int]
    MENTIONED_ACCOUNTS_FIELD_NUMBER: _ClassVar[int]
    MENTIONED_GROUPS_FIELD_NUMBER: _ClassVar[int]
    deployment: _deployment_pb2.Deployment
    approver: str
    mentioned_accounts: _containers.RepeatedScalarFieldContainer[str]
    mentioned_groups: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, deployment: _Optional[_Union[_deployment_pb2.Deployment, _Mapping]] = ..., approver: _Optional[str] = ..., mentioned_accounts: _Optional[_Iterable[str]] = ..., mentioned_groups: _Optional[_Iterable[str]] = ...) -> None: ...

class NotificationEventDeploymentRollingBack(_message.Message):
    __slots__ = ("deployment",)
    DEPLOYMENT_FIELD_NUMBER: _ClassVar[int]
    deployment: _deployment_pb2.Deployment
    def __init__(self, deployment: _Optional[_Union[_deployment_pb2.Deployment, _Mapping]] = ...) -> None: ...

class NotificationEventDeploymentSucceeded(_message.Message):
    __slots__ = ("deployment", "mentioned_accounts", "mentioned_groups")
    DEPLOYMENT_FIELD_NUMBER: _ClassVar[int]
    MENTIONED_ACCOUNTS_FIELD_NUMBER: _ClassVar[int]
    MENTIONED_GROUPS_FIELD_NUMBER: _ClassVar[int]
    deployment: _deployment_pb2.Deployment
    mentioned_accounts: _containers.RepeatedScalarFieldContainer[str]
    mentioned_groups: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, deployment: _Optional[_Union[_deployment_pb2.Deployment, _Mapping]] = ..., mentioned_accounts: _Optional[_Iterable[str]] = ..., mentioned_groups: _Optional[_Iterable[str]] = ...) -> None: ...

class NotificationEventDeploymentFailed(_message.Message):
    __slots__ = ("deployment", "reason", "mentioned_accounts", "mentioned_groups")
    DEPLOYMENT_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MENTIONED_ACCOUNTS_FIELD_NUMBER: _ClassVar[int]
    MENTIONED_GROUPS_FIELD_NUMBER: _ClassVar[int]
    deployment: _deployment_pb2.Deployment
    reason: str
    mentioned_accounts: _containers.RepeatedScalarFieldContainer[str]
    mentioned_groups: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, deployment: _Optional[_Union[_deployment_pb2.Deployment, _Mapping]] = ..., reason: _Optional[str] = ..., mentioned_accounts: _Optional[_Iterable[str]] = ..., mentioned_groups: _Optional[_Iterable[str]] = ...) -> None: ...

class NotificationEventDeploymentCancelled(_message.Message):
    __slots__ = ("deployment", "commander", "mentioned_accounts", "mentioned_groups")
    DEPLOYMENT_FIELD_NUMBER: _ClassVar[int]
    COMMANDER_FIELD_NUMBER: _ClassVar[int]
    MENTIONED_ACCOUNTS_FIELD_NUMBER: _ClassVar[int]
    MENTIONED_GROUPS_FIELD_NUMBER: _ClassVar[int]
    deployment: _deployment_pb2.Deployment
    commander: str
    mentioned_accounts: _containers.RepeatedScalarFieldContainer[str]
    mentioned_groups: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, deployment: _Optional[_Union[_deployment_pb2.Deployment, _Mapping]] = ..., commander: _Optional[str] = ..., mentioned_accounts: _Optional[_Iterable[str]] = ..., mentioned_groups: _Optional[_Iterable[str]] = ...) -> None: ...

class NotificationEventDeploymentWaitApproval(_message.Message):
    __slots__ = ("deployment", "mentioned_accounts", "mentioned_groups")
    DEPLOYMENT_FIELD_NUMBER: _ClassVar[int]
    MENTIONED_ACCOUNTS_FIELD_NUMBER: _ClassVar[int]
    MENTIONED_GROUPS_FIELD_NUMBER: _ClassVar[int]
    deployment: _deployment_pb2.Deployment
    mentioned_accounts: _containers.RepeatedScalarFieldContainer[str]
    mentioned_groups: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, deployment: _Optional[_Union[_deployment_pb2.Deployment, _Mapping]] = ..., mentioned_accounts: _Optional[_Iterable[str]] = ..., mentioned_groups: _Optional[_Iterable[str]] = ...) -> None: ...

class NotificationEventDeploymentTriggerFailed(_message.Message):
    __slots__ = ("application", "commit_hash", "commit_message", "reason", "mentioned_accounts", "mentioned_groups")
    APPLICATION_FIELD_NUMBER: _ClassVar[int]
    COMMIT_HASH_FIELD_NUMBER: _ClassVar[int]
    COMMIT_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MENTIONED_ACCOUNTS_FIELD_NUMBER: _ClassVar[int]
    MENTIONED_GROUPS_FIELD_NUMBER: _ClassVar[int]
    application: _application_pb2.Application
    commit_hash: str
    commit_message: str
    reason: str
    mentioned_accounts: _containers.RepeatedScalarFieldContainer[str]
    mentioned_groups: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, application: _Optional[_Union[_application_pb2.Application, _Mapping]] = ..., commit_hash: _Optional[str] = ..., commit_message: _Optional[str] = ..., reason: _Optional[str] = ..., mentioned_accounts: _Optional[_Iterable[str]] = ..., mentioned_groups: _Optional[_Iterable[str]] = ...) -> None: ...

class NotificationEventApplicationSynced(_message.Message):
    __slots__ = ("application", "state")
    APPLICATION_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    application: _application_pb2.Application
    state: _application_pb2.ApplicationSyncState
    def __init__(self, application: _Optional[_Union[_application_pb2.Application, _Mapping]] = ..., state: _Optional[_Union[_application_pb2.ApplicationSyncState, _Mapping]] = ...) -> None: ...

class NotificationEventApplicationOutOfSync(_message.Message):
    __slots__ = ("application", "state")
    APPLICATION_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    application: _application_pb2.Application
    state: _application_pb2.ApplicationSyncState
    def __init__(self, application: _Optional[_Union[_application_pb2.Application, _Mapping]] = ..., state: _Optional[_Union[_application_pb2.ApplicationSyncState, _Mapping]] = ...) -> None: ...

class NotificationEventPipedStarted(_message.Message):
    __slots__ = ("id", "name", "version", "project_id")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    name: str
    version: str
    project_id: str
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., version: _Optional[str] = ..., project_id: _Optional[str] = ...) -> None: ...

class NotificationEventPipedStopped(_message.Message):
    __slots__ = ("id", "name", "version", "project_id")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    id: str
    name: str
    version: str
    project_id: str
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., version: _Optional[str] = ..., project_id: _Optional[str] = ...) -> None: ...

class NotificationEventStageStarted(_message.Message):
    __slots__ = ("deployment", "stage")
    DEPLOYMENT_FIELD_NUMBER: _ClassVar[int]
    STAGE_FIELD_NUMBER: _ClassVar[int]
    deployment: _deployment_pb2.Deployment
    stage: _deployment_pb2.PipelineStage
    def __init__(self, deployment: _Optional[_Union[_deployment_pb2.Deployment, _Mapping]] = ..., stage: _Optional[_Union[_deployment_pb2.PipelineStage, _Mapping]] = ...) -> None: ...

class NotificationEventStageSkipped(_message.Message):
    __slots__ = ("deployment", "stage")
    DEPLOYMENT_FIELD_NUMBER: _ClassVar[int]
    STAGE_FIELD_NUMBER: _ClassVar[int]
    deployment: _deployment_pb2.Deployment
    stage: _deployment_pb2.PipelineStage
    def __init__(self, deployment: _Optional[_Union[_deployment_pb2.Deployment, _Mapping]] = ..., stage: _Optional[_Union[_deployment_pb2.PipelineStage, _Mapping]] = ...) -> None: ...

class NotificationEventStageSucceeded(_message.Message):
    __slots__ = ("deployment", "stage")
    DEPLOYMENT_FIELD_NUMBER: _ClassVar[int]
    STAGE_FIELD_NUMBER: _ClassVar[int]
    deployment: _deployment_pb2.Deployment
    stage: _deployment_pb2.PipelineStage
    def __init__(self, deployment: _Optional[_Union[_deployment_pb2.Deployment, _Mapping]] = ..., stage: _Optional[_Union[_deployment_pb2.PipelineStage, _Mapping]] = ...) -> None: ...

class NotificationEventStageFailed(_message.Message):
    __slots__ = ("deployment", "stage")
    DEPLOYMENT_FIELD_NUMBER: _ClassVar[int]
    STAGE_FIELD_NUMBER: _ClassVar[int]
    deployment: _deployment_pb2.Deployment
    stage: _deployment_pb2.PipelineStage
    def __init__(self, deployment: _Optional[_Union[_deployment_pb2.Deployment, _Mapping]] = ..., stage: _Optional[_Union[_deployment_pb2.PipelineStage, _Mapping]] = ...) -> None: ...

class NotificationEventStageCancelled(_message.Message):
    __slots__ = ("deployment", "stage")
    DEPLOYMENT_FIELD_NUMBER: _ClassVar[int]
    STAGE_FIELD_NUMBER: _ClassVar[int]
    deployment: _deployment_pb2.Deployment
    stage: _deployment_pb2.PipelineStage
    def __init__(self, deployment: _Optional[_Union[_deployment_pb2.Deployment, _Mapping]] = ..., stage: _Optional[_Union[_deployment_pb2.PipelineStage, _Mapping]] = ...) -> None: ...
