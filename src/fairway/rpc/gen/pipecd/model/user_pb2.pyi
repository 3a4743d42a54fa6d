from fairway.rpc.gen.pipecd.model import role_pb2 as _role_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class User(_message.Message):
    __slots__ = ("username", "avatar_url", "role")
    USERNAME_FIELD_NUMBER: _ClassVar[int]
    AVATAR_URL_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    username: str
    avatar_url: str
    role: _role_pb2.Role
    def __init__(self, username: _Optional[str] = ..., avatar_url: _Optional[str] = ..., role: _Optional[_Union[_role_pb2.Role, _Mapping]] = ...) -> None: ...
