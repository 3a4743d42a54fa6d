"""What the fields of bodies may be, for the document.

Most of it Litestar reads off the types. The rest is refused by the actions, whose words say more than a type's could;
so it stands here, that a program may know before it asks.
"""

from typing import Any

from fairway.server.actions.names import LONGEST_NAME
from fairway.server.sign_in.actions.settings import LONGEST_GROUP, MOST_HOURS
from fairway.server.sign_in.names import LOCAL_NAME

Schema = dict[str, Any]

#: Not only spaces.
_NAME: Schema = {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME, "pattern": r"\S"}
#: What is said of a field beyond its type, or instead of it.
_FIELDS: dict[str, dict[str, Schema]] = {
    "APIKeyToMake": {"name": _NAME},
    "AgentPatch": {"name": _NAME},
    "AgentToAdd": {"name": _NAME},
    "ApplicationPatch": {"name": _NAME},
    "ApplicationToAdd": {"name": _NAME},
    "EventToTell": {"name": _NAME},
    "NewWebhook": {"name": _NAME},
    "NewUserBody": {"id": {"pattern": f"^{LOCAL_NAME}$"}},
    "SettingsBody": {
        "group_roles": {"propertyNames": {"minLength": 1, "maxLength": LONGEST_GROUP}},
        "session_hours": {"minimum": 1, "maximum": MOST_HOURS},
    },
}


def complete_body(name: str, schemas: dict[str, Schema]) -> None:
    """Say of a body, and of what is in it, that it takes no other fields, and what its own may be."""
    schema = schemas[name]
    if "properties" not in schema:
        return
    fields = {
        field: _completed(known, _FIELDS.get(name, {}).get(field)) for field, known in schema["properties"].items()
    }
    schemas[name] = {**schema, "properties": fields, "additionalProperties": False}
    for inner in _named_in(schema["properties"]):
        if "additionalProperties" not in schemas[inner]:
            complete_body(inner, schemas)


def _completed(known: Schema, more: Schema | None) -> Schema:
    if more is None:
        return known
    return more if "type" in more else {**known, **more}


def _named_in(part: Any) -> set[str]:
    """The types that a part of the document names."""
    match part:
        case {"$ref": str() as reference}:
            return {reference.rpartition("/")[2]}
        case dict():
            return {name for value in part.values() for name in _named_in(value)}
        case list():
            return {name for value in part for name in _named_in(value)}
    return set()
