from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class WatchRequest(_message.Message):
    __slots__ = ("resume_token",)
    RESUME_TOKEN_FIELD_NUMBER: _ClassVar[int]
    resume_token: str
    def __init__(self, resume_token: _Optional[str] = ...) -> None: ...

class Hint(_message.Message):
    __slots__ = ("subject", "id", "token")
    class Subject(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        SUBJECT_UNSPECIFIED: _ClassVar[Hint.Subject]
        SUBJECT_COMMANDS: _ClassVar[Hint.Subject]
        SUBJECT_DEPLOYMENTS: _ClassVar[Hint.Subject]
        SUBJECT_APPLICATIONS: _ClassVar[Hint.Subject]
        SUBJECT_REPOSITORY: _ClassVar[Hint.Subject]
        SUBJECT_LEASE: _ClassVar[Hint.Subject]
    SUBJECT_UNSPECIFIED: Hint.Subject
    SUBJECT_COMMANDS: Hint.Subject
    SUBJECT_DEPLOYMENTS: Hint.Subject
    SUBJECT_APPLICATIONS: Hint.Subject
    SUBJECT_REPOSITORY: Hint.Subject
    SUBJECT_LEASE: Hint.Subject
    SUBJECT_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    subject: Hint.Subject
    id: str
    token: str
    def __init__(self, subject: _Optional[_Union[Hint.Subject, str]] = ..., id: _Optional[str] = ..., token: _Optional[str] = ...) -> None: ...
