"""What a value on the wire may have to satisfy, as data.

PipeCD's servers refuse requests that break such rules with INVALID_ARGUMENT, and so do ours. The tables
beside this file say which field keeps which rule; `rules.py` applies them. A rule never looks at more than
one field.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from google.protobuf.descriptor import FieldDescriptor


class Rule(msgspec.Struct, frozen=True):
    """One thing that a field's value must satisfy."""

    #: The word that the facts about PipeCD use for it; the contract test compares by it.
    marker: str
    #: Ends the sentence "… is wrong; expected".
    expected: str
    #: A scalar, or the whole list or map; for a sub-message whether it is set.
    holds: Callable[[Any, FieldDescriptor], bool]


#: Message name → rule → names of the fields that keep it, separated by spaces.
RuleTable = Mapping[str, Mapping[Rule, str]]


def in_package(package: str, table: RuleTable) -> dict[str, Mapping[Rule, str]]:
    """The same table with full message names."""
    return {f"{package}.{message}": rules for message, rules in table.items()}


def _is_defined(value: Any, field: FieldDescriptor) -> bool:
    numbers = value if field.is_repeated else [value]
    return field.enum_type is not None and all(n in field.enum_type.values_by_number for n in numbers)


_KEBAB_CASE = re.compile(r"[a-zA-Z0-9]+(-[a-zA-Z0-9]+)*")
_ENCRYPTIONS = frozenset({"KEY_PAIR", "GCP_KMS", "AWS_KMS", "NONE"})
#: DEPLOYMENT_RUNNING and DEPLOYMENT_ROLLING_BACK.
_UNDER_WAY = frozenset({2, 3})

NONEMPTY = Rule("nonempty", "some text", lambda value, _: value != "")
REQUIRED = Rule("required", "to be set", lambda is_set, _: bool(is_set))
POSITIVE = Rule(">0", "more than 0", lambda value, _: value > 0)
NOT_NEGATIVE = Rule(">=0", "0 or more", lambda value, _: value >= 0)
DEFINED = Rule("enum-defined", "one of the enum's numbers", _is_defined)
AT_LEAST_ONE = Rule("min_items 1", "at least one entry", lambda entries, _: len(entries) > 0)
AT_MOST_50 = Rule("max_items 50", "at most 50 entries", lambda entries, _: len(entries) <= 50)
NONEMPTY_ENTRIES = Rule(
    "nonempty entries",
    "text in every key and value",
    lambda entries, _: all(key and value for key, value in entries.items()),
)
KEYS_IN_KEBAB_CASE = Rule(
    "keys match ^[a-zA-Z0-9]+(-[a-zA-Z0-9]+)*$",
    "keys of letters and digits, joined by single hyphens",
    lambda entries, _: all(_KEBAB_CASE.fullmatch(key) for key in entries),
)
RELATIVE_PATH = Rule(
    "match ^[^/].+$",
    "a path that does not begin with /",
    # PipeCD wants two characters; that refuses the root of a repository, and with it all else that is told beside it.
    # A newline is no part of a path: `.` does not match it and fullmatch allows none at the end.
    lambda path, _: re.fullmatch(r"[^/].*", path) is not None,
)
SIX_CHARACTERS = Rule("min_len 6", "six characters or more", lambda value, _: len(value) >= 6)
UNDER_WAY = Rule("in{2,3}", "2 (running) or 3 (rolling back)", lambda number, _: number in _UNDER_WAY)
KNOWN_ENCRYPTION = Rule(
    "in{KEY_PAIR,GCP_KMS,AWS_KMS,NONE}",
    "KEY_PAIR, GCP_KMS, AWS_KMS or NONE",
    lambda name, _: name in _ENCRYPTIONS,
)
