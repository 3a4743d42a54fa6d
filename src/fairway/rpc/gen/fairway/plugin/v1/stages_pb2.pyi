from fairway.rpc.gen.pipecd.model import deployment_pb2 as _deployment_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class StopRequest(_message.Message):
    __slots__ = ("deployment_id", "stage_id", "reason", "grace_seconds", "handed_over", "left")
    DEPLOYMENT_ID_FIELD_NUMBER: _ClassVar[int]
    STAGE_ID_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    GRACE_SECONDS_FIELD_NUMBER: _ClassVar[int]
    HANDED_OVER_FIELD_NUMBER: _ClassVar[int]
    LEFT_FIELD_NUMBER: _ClassVar[int]
    deployment_id: str
    stage_id: str
    reason: str
    grace_seconds: float
    handed_over: bool
    left: _deployment_pb2.PipelineStage
    def __init__(self, deployment_id: _Optional[str] = ..., stage_id: _Optional[str] = ..., reason: _Optional[str] = ..., grace_seconds: _Optional[float] = ..., handed_over: _Optional[bool] = ..., left: _Optional[_Union[_deployment_pb2.PipelineStage, _Mapping]] = ...) -> None: ...

class StopResponse(_message.Message):
    __slots__ = ("was_running",)
    WAS_RUNNING_FIELD_NUMBER: _ClassVar[int]
    was_running: bool
    def __init__(self, was_running: _Optional[bool] = ...) -> None: ...
