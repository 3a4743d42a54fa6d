from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class LogSeverity(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    INFO: _ClassVar[LogSeverity]
    SUCCESS: _ClassVar[LogSeverity]
    ERROR: _ClassVar[LogSeverity]
INFO: LogSeverity
SUCCESS: LogSeverity
ERROR: LogSeverity

class LogBlock(_message.Message):
    __slots__ = ("index", "log", "severity", "created_at")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    LOG_FIELD_NUMBER: _ClassVar[int]
    SEVERITY_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    index: int
    log: str
    severity: LogSeverity
    created_at: int
    def __init__(self, index: _Optional[int] = ..., log: _Optional[str] = ..., severity: _Optional[_Union[LogSeverity, str]] = ..., created_at: _Optional[int] = ...) -> None: ...
