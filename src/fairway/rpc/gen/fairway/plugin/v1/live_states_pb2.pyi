from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class LiveStateChangedRequest(_message.Message):
    __slots__ = ("application_ids",)
    APPLICATION_IDS_FIELD_NUMBER: _ClassVar[int]
    application_ids: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, application_ids: _Optional[_Iterable[str]] = ...) -> None: ...

class LiveStateChangedResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
