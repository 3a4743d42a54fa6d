"""Which pods and warnings are of a workload, and with how few watches those of many workloads are found.

A cluster selects by labels that must all hold: one may have any of several values, but "these labels, or else those"
cannot be said. So workloads whose selectors name the same labels are watched together, and what comes is sorted here:
for one workload the watch is its own selector, for hundreds of one shape it is a few watches, and pods of others stay
where they are, however many the namespace has. Events are selected by the kind that they are about. Pure.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from fairway.kube.cluster import Scope
from fairway.kube.manifest import Body, Key, key_of
from fairway.plugins.kubernetes.parts import part

_TEMPLATE_HASH: Final = "pod-template-hash"
#: Of so many workloads the labels are in one question: it stands in an address, which proxies want to be short.
_TOGETHER: Final = 50
#: Kinds whose controllers say only by events why they can make no pods; others say it in the status.
_SILENT: Final = frozenset({("apps", "StatefulSet"), ("apps", "DaemonSet"), ("batch", "Job")})


class Group(NamedTuple):
    """Workloads that one watch is for."""

    scope: Scope
    workloads: tuple[Key, ...]


def pod_groups(workloads: Iterable[Body]) -> list[Group]:
    """By which watches the pods of all these are found."""
    alike: dict[tuple[str, ...], list[Body]] = {}
    for each in workloads:
        if part(each, "spec", "selector"):
            alike.setdefault((key_of(each).namespace, *sorted(_values(each))), []).append(each)
    return [
        _pod_group(namespace, labels, bodies[start : start + _TOGETHER])
        for (namespace, *labels), bodies in sorted(alike.items())
        for start in range(0, len(bodies), _TOGETHER)
    ]


def _pod_group(namespace: str, labels: Sequence[str], bodies: Sequence[Body]) -> Group:
    values = {label: sorted({one for each in bodies for one in _values(each)[label]}) for label in labels}
    return Group(Scope(namespace=namespace, any_of=values), tuple(map(key_of, bodies)))


def warning_groups(workloads: Iterable[Body]) -> list[Group]:
    """By which watches it is found why some of these have no pods."""
    alike: dict[tuple[str, str], list[Key]] = {}
    for key in map(key_of, workloads):
        if (key.group, key.kind) in _SILENT:
            alike.setdefault((key.namespace, key.kind), []).append(key)
    return [
        Group(Scope(namespace=namespace, fields={"involvedObject.kind": kind, "type": "Warning"}), tuple(keys))
        for (namespace, kind), keys in sorted(alike.items())
    ]


def is_pod_of(workload: Body, pod: Body) -> bool:
    """Whether a workload's selector takes the pod, and no other workload is known to have it."""
    labels: Mapping[str, str] = part(pod, "metadata", "labels") or {}
    selector = part(workload, "spec", "selector") or {}
    if any(labels.get(name) != value for name, value in (selector.get("matchLabels") or {}).items()):
        return False
    if not all(_holds(each, labels) for each in selector.get("matchExpressions") or ()):
        return False
    owners = part(pod, "metadata", "ownerReferences") or ()
    owner = next((each for each in owners if each.get("controller")), None)
    if owner is None:
        return True
    if workload["kind"] == "Deployment":
        # Its ReplicaSets are called like this; a canary's pods, which its selector may take as well, are of others.
        own = f"{key_of(workload).name}-{labels.get(_TEMPLATE_HASH)}"
        return (owner.get("kind"), owner.get("name")) == ("ReplicaSet", own)
    return bool(owner.get("uid") == part(workload, "metadata", "uid"))


def is_about(workload: Body, event: Body) -> bool:
    """Whether an event is about a workload, and not about one of that name that was there before."""
    return bool(part(event, "involvedObject", "uid") == part(workload, "metadata", "uid"))


def _values(workload: Body) -> dict[str, Sequence[str]]:
    """Each label that a workload's pods have for certain, with the values that it may have."""
    selector = part(workload, "spec", "selector") or {}
    given = [each for each in selector.get("matchExpressions") or () if each.get("operator") == "In"]
    values: dict[str, Sequence[str]] = {each["key"]: each["values"] for each in given}
    return values | {name: (value,) for name, value in (selector.get("matchLabels") or {}).items()}


def _holds(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    found = labels.get(expression["key"])
    values = expression.get("values") or ()
    match expression.get("operator"):
        case "In":
            return found in values
        case "NotIn":
            return found not in values
        case "Exists":
            return found is not None
        case _:
            return found is None
