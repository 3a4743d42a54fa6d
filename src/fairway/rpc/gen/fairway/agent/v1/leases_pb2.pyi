from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class HoldRequest(_message.Message):
    __slots__ = ("holder", "description", "predecessors", "fencing_token", "held_seconds")
    HOLDER_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    PREDECESSORS_FIELD_NUMBER: _ClassVar[int]
    FENCING_TOKEN_FIELD_NUMBER: _ClassVar[int]
    HELD_SECONDS_FIELD_NUMBER: _ClassVar[int]
    holder: str
    description: str
    predecessors: _containers.RepeatedScalarFieldContainer[str]
    fencing_token: int
    held_seconds: float
    def __init__(self, holder: _Optional[str] = ..., description: _Optional[str] = ..., predecessors: _Optional[_Iterable[str]] = ..., fencing_token: _Optional[int] = ..., held_seconds: _Optional[float] = ...) -> None: ...

class HoldAnswer(_message.Message):
    __slots__ = ("granted", "fencing_token", "seconds", "standby_waiting", "held_by", "held_since", "free_after_seconds")
    GRANTED_FIELD_NUMBER: _ClassVar[int]
    FENCING_TOKEN_FIELD_NUMBER: _ClassVar[int]
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    STANDBY_WAITING_FIELD_NUMBER: _ClassVar[int]
    HELD_BY_FIELD_NUMBER: _ClassVar[int]
    HELD_SINCE_FIELD_NUMBER: _ClassVar[int]
    FREE_AFTER_SECONDS_FIELD_NUMBER: _ClassVar[int]
    granted: bool
    fencing_token: int
    seconds: float
    standby_waiting: bool
    held_by: str
    held_since: int
    free_after_seconds: float
    def __init__(self, granted: _Optional[bool] = ..., fencing_token: _Optional[int] = ..., seconds: _Optional[float] = ..., standby_waiting: _Optional[bool] = ..., held_by: _Optional[str] = ..., held_since: _Optional[int] = ..., free_after_seconds: _Optional[float] = ...) -> None: ...

class ReleaseRequest(_message.Message):
    __slots__ = ("holder",)
    HOLDER_FIELD_NUMBER: _ClassVar[int]
    holder: str
    def __init__(self, holder: _Optional[str] = ...) -> None: ...

class ReleaseAnswer(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
