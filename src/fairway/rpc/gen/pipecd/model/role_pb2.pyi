from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class Role(_message.Message):
    __slots__ = ("project_id", "project_rbac_roles")
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_RBAC_ROLES_FIELD_NUMBER: _ClassVar[int]
    project_id: str
    project_rbac_roles: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, project_id: _Optional[str] = ..., project_rbac_roles: _Optional[_Iterable[str]] = ...) -> None: ...
