"""Whether a message may be accepted, and if not, everything that is wrong with it.

Servers call `violations` on each request and refuse with INVALID_ARGUMENT when the list is not empty. Only
rules that one field can break by itself are here; whether an id exists or a status may follow is for the
server to decide.
"""

import functools
from collections.abc import Iterator, Mapping
from typing import Any, cast

import msgspec
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from fairway.rpc.rules.agent_api import AGENT_API_RULES
from fairway.rpc.rules.model import MODEL_RULES
from fairway.rpc.rules.plugin_api import PLUGIN_API_RULES
from fairway.rpc.rules.rule import Rule
from fairway.rpc.rules.user_api import USER_API_RULES


def _by_field(rules: Mapping[Rule, str]) -> dict[str, tuple[Rule, ...]]:
    fields = dict.fromkeys(name for names in rules.values() for name in names.split())
    return {field: tuple(rule for rule, names in rules.items() if field in names.split()) for field in fields}


#: Full message name → field name → the rules it keeps.
RULES: Mapping[str, Mapping[str, tuple[Rule, ...]]] = {
    message: _by_field(rules)
    for table in (MODEL_RULES, AGENT_API_RULES, USER_API_RULES, PLUGIN_API_RULES)
    for message, rules in table.items()
}

#: Longer values are cut in messages: a log or a configuration file would drown what is wrong with it.
_SHOWN_CHARACTERS = 40


class _CheckedField(msgspec.Struct, frozen=True):
    """A field that keeps a rule or holds messages; found once for each type, since logs come in by the hundred."""

    descriptor: FieldDescriptor
    rules: tuple[Rule, ...]
    is_map: bool
    holds_messages: bool
    #: A sub-message, for which presence is tested and not its value.
    is_message: bool


def violations(message: Message) -> list[str]:
    """One sentence for each broken rule, in this message and in all that it contains."""
    return list(_violations(message, ""))


def _violations(message: Message, path: str) -> Iterator[str]:
    for field in _checked_fields(message.DESCRIPTOR):
        name = field.descriptor.name
        value = getattr(message, name)
        tested = message.HasField(name) if field.is_message else value
        for rule in field.rules:
            if not rule.holds(tested, field.descriptor):
                yield f"{path}{name} is {_shown(tested, field)}; expected {rule.expected}"
        if field.holds_messages and (tested or not field.is_message):
            for place, inner in _inner_messages(value, field):
                yield from _violations(inner, f"{path}{name}{place}.")


@functools.cache
def _checked_fields(message_type: Descriptor) -> tuple[_CheckedField, ...]:
    rules = RULES.get(message_type.full_name, {})
    # The type stubs name the C twin of the class as well; both have the same members.
    fields = (_checked_field(field, rules) for field in cast("list[FieldDescriptor]", message_type.fields))
    return tuple(field for field in fields if field.rules or field.holds_messages)


def _checked_field(field: FieldDescriptor, rules: Mapping[str, tuple[Rule, ...]]) -> _CheckedField:
    inner = field.message_type
    is_map = inner is not None and inner.GetOptions().map_entry
    holds_messages = inner is not None
    if inner is not None and is_map:
        holds_messages = inner.fields_by_name["value"].message_type is not None
    return _CheckedField(
        descriptor=field,
        rules=rules.get(field.name, ()),
        is_map=is_map,
        holds_messages=holds_messages,
        is_message=inner is not None and not field.is_repeated,
    )


def _inner_messages(value: Any, field: _CheckedField) -> Iterator[tuple[str, Message]]:
    """The messages in one field, each with what to add to the field's path."""
    if field.is_map:
        yield from ((f"[{key!r}]", value[key]) for key in sorted(value))
    elif field.is_message:
        yield "", value
    else:
        yield from ((f"[{index}]", item) for index, item in enumerate(value))


def _shown(value: object, field: _CheckedField) -> str:
    if field.is_message:
        return "not set"
    if value == "":
        return "empty"
    text = repr(dict(value)) if isinstance(value, Mapping) else repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
