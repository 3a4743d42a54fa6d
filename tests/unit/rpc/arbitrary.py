"""Hypothesis strategies for any value of our model and any message of the wire, read from their own definitions.

Nothing here lists fields, so a field that is added to a noun or a message is in the next test run by itself.
"""

import enum
import functools
import types
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar, Union, cast, get_args, get_origin

import msgspec
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from hypothesis import strategies as st

from fairway.rpc.rules.rule import KNOWN_ENCRYPTION, REQUIRED, Rule
from fairway.rpc.rules.violations import RULES

S = TypeVar("S", bound=msgspec.Struct)
M = TypeVar("M", bound=Message)

#: The wire has whole seconds, and zero means "not yet".
SECONDS = st.integers(1, 253_402_300_799)
TEXT = st.text(max_size=5)
NUMBERS = st.integers(0, 2**31 - 1)


@functools.cache
def structs(struct: type[S]) -> st.SearchStrategy[S]:
    """Any value of one of our Structs."""
    fields = {field.name: _of_type(field.type) for field in msgspec.structs.fields(struct)}
    return st.builds(struct, **fields)


def _of_type(hint: Any) -> st.SearchStrategy[Any]:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in {Union, types.UnionType}:
        return st.one_of([_of_type(argument) for argument in arguments])
    if origin is tuple:
        return st.lists(_of_type(arguments[0]), max_size=2).map(tuple)
    if origin is dict:
        return st.dictionaries(TEXT, _of_type(arguments[1]), max_size=2)
    if issubclass(hint, enum.Enum):
        return st.sampled_from(hint)
    if issubclass(hint, msgspec.Struct):
        return st.deferred(lambda: structs(hint))
    return _SCALARS[hint]


_SCALARS: dict[type, st.SearchStrategy[Any]] = {
    str: TEXT,
    bool: st.booleans(),
    int: NUMBERS,
    bytes: st.binary(max_size=5),
    datetime: SECONDS.map(lambda seconds: datetime.fromtimestamp(seconds, tz=UTC)),
    timedelta: st.integers(1, 10**6).map(lambda seconds: timedelta(seconds=seconds)),
    types.NoneType: st.none(),
}


def messages(message: type[M]) -> st.SearchStrategy[M]:
    """Any message that sets what it must, with enum numbers that are known."""

    @st.composite
    def build(draw: st.DrawFn) -> M:
        return fill(message, lambda field: draw(_of_field(field)), lambda: draw(st.booleans()))

    return build()


def fill(message: type[M], scalar: Callable[[FieldDescriptor], Any], is_set: Callable[[], bool]) -> M:
    """A message whose scalars come from `scalar`; `is_set` is asked for each optional part and each list entry."""
    filled = message()
    for field in _fields(message.DESCRIPTOR):
        inner = field.message_type
        if inner is None:
            if not field.is_repeated:
                setattr(filled, field.name, scalar(field))
            elif is_set():
                getattr(filled, field.name).append(scalar(field))
        elif inner.GetOptions().map_entry:
            if is_set():
                _fill_map(getattr(filled, field.name), inner, scalar, is_set)
        elif field.is_repeated:
            if is_set():
                getattr(filled, field.name).append(fill(GetMessageClass(inner), scalar, is_set))
        elif REQUIRED in _rules(field) or is_set():
            getattr(filled, field.name).CopyFrom(fill(GetMessageClass(inner), scalar, is_set))
            getattr(filled, field.name).SetInParent()
    return filled


def _fill_map(
    entries: Any, entry: Descriptor, scalar: Callable[[FieldDescriptor], Any], is_set: Callable[[], bool]
) -> None:
    key, value = _fields(entry)
    if value.message_type is None:
        entries[scalar(key)] = scalar(value)
    else:
        entries[scalar(key)].CopyFrom(fill(GetMessageClass(value.message_type), scalar, is_set))


@functools.cache
def _of_field(field: FieldDescriptor) -> st.SearchStrategy[Any]:
    if KNOWN_ENCRYPTION in _rules(field):
        return st.sampled_from(["KEY_PAIR", "GCP_KMS", "AWS_KMS", "NONE"])
    if field.enum_type is not None:
        return st.sampled_from([value.number for value in field.enum_type.values])
    return {
        FieldDescriptor.CPPTYPE_STRING: st.binary(max_size=5) if field.type == FieldDescriptor.TYPE_BYTES else TEXT,
        FieldDescriptor.CPPTYPE_BOOL: st.booleans(),
        FieldDescriptor.CPPTYPE_INT64: SECONDS,
        FieldDescriptor.CPPTYPE_INT32: NUMBERS,
        FieldDescriptor.CPPTYPE_UINT32: NUMBERS,
    }[field.cpp_type]


def every_field(message: type[M]) -> M:
    """A message with every field set, none of them to its default."""

    def scalar(field: FieldDescriptor) -> Any:
        if field.enum_type is not None:
            return field.enum_type.values[1].number
        if KNOWN_ENCRYPTION in _rules(field):
            return "KEY_PAIR"
        if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
            return field.name.encode() if field.type == FieldDescriptor.TYPE_BYTES else field.name
        return True if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL else field.number

    return fill(message, scalar, lambda: True)


def changed_fields(before: Message, after: Message) -> set[str]:
    """The full names of the fields that differ, in these messages and in all that they contain."""
    changed: set[str] = set()
    for field in _fields(before.DESCRIPTOR):
        old, new = getattr(before, field.name), getattr(after, field.name)
        inner = field.message_type
        if inner is None or inner.GetOptions().map_entry:
            if old != new:
                changed.add(field.full_name)
        elif field.is_repeated:
            if len(old) != len(new):
                changed.add(field.full_name)
            for one, other in zip(old, new, strict=False):
                changed |= changed_fields(one, other)
        elif before.HasField(field.name) != after.HasField(field.name):
            changed.add(field.full_name)
        else:
            changed |= changed_fields(old, new)
    return changed


def _rules(field: FieldDescriptor) -> tuple[Rule, ...]:
    message = field.full_name.rpartition(".")[0]
    return RULES.get(message, {}).get(field.name, ())


def _fields(message: Any) -> list[FieldDescriptor]:
    # The type stubs name the C twin of each descriptor class as well; both have the same members.
    return cast("list[FieldDescriptor]", message.fields)
