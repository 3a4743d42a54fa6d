from fairway.rpc.gen.pipecd.model import project_pb2 as _project_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class RBAC(_message.Message):
    __slots__ = ("resource", "action", "ignored")
    RESOURCE_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    IGNORED_FIELD_NUMBER: _ClassVar[int]
    resource: _project_pb2.ProjectRBACResource.ResourceType
    action: _project_pb2.ProjectRBACPolicy.Action
    ignored: bool
    def __init__(self, resource: _Optional[_Union[_project_pb2.ProjectRBACResource.ResourceType, str]] = ..., action: _Optional[_Union[_project_pb2.ProjectRBACPolicy.Action, str]] = ..., ignored: _Optional[bool] = ...) -> None: ...
