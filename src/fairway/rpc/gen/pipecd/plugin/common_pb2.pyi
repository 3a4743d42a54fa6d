from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class DeploymentSource(_message.Message):
    __slots__ = ("application_directory", "commit_hash", "application_config", "application_config_filename", "shared_config_directory")
    APPLICATION_DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    COMMIT_HASH_FIELD_NUMBER: _ClassVar[int]
    APPLICATION_CONFIG_FIELD_NUMBER: _ClassVar[int]
    APPLICATION_CONFIG_FILENAME_FIELD_NUMBER: _ClassVar[int]
    SHARED_CONFIG_DIRECTORY_FIELD_NUMBER: _ClassVar[int]
    application_directory: str
    commit_hash: str
    application_config: bytes
    application_config_filename: str
    shared_config_directory: str
    def __init__(self, application_directory: _Optional[str] = ..., commit_hash: _Optional[str] = ..., application_config: _Optional[bytes] = ..., application_config_filename: _Optional[str] = ..., shared_config_directory: _Optional[str] = ...) -> None: ...
