"""Manifests that a cluster refuses as they are written, although what they mean is clear.

`kubectl get -o yaml` exports fields that only the API server sets. Server-side apply refuses a list with two entries of
one key, which `kubectl apply` accepts. Both are changed here, with a warning for the author. Pure.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from fairway.config.problems import Path, path_text
from fairway.plugins.kubernetes.manifests.values import pod_path
from fairway.plugins.kubernetes.marks import FORCE_SYNC_BY_REPLACE, asks_for
from fairway.plugins.kubernetes.parts import part, with_part, without
from fairway.plugins.kubernetes.planning.difference import LAST_APPLIED
from fairway.plugins.kubernetes.shaping.order import is_of_kubernetes

#: Set by the API server; the annotation is kubectl's copy of the manifest.
_SET_BY_SERVER: Final[tuple[tuple[str, ...], ...]] = (
    ("metadata", "creationTimestamp"),
    ("metadata", "deletionGracePeriodSeconds"),
    ("metadata", "deletionTimestamp"),
    ("metadata", "generation"),
    ("metadata", "managedFields"),
    ("metadata", "resourceVersion"),
    ("metadata", "selfLink"),
    ("metadata", "uid"),
    ("metadata", "annotations", LAST_APPLIED),
)
_STATUS: Final = ("status",)
#: A reference to an environment variable; `$$(NAME)` is none.
_REFERENCE: Final = re.compile(r"\$\$|\$\((?P<name>[^()\s]+)\)")
#: No longer environment variable reaches a process.
_LONGEST: Final = 128 << 10
_CONTAINERS: Final = ("initContainers", "containers", "ephemeralContainers")

_RECREATED: Final = {
    "Namespace": "deletes the namespace with all objects in it; Fairway applies it instead while it has any",
    "CustomResourceDefinition": "deletes all objects of this kind; Fairway applies it instead while there are any",
    "PersistentVolume": "deletes the volume at each change; its data may be lost",
    "PersistentVolumeClaim": "deletes the claim at each change; its data may be lost",
}


class Warned(NamedTuple):
    """A warning about one place of a manifest."""

    path: Path
    message: str


class Tidied(NamedTuple):
    """A manifest as it is applied, and what its author should know."""

    body: dict[str, Any]
    warnings: tuple[Warned, ...]


def tidied(body: dict[str, Any]) -> Tidied:
    """The manifest without fields that the API server sets, and without repeated keys in lists of its pods."""
    warnings = [*_recreated(body)]
    body, dropped = _without_server_fields(body)
    if dropped:
        fields = ", ".join(path_text(each) for each in dropped)
        message = f"only the cluster sets {fields}; ignored, remove from the file"
        warnings.append(Warned(dropped[0], message))
    at = pod_path(body)
    pod = part(body, *at, "spec") if at is not None else None
    if at is not None and isinstance(pod, dict):
        for path, change in _lists(pod):
            found = change(_at(pod, path))
            if found is not None:
                pod = _with(pod, path, found.entries)
                warnings.append(Warned((*at, "spec", *path), found.message))
        body = with_part(body, (*at, "spec"), pod)
    return Tidied(body, tuple(warnings))


def _recreated(body: Mapping[str, Any]) -> Iterator[Warned]:
    kind = str(body["kind"])
    if asks_for(body, FORCE_SYNC_BY_REPLACE, "enabled") and kind in _RECREATED and is_of_kubernetes(body):
        path = ("metadata", "annotations", FORCE_SYNC_BY_REPLACE)
        yield Warned(path, f"{_RECREATED[kind]}; remove the annotation")


def _without_server_fields(body: dict[str, Any]) -> tuple[dict[str, Any], list[tuple[str, ...]]]:
    """The manifest without them, and which of them say anything: generators write empty ones."""
    dropped = []
    # The status of a custom resource may be an ordinary field.
    for path in (*_SET_BY_SERVER, *([_STATUS] if is_of_kubernetes(body) else [])):
        parent = part(body, *path[:-1]) if path[:-1] else body
        if isinstance(parent, Mapping) and path[-1] in parent:
            if not _is_blank(parent[path[-1]]):
                dropped.append(path)
            body = without(body, path)
    return body, dropped


def _is_blank(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(map(_is_blank, value.values()))
    return all(map(_is_blank, value)) if isinstance(value, list) else value in (None, "")


class _Changed(NamedTuple):
    entries: list[Any]
    message: str


_Change = Callable[[Any], _Changed | None]


def _lists(pod: Mapping[str, Any]) -> Iterator[tuple[Path, _Change]]:
    """The lists of a pod in which `kubectl apply` accepts repeated keys."""
    for field in _CONTAINERS:
        containers = pod.get(field)
        for index, container in enumerate(containers if isinstance(containers, list) else ()):
            if isinstance(container, Mapping):
                yield (field, index, "env"), _without_overridden
                yield (field, index, "ports"), _without_equal
    yield ("imagePullSecrets",), _without_equal


def _without_equal(entries: Any) -> _Changed | None:
    """The entries without those that are equal to an earlier one."""
    if not isinstance(entries, list):
        return None
    kept = list({msgspec.json.encode(each, order="deterministic"): each for each in entries}.values())
    return None if len(kept) == len(entries) else _Changed(kept, "has equal entries; each is applied once")


def _without_overridden(entries: Any) -> _Changed | None:
    """Environment variables without those that a later one of the same name overrides, as it does in a container.

    `$(NAME)` means the value up to there, so a reference to an overridden variable is replaced by that value. None
    where that value is not in the manifest: the API server refuses the list then.
    """
    if not isinstance(entries, list) or not all(isinstance(each, dict) for each in entries):
        return None
    last = {str(each.get("name")): index for index, each in enumerate(entries)}
    if len(last) == len(entries):
        return None
    overridden: dict[str, str | None] = {}
    kept: list[Any] = []
    for index, each in enumerate(entries):
        name, value = str(each.get("name")), each.get("value")
        if isinstance(value, str):
            value = _resolved(value, overridden)
            if value is None:
                return None
            each = {**each, "value": value}
        if last[name] == index:
            overridden.pop(name, None)
            kept.append(each)
        else:
            overridden[name] = None if each.get("valueFrom") else value or ""
    names = [name for name, count in Counter(str(each.get("name")) for each in entries).items() if count > 1]
    return _Changed(kept, f"sets {', '.join(names)} more than once; the last value is applied, as in the container")


def _resolved(value: str, overridden: Mapping[str, str | None]) -> str | None:
    """The value without references to overridden variables; None where one of them has no value here."""
    meant = [overridden[each["name"]] for each in _REFERENCE.finditer(value) if each["name"] in overridden]
    if None in meant or len(value) + sum(len(each or "") for each in meant) > _LONGEST:
        return None
    return _REFERENCE.sub(lambda match: str(overridden.get(match["name"], match[0])), value)


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step] if isinstance(step, int) else value.get(step)
    return value


def _with(value: Any, path: Path, new: Any) -> Any:
    """A copy of the value with that at the path."""
    if not path:
        return new
    step, *rest = path
    if isinstance(step, int):
        return [_with(each, tuple(rest), new) if at == step else each for at, each in enumerate(value)]
    return {**value, step: _with(value[step], tuple(rest), new)}
