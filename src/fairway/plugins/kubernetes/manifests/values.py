"""Values of Kubernetes' own kinds that a cluster refuses without saying where they stand, or what it expected.

Numbers where texts must be, texts that are no base64, quantities that are none: the mistakes that people make most, and
of which the API server tells least. Everything else is left to it. Values of Secrets are never shown.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from fairway.config.problems import Path, shown

#: Where the pods of a kind are described.
_PODS: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    ("v1", "Pod"): (),
    ("apps/v1", "Deployment"): ("spec", "template"),
    ("apps/v1", "StatefulSet"): ("spec", "template"),
    ("apps/v1", "DaemonSet"): ("spec", "template"),
    ("apps/v1", "ReplicaSet"): ("spec", "template"),
    ("batch/v1", "Job"): ("spec", "template"),
    ("batch/v1", "CronJob"): ("spec", "jobTemplate", "spec", "template"),
}
#: A cluster takes a suffix without a number, too, as nothing.
_QUANTITY: Final = re.compile(r"(?!\Z)[+-]?\d*\.?\d*([numkMGTPE]|[KMGTPE]i|[eE][+-]?\d+)?")


class Wrong(NamedTuple):
    """One value."""

    path: Path
    message: str
    #: What could be mended by quotes; None otherwise.
    unquoted: Any = None


def pod_path(body: dict[str, Any]) -> tuple[str, ...] | None:
    """Where a kind of Kubernetes describes its pods; None for other kinds."""
    return _PODS.get((str(body.get("apiVersion")), str(body.get("kind"))))


def wrong_values(body: dict[str, Any]) -> Iterator[Wrong]:
    """The values of an object that no cluster takes."""
    sort = (str(body.get("apiVersion")), str(body.get("kind")))
    if sort == ("v1", "ConfigMap"):
        yield from _texts(body, ("data",))
        yield from _base64(body, ("binaryData",))
    elif sort == ("v1", "Secret"):
        yield from _texts(body, ("stringData",), secret=True)
        yield from _base64(body, ("data",))
    elif sort == ("v1", "PersistentVolumeClaim"):
        yield from _resources(body, ("spec", "resources"))
    elif sort == ("v1", "ResourceQuota"):
        yield from _quantities(body, ("spec", "hard"))
    elif sort in _PODS:
        yield from _pod(body, _PODS[sort])
        # Only a StatefulSet has them.
        for index, _ in enumerate(_list(_at(body, ("spec", "volumeClaimTemplates")))):
            yield from _resources(body, ("spec", "volumeClaimTemplates", index, "spec", "resources"))


def _pod(body: dict[str, Any], path: tuple[str, ...]) -> Iterator[Wrong]:
    if path:
        # Those of the object itself are looked at for every kind.
        yield from _texts(body, (*path, "metadata", "labels"))
        yield from _texts(body, (*path, "metadata", "annotations"))
    for index, _ in enumerate(_list(_at(body, (*path, "spec", "volumes")))):
        yield from _quantity(body, (*path, "spec", "volumes", index, "emptyDir", "sizeLimit"))
    for field in ("initContainers", "containers"):
        for index, container in enumerate(_list(_at(body, (*path, "spec", field)))):
            place: Path = (*path, "spec", field, index)
            yield from _resources(body, (*place, "resources"))
            for number, entry in enumerate(_list(_at(container, ("env",)))):
                value = _at(entry, ("value",))
                if value is not None and not isinstance(value, str):
                    yield _no_text((*place, "env", number, "value"), value)


def _texts(body: Any, path: Path, *, secret: bool = False) -> Iterator[Wrong]:
    found = _at(body, path)
    if found is None:
        return
    if not isinstance(found, dict):
        what = "" if secret else f"found {shown(found)}, "
        yield Wrong(path, f"{what}expected a mapping of texts")
        return
    for key, value in found.items():
        if value is not None and not isinstance(value, str):
            yield _no_text((*path, key), value, secret=secret)


def _no_text(path: Path, value: Any, *, secret: bool = False) -> Wrong:
    simple = isinstance(value, bool | int | float)
    what = ("a number" if not isinstance(value, bool) else "true or false") if secret and simple else shown(value)
    return Wrong(path, f"found {what}, expected a text", None if secret or not simple else value)


def _base64(body: dict[str, Any], path: Path) -> Iterator[Wrong]:
    found = _at(body, path)
    if found is not None and not isinstance(found, dict):
        yield Wrong(path, "expected a mapping of texts in base64")
        return
    for key, value in (found or {}).items():
        if value is None:
            continue
        try:
            # As Go reads it: line breaks do not count.
            base64.b64decode("".join(str(value).splitlines()), validate=True)
            correct = isinstance(value, str)
        except (binascii.Error, ValueError):
            correct = False
        if not correct:
            plain = "stringData" if path == ("data",) else "data"
            yield Wrong((*path, key), f"is not base64; put texts that are not encoded into {plain}")


def _resources(body: dict[str, Any], path: Path) -> Iterator[Wrong]:
    for field in ("limits", "requests"):
        yield from _quantities(body, (*path, field))


def _quantities(body: dict[str, Any], path: Path) -> Iterator[Wrong]:
    found = _at(body, path)
    for key in found if isinstance(found, dict) else ():
        yield from _quantity(body, (*path, key))


def _quantity(body: dict[str, Any], path: Path) -> Iterator[Wrong]:
    value = _at(body, path)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if value is None or number or (isinstance(value, str) and _QUANTITY.fullmatch(value)):
        return
    yield Wrong(path, f'found {shown(value)}, expected a quantity such as "500m" or "128Mi"')


def _at(body: Any, path: Path) -> Any:
    """What stands at a path; None where nothing does. Places in lists are known to be there."""
    for step in path:
        there = isinstance(step, int) or isinstance(body, dict)
        body = (body[step] if isinstance(step, int) else body.get(step)) if there else None
    return body


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
