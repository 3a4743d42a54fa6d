from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class FindApplicationRequest(_message.Message):
    __slots__ = ("application_id",)
    APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
    application_id: str
    def __init__(self, application_id: _Optional[str] = ...) -> None: ...

class FindApplicationResponse(_message.Message):
    __slots__ = ("standing", "name", "agent_name")
    class Standing(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        STANDING_UNSPECIFIED: _ClassVar[FindApplicationResponse.Standing]
        STANDING_REGISTERED: _ClassVar[FindApplicationResponse.Standing]
        STANDING_GONE: _ClassVar[FindApplicationResponse.Standing]
    STANDING_UNSPECIFIED: FindApplicationResponse.Standing
    STANDING_REGISTERED: FindApplicationResponse.Standing
    STANDING_GONE: FindApplicationResponse.Standing
    STANDING_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    AGENT_NAME_FIELD_NUMBER: _ClassVar[int]
    standing: FindApplicationResponse.Standing
    name: str
    agent_name: str
    def __init__(self, standing: _Optional[_Union[FindApplicationResponse.Standing, str]] = ..., name: _Optional[str] = ..., agent_name: _Optional[str] = ...) -> None: ...
