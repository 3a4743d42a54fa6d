from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

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

class ReportUnusableFilesRequest(_message.Message):
    __slots__ = ("files",)
    FILES_FIELD_NUMBER: _ClassVar[int]
    files: _containers.RepeatedCompositeFieldContainer[UnusableFile]
    def __init__(self, files: _Optional[_Iterable[_Union[UnusableFile, _Mapping]]] = ...) -> None: ...

class UnusableFile(_message.Message):
    __slots__ = ("repository_id", "file", "reason", "application_id", "nameless")
    REPOSITORY_ID_FIELD_NUMBER: _ClassVar[int]
    FILE_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    APPLICATION_ID_FIELD_NUMBER: _ClassVar[int]
    NAMELESS_FIELD_NUMBER: _ClassVar[int]
    repository_id: str
    file: str
    reason: str
    application_id: str
    nameless: bool
    def __init__(self, repository_id: _Optional[str] = ..., file: _Optional[str] = ..., reason: _Optional[str] = ..., application_id: _Optional[str] = ..., nameless: _Optional[bool] = ...) -> None: ...

class ReportUnusableFilesAnswer(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
