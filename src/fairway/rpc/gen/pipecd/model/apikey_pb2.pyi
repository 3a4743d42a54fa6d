from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class APIKey(_message.Message):
    __slots__ = ("id", "name", "key_hash", "project_id", "role", "creator", "last_used_at", "disabled", "created_at", "updated_at")
    class Role(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        READ_ONLY: _ClassVar[APIKey.Role]
        READ_WRITE: _ClassVar[APIKey.Role]
    READ_ONLY: APIKey.Role
    READ_WRITE: APIKey.Role
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    KEY_HASH_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    ROLE_FIELD_NUMBER: _ClassVar[int]
    CREATOR_FIELD_NUMBER: _ClassVar[int]
    LAST_USED_AT_FIELD_NUMBER: _ClassVar[int]
    DISABLED_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    id: str
    name: str
    key_hash: str
    project_id: str
    role: APIKey.Role
    creator: str
    last_used_at: int
    disabled: bool
    created_at: int
    updated_at: int
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., key_hash: _Optional[str] = ..., project_id: _Optional[str] = ..., role: _Optional[_Union[APIKey.Role, str]] = ..., creator: _Optional[str] = ..., last_used_at: _Optional[int] = ..., disabled: _Optional[bool] = ..., created_at: _Optional[int] = ..., updated_at: _Optional[int] = ...) -> None: ...
