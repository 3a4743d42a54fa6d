from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Optional as _Optional

DESCRIPTOR: _descriptor.FileDescriptor

class OpenSecretRequest(_message.Message):
    __slots__ = ("deployment_id", "secret")
    DEPLOYMENT_ID_FIELD_NUMBER: _ClassVar[int]
    SECRET_FIELD_NUMBER: _ClassVar[int]
    deployment_id: str
    secret: str
    def __init__(self, deployment_id: _Optional[str] = ..., secret: _Optional[str] = ...) -> None: ...

class OpenSecretResponse(_message.Message):
    __slots__ = ("decrypted_secret",)
    DECRYPTED_SECRET_FIELD_NUMBER: _ClassVar[int]
    decrypted_secret: str
    def __init__(self, decrypted_secret: _Optional[str] = ...) -> None: ...
