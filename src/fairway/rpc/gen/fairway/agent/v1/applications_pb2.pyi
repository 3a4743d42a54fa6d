from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class FindRequest(_message.Message):
    __slots__ = ("application_id",)
    APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
    application_id: str
    def __init__(self, application_id: _Optional[str] = ...) -> None: ...

class FindAnswer(_message.Message):
    __slots__ = ("registered", "name", "agent_name")
    REGISTERED_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    AGENT_NAME_FIELD_NUMBER: _ClassVar[int]
    registered: bool
    name: str
    agent_name: str
    def __init__(self, registered: _Optional[bool] = ..., name: _Optional[str] = ..., agent_name: _Optional[str] = ...) -> None: ...
