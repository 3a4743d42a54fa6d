"""What a sync would take away because it first takes over what kubectl has applied, created or replaced as a whole.

A trial of writing does not show that: the fields would have to be ours already. So the cluster is asked in a trial of
its own what becomes of the object without them; what it fills in again by itself is not missed. Of an object that is
replaced rather than applied, whatever people have added goes too. What a controller has added would go as well, but
comes again; that would be drift for ever.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from fairway.kube.cluster import FIELD_MANAGER
from fairway.kube.manifest import Body
from fairway.plugins.kubernetes.applying.adoption import Entry, can_be_taken_over, is_by_hand, taken_over
from fairway.plugins.kubernetes.marks import FORCE_SYNC_BY_REPLACE, SYNC_BY_REPLACE, asks_for
from fairway.plugins.kubernetes.parts import part
from fairway.plugins.kubernetes.planning.difference import LAST_APPLIED

Fields = Mapping[str, Any]

#: How fields of a mapping, elements by their keys, and elements that are values are written among managed fields.
_FIELD, _KEY, _VALUE = "f:", "k:", "v:"
#: Kept by kubectl for itself. It goes too, but is nothing that anybody would miss, and may hold what is secret.
_NOT_MISSED: Final = f"{_FIELD}{LAST_APPLIED}"

#: Whose the fields of people are when all is replaced.
_REPLACED: Final = {"manager": FIELD_MANAGER, "operation": "Update"}


def takes_over(live: Body, written: Body) -> bool:
    """Whether there is anything to take over."""
    return can_be_taken_over(_entries(live, written))


def removal(live: Body, written: Body) -> dict[str, Any]:
    """What taking over and writing would take away, as a merge patch; empty where that is nothing."""
    ours, *others = taken_over(_entries(live, written))
    theirs: dict[str, Any] = {}
    for each in others:
        theirs = _together(theirs, each.get("fieldsV1") or {})
    return _patch(live, _without(live, ours.get("fieldsV1") or {}, theirs, written))


def _entries(live: Body, written: Body) -> Sequence[Entry]:
    found: Sequence[Entry] = part(live, "metadata", "managedFields") or ()
    if not any(asks_for(written, each, "enabled") for each in (SYNC_BY_REPLACE, FORCE_SYNC_BY_REPLACE)):
        return found
    return [{**each, **_REPLACED} if is_by_hand(str(each.get("manager"))) else each for each in found]


def _without(value: Any, ours: Fields, theirs: Fields, written: Any) -> Any:
    """A value without what is ours alone and not written."""
    if isinstance(value, Mapping):
        left = dict(value)
        for name in ours:
            key = name.removeprefix(_FIELD)
            if not name.startswith(_FIELD) or key not in value or name == _NOT_MISSED:
                continue
            if part(written, key) is None and name not in theirs:
                del left[key]
            else:
                left[key] = _without(value[key], ours[name], theirs.get(name) or {}, part(written, key))
        return left
    if isinstance(value, list):
        elements = [_element(each, ours, theirs, written) for each in value]
        return [each for each in elements if each is not None]
    return value


def _element(value: Any, ours: Fields, theirs: Fields, written: Any) -> Any:
    """An element of a list, without what is ours alone and not written; None where that is all of it."""
    name = next((each for each in ours if _is_called(value, each)), None)
    if name is None:
        return value
    among: Sequence[Any] = written if isinstance(written, list | tuple) else ()
    same = next((each for each in among if _is_called(each, name)), None)
    if same is None and name not in theirs:
        return None
    return _without(value, ours[name], theirs.get(name) or {}, same)


def _is_called(element: Any, name: str) -> bool:
    if name.startswith(_VALUE):
        return bool(element == msgspec.json.decode(name.removeprefix(_VALUE)))
    if not name.startswith(_KEY) or not isinstance(element, Mapping):
        return False
    keys = msgspec.json.decode(name.removeprefix(_KEY))
    # A part of the key that has a default need not be written.
    return any(key in element for key in keys) and all(element.get(key, value) == value for key, value in keys.items())


def _patch(before: Body, after: Body) -> dict[str, Any]:
    changed: dict[str, Any] = {key: None for key in before if key not in after}
    for key, value in after.items():
        if value != before[key]:
            both = isinstance(value, Mapping) and isinstance(before[key], Mapping)
            changed[key] = _patch(before[key], value) if both else value
    return changed


def _together(one: Fields, other: Fields) -> dict[str, Any]:
    return {**one, **{name: _together(one.get(name) or {}, inner) for name, inner in other.items()}}
