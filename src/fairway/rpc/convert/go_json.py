"""Messages as the JSON that PipeCD's Go code writes and reads: plan previews in command outputs, for one.

It differs from protobuf's own JSON: the proto's field names, numbers for enums and for 64-bit integers, and
nothing for a zero. Reading is left to protobuf, which takes all of these as well.
"""

import base64
from typing import Any, TypeVar

import msgspec
from google.protobuf import json_format
from google.protobuf.message import Message

from fairway.rpc.convert.wire_enum import WireError

M = TypeVar("M", bound=Message)


def to_go_json(message: Message) -> bytes:
    """The message as Go's encoding/json writes it."""
    return msgspec.json.encode(_object(message))


def from_go_json(data: bytes, message_type: type[M]) -> M:
    """The message in such JSON; unknown fields are passed over, as Go does; WireError when it is no such JSON."""
    try:
        document = msgspec.json.decode(data, type=dict[str, Any])
        return json_format.ParseDict(document, message_type(), ignore_unknown_fields=True)
    except (msgspec.MsgspecError, json_format.ParseError, RecursionError) as error:
        name = message_type.DESCRIPTOR.name
        raise WireError(f"expected a {name} as JSON, as PipeCD's agents write it, but {error}") from error


def _object(message: Message) -> dict[str, Any]:
    return {field.name: _value(value) for field, value in message.ListFields()}


def _value(value: Any) -> Any:
    if isinstance(value, Message):
        return _object(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, str | int | float):
        return value
    if hasattr(value, "items"):
        return {str(key): _value(inner) for key, inner in value.items()}
    return [_value(inner) for inner in value]
