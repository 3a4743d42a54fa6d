from fairway.rpc.gen.pipecd.model import application_pb2 as _application_pb2
from fairway.rpc.gen.pipecd.model import application_live_state_pb2 as _application_live_state_pb2
from fairway.rpc.gen.pipecd.plugin import common_pb2 as _common_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class GetLivestateRequest(_message.Message):
    __slots__ = ("piped_id", "application_id", "application_name", "deploy_source", "deploy_targets")
    PIPED_ID_FIELD_NUMBER: _ClassVar[int]
    APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
    APPLICATION_NAME_FIELD_NUMBER: _ClassVar[int]
    DEPLOY_SOURCE_FIELD_NUMBER: _ClassVar[int]
    DEPLOY_TARGETS_FIELD_NUMBER: _ClassVar[int]
    piped_id: str
    application_id: str
    application_name: str
    deploy_source: _common_pb2.DeploymentSource
    deploy_targets: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, piped_id: _Optional[str] = ..., application_id: _Optional[str] = ..., application_name: _Optional[str] = ..., deploy_source: _Optional[_Union[_common_pb2.DeploymentSource, _Mapping]] = ..., deploy_targets: _Optional[_Iterable[str]] = ...) -> None: ...

class GetLivestateResponse(_message.Message):
    __slots__ = ("application_live_state", "sync_state")
    APPLICATION_LIVE_STATE_FIELD_NUMBER: _ClassVar[int]
    SYNC_STATE_FIELD_NUMBER: _ClassVar[int]
    application_live_state: _application_live_state_pb2.ApplicationLiveState
    sync_state: _application_pb2.ApplicationSyncState
    def __init__(self, application_live_state: _Optional[_Union[_application_live_state_pb2.ApplicationLiveState, _Mapping]] = ..., sync_state: _Optional[_Union[_application_pb2.ApplicationSyncState, _Mapping]] = ...) -> None: ...
