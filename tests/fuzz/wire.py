"""Bytes for a call, made from the descriptor of its request: right, nearly right, and nothing of the sort.

Texts are sometimes ids that the server knows, so that much of the nonsense comes past the first checks. Bytes are
made by hand where the library would refuse: texts that are not UTF-8, messages that end too early.
"""

from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message_factory import GetMessageClass
from hypothesis import strategies as st

_TRICKS = (
    "",
    "../../../etc/passwd",
    "'; DROP TABLE deployments; --",
    "\x00",
    "a\x00b",
    "%00%2e%2e%2f",
    "é\u202e\U0001f600",
    "x" * 300,
    "y" * 70_000,
    "{}",
    "default",
)
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1
_TIMES = (0, 1, -1, 1_767_268_800, 253_402_300_800, _SMALLEST, _LARGEST)


def requests(descriptor: Descriptor, known: tuple[str, ...]) -> st.SearchStrategy[bytes]:
    """Whole messages three times out of four, and bytes that are none."""
    whole = _messages(descriptor, st.sampled_from((*known, *known, *_TRICKS)), depth=0).map(
        lambda message: message.SerializeToString()
    )
    return st.one_of(whole, whole, whole, whole.flatmap(lambda content: _damaged(descriptor, content)))


def _messages(descriptor: Descriptor, texts: st.SearchStrategy[str], depth: int) -> st.SearchStrategy[Any]:
    """Messages of a type with any of its fields; enums and times with numbers that mean nothing too."""
    fields = {
        field.name: _values(field, texts, depth)
        for field in descriptor.fields
        if depth < 5 or field.message_type is None
    }
    return st.fixed_dictionaries({}, optional=fields).map(lambda values: _fill(descriptor, values))


def _fill(descriptor: Descriptor, values: dict[str, Any]) -> Any:
    message = GetMessageClass(descriptor)()
    for name, value in values.items():
        field = descriptor.fields_by_name[name]
        if _is_map(field):
            _fill_map(getattr(message, name), value, field)
        elif field.is_repeated:
            getattr(message, name).extend(value)
        elif field.message_type is not None:
            getattr(message, name).CopyFrom(value)
        else:
            setattr(message, name, value)
    return message


def _fill_map(map: Any, entries: dict[Any, Any], field: FieldDescriptor) -> None:
    for key, value in entries.items():
        if _of(field).fields_by_name["value"].message_type is None:
            map[key] = value
        else:
            map[key].CopyFrom(value)


def _of(field: FieldDescriptor) -> Descriptor:
    """The type of a field that holds messages."""
    assert field.message_type is not None
    return field.message_type


def _is_map(field: FieldDescriptor) -> bool:
    return field.message_type is not None and bool(field.message_type.GetOptions().map_entry)


def _values(field: FieldDescriptor, texts: st.SearchStrategy[str], depth: int) -> st.SearchStrategy[Any]:
    if _is_map(field):
        key, value = (_of(field).fields_by_name[name] for name in ("key", "value"))
        return st.dictionaries(_one(key, texts, depth), _one(value, texts, depth), max_size=2)
    one = _one(field, texts, depth)
    return st.lists(one, max_size=3) if field.is_repeated else one


def _one(field: FieldDescriptor, texts: st.SearchStrategy[str], depth: int) -> st.SearchStrategy[Any]:
    match field.cpp_type:
        case FieldDescriptor.CPPTYPE_MESSAGE:
            return _messages(_of(field), texts, depth + 1)
        case FieldDescriptor.CPPTYPE_STRING if field.type == FieldDescriptor.TYPE_BYTES:
            return st.binary(max_size=100)
        case FieldDescriptor.CPPTYPE_STRING:
            return texts
        case FieldDescriptor.CPPTYPE_BOOL:
            return st.booleans()
        case FieldDescriptor.CPPTYPE_INT64:
            return st.sampled_from(_TIMES) | st.integers(_SMALLEST, _LARGEST)
        case FieldDescriptor.CPPTYPE_UINT32:
            return st.integers(0, 2**32 - 1)
        case FieldDescriptor.CPPTYPE_UINT64:
            return st.integers(0, 2**64 - 1)
        case FieldDescriptor.CPPTYPE_FLOAT | FieldDescriptor.CPPTYPE_DOUBLE:
            return st.floats(width=32)
        case _:
            # Enums among them: their numbers are open, so any may come.
            return st.integers(-2, 12) | st.sampled_from((2**31 - 1, -(2**31)))


def _damaged(descriptor: Descriptor, content: bytes) -> st.SearchStrategy[bytes]:
    texts = [field.number for field in descriptor.fields if field.type == FieldDescriptor.TYPE_STRING]
    ways = [
        st.integers(0, max(len(content) - 1, 0)).map(lambda end: content[:end]),
        st.binary(min_size=1, max_size=60),
        st.binary(min_size=1, max_size=20).map(lambda more: content + more),
    ]
    if texts:
        ways.append(st.sampled_from(texts).map(lambda number: content + _tag(number) + b"\x03\xff\xfe\x80"))
    return st.one_of(ways)


def _tag(number: int) -> bytes:
    """The head of a field with a length."""
    head = number << 3 | 2
    return bytes([head]) if head < 128 else bytes([head & 127 | 128, head >> 7])
