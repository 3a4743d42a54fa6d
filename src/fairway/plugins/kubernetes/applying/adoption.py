"""Objects that kubectl has applied until now, PipeCD's among them, become ours: field by field, and nothing restarts.

A cluster remembers who manages which field. As long as kubectl counts as the manager of a field, taking it out of Git
would not take it out of the cluster. So kubectl's entries become ours before we apply for the first time, as kubectl
itself does when it changes from its own way of applying to the server's. kubectl's annotation with the last applied
manifest goes with them: we do not write it, and a stale one would mislead kubectl (and may hold a Secret in clear).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from fairway.kube.cluster import FIELD_MANAGER

Entry = Mapping[str, Any]

#: How kubectl calls itself when it applies, creates or replaces whole manifests.
_WHOLE: Final = frozenset({"kubectl-client-side-apply", "kubectl", "kubectl-replace", "kubectl-create"})
_APPLY: Final = "Apply"


def is_by_hand(manager: str) -> bool:
    """Whether a manager is a person at a kubectl; what people change by hand, Git takes back."""
    return manager == "kubectl" or manager.startswith("kubectl-") or manager == "before-first-apply"


def can_be_taken_over(entries: Sequence[Entry]) -> bool:
    """Whether there is anything to take over."""
    return any(_is_to_be_ours(each) for each in entries)


def taken_over(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """The managers of an object's fields, with what kubectl manages as ours."""
    ours = next((dict(each) for each in entries if _is_ours(each)), None)
    for each in entries:
        if not _is_to_be_ours(each):
            continue
        if ours is None:
            ours = {**each, "manager": FIELD_MANAGER, "operation": _APPLY}
        elif ours.get("apiVersion") == each.get("apiVersion"):
            # Fields of another version may have other names, so they cannot be put together.
            ours["fieldsV1"] = _together(ours.get("fieldsV1") or {}, each.get("fieldsV1") or {})
    others = [dict(each) for each in entries if not _is_ours(each) and not _is_to_be_ours(each)]
    return [*([ours] if ours else []), *others]


def _is_ours(entry: Entry) -> bool:
    return entry.get("manager") == FIELD_MANAGER and entry.get("operation") == _APPLY and not entry.get("subresource")


def _is_to_be_ours(entry: Entry) -> bool:
    if entry.get("subresource"):
        return False
    manager = entry.get("manager")
    return manager in _WHOLE or (manager == FIELD_MANAGER and entry.get("operation") != _APPLY)


def _together(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    made = dict(one)
    for name, inner in other.items():
        made[name] = _together(made[name], inner) if name in made else inner
    return made
