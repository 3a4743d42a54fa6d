from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class DeploymentTrace(_message.Message):
    __slots__ = ("id", "project_id", "title", "commit_message", "commit_hash", "commit_url", "commit_timestamp", "author", "created_at", "updated_at")
    ID_FIELD_NUMBER: _ClassVar[int]
    PROJECT_ID_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    COMMIT_MESSAGE_FIELD_NUMBER: _ClassVar[int]
    COMMIT_HASH_FIELD_NUMBER: _ClassVar[int]
    COMMIT_URL_FIELD_NUMBER: _ClassVar[int]
    COMMIT_TIMESTAMP_FIELD_NUMBER: _ClassVar[int]
    AUTHOR_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    UPDATED_AT_FIELD_NUMBER: _ClassVar[int]
    id: str
    project_id: str
    title: str
    commit_message: str
    commit_hash: str
    commit_url: str
    commit_timestamp: int
    author: str
    created_at: int
    updated_at: int
    def __init__(self, id: _Optional[str] = ..., project_id: _Optional[str] = ..., title: _Optional[str] = ..., commit_message: _Optional[str] = ..., commit_hash: _Optional[str] = ..., commit_url: _Optional[str] = ..., commit_timestamp: _Optional[int] = ..., author: _Optional[str] = ..., created_at: _Optional[int] = ..., updated_at: _Optional[int] = ...) -> None: ...
