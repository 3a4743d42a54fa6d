from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class EventStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    EVENT_NOT_HANDLED: _ClassVar[EventStatus]
    EVENT_SUCCESS: _ClassVar[EventStatus]
    EVENT_FAILURE: _ClassVar[EventStatus]
    EVENT_OUTDATED: _ClassVar[EventStatus]
EVENT_NOT_HANDLED: EventStatus
EVENT_SUCCESS: EventStatus
EVENT_FAILURE: EventStatus
EVENT_OUTDATED: EventStatus

class Event(_message.Message):
    __slots__ = ("id", "name", "data", "project_id", "labels", "event_key", "status", "status_description", "contexts", "trigger_commit_hash", "handled_at", "created_at", "updated_at")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    class ContextsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    EVENT_KEY_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    STATUS_DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    CONTEXTS_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_COMMIT_HASH_FIELD_NUMBER: _ClassVar[int]
    HANDLED_AT_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    id: str
    name: str
    data: str
    project_id: str
    labels: _containers.ScalarMap[str, str]
    event_key: str
    status: EventStatus
    status_description: str
    contexts: _containers.ScalarMap[str, str]
    trigger_commit_hash: str
    handled_at: int
    created_at: int
    updated_at: int
    def __init__(self, id: _Optional[str] = ..., name: _Optional[str] = ..., data: _Optional[str] = ..., project_id: _Optional[str] = ..., labels: _Optional[_Mapping[str, str]] = ..., event_key: _Optional[str] = ..., status: _Optional[_Union[EventStatus, str]] = ..., status_description: _Optional[str] = ..., contexts: _Optional[_Mapping[str, str]] = ..., trigger_commit_hash: _Optional[str] = ..., handled_at: _Optional[int] = ..., created_at: _Optional[int] = ..., updated_at: _Optional[int] = ...) -> None: ...
