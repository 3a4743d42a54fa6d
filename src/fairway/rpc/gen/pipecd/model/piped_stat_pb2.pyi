from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class PipedStat(_message.Message):
    __slots__ = ("piped_id", "metrics", "timestamp")
    PIPED_ID_FIELD_NUMBER: _ClassVar[int]
    METRICS_FIELD_NUMBER: _ClassVar[int]
    TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    piped_id: str
    metrics: bytes
    timestamp: int
    def __init__(self, piped_id: _Optional[str] = ..., metrics: _Optional[bytes] = ..., timestamp: _Optional[int] = ...) -> None: ...
