"""Whether a message may be accepted, and if not, everything that is wrong with it.

Servers call `violations` on each request and refuse with INVALID_ARGUMENT when the list is not empty. Only
rules that one field can break by itself are here; whether an id exists or a status may follow is for the
server to decide.
"""

from collections.abc import Iterator, Mapping
from typing import cast

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from fairway.rpc.rule import Rule
from fairway.rpc.rules_agent_api import AGENT_API_RULES
from fairway.rpc.rules_model import MODEL_RULES
from fairway.rpc.rules_plugin_api import PLUGIN_API_RULES
from fairway.rpc.rules_user_api import USER_API_RULES


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


def violations(message: Message) -> list[str]:
    """One sentence for each broken rule, in this message and in all that it contains."""
    return list(_violations(message, ""))


def _violations(message: Message, path: str) -> Iterator[str]:
    rules = RULES.get(message.DESCRIPTOR.full_name, {})
    # The type stubs name the C twin of the class as well; both have the same members.
    for field in cast("list[FieldDescriptor]", message.DESCRIPTOR.fields):
        here = f"{path}.{field.name}" if path else field.name
        for rule in rules.get(field.name, ()):
            value = _tested_value(message, field)
            if not rule.holds(value, field):
                yield f"{here} is {_shown(value, field)}; expected {rule.expected}"
        for place, inner in _inner_messages(message, field):
            yield from _violations(inner, f"{here}{place}")


def _tested_value(message: Message, field: FieldDescriptor) -> object:
    if field.message_type is not None and not field.is_repeated:
        return message.HasField(field.name)
    value: object = getattr(message, field.name)
    return value


def _inner_messages(message: Message, field: FieldDescriptor) -> Iterator[tuple[str, Message]]:
    """The messages in one field, each with what to add to the field's path."""
    if field.message_type is None:
        return
    value = getattr(message, field.name)
    if field.message_type.GetOptions().map_entry:
        if field.message_type.fields_by_name["value"].message_type is not None:
            yield from ((f"[{key!r}]", value[key]) for key in sorted(value))
    elif field.is_repeated:
        yield from ((f"[{index}]", item) for index, item in enumerate(value))
    elif message.HasField(field.name):
        yield "", value


def _shown(value: object, field: FieldDescriptor) -> str:
    if field.message_type is not None and not field.is_repeated:
        return "not set"
    if value == "":
        return "empty"
    text = repr(dict(value)) if isinstance(value, Mapping) else repr(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
