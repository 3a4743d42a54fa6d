"""Changes that need no asking: the API server takes the object, as it took what is there.

Asking about every object before the first is applied doubles the work. Of most objects of a large application a commit
changes nothing, or a value that may be anything: an entry of a ConfigMap, an image, an annotation. One list tells how
they are now. Whether somebody else has a say in it, `admission` knows. In every other case, and in doubt, the API
server is asked.
"""

import base64
import binascii
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from fairway.kube.cluster import FIELD_MANAGER
from fairway.kube.manifest import Body
from fairway.plugins.kubernetes.marks import asks_for_anything, is_mark
from fairway.plugins.kubernetes.parts import part

Path = tuple[str | int, ...]

#: Fewer objects than this in one place are sooner asked about one by one.
WORTHWHILE: Final = 8
_CONFIGS: Final = frozenset({("v1", "ConfigMap"), ("v1", "Secret")})
#: Where the pods of those kinds stand of which they may be changed.
_TEMPLATES: Final[Mapping[tuple[str, str], Path]] = {
    ("apps/v1", "Deployment"): ("spec", "template"),
    ("apps/v1", "StatefulSet"): ("spec", "template"),
    ("apps/v1", "DaemonSet"): ("spec", "template"),
    ("batch/v1", "CronJob"): ("spec", "jobTemplate", "spec", "template"),
}
_CONTAINERS: Final = ("containers", "initContainers")
#: What Kubernetes itself reads, and may refuse.
_OF_KUBERNETES: Final = re.compile(r"(.*\.)?(kubernetes|k8s)\.io/.*")
_IMAGE: Final = re.compile(r"[\w./:@+-]{1,500}", re.ASCII)
_KEY: Final = re.compile(r"[-._a-zA-Z0-9]{1,253}")
#: Well below what one object may hold, whatever else it holds; of its annotations, all together.
_LARGEST, _LARGEST_WORDS = 512 * 1024, 128 * 1024


def is_config(body: Body) -> bool:
    """Whether an object is configuration, whose content may be anything."""
    return (body["apiVersion"], body["kind"]) in _CONFIGS


def needs_no_check(body: Body, live: Body) -> bool:
    """Whether the API server is certain to take the object in place of what is there."""
    fields = _own_fields(live, str(body["apiVersion"]))
    if fields is None or part(live, "metadata", "deletionTimestamp") or asks_for_anything(body):
        return False
    if is_config(body):
        # Entries come and go.
        if live.get("immutable") or not _is_plain(body.get("data"), secret=body["kind"] == "Secret"):
            return False
        body, fields = {**body, "data": {}}, {key: value for key, value in fields.items() if key != "f:data"}
        live = {**live, "data": {}}
    return _keeps(fields, body) and _are_free(body, live)


def _own_fields(live: Body, api_version: str) -> Mapping[str, Any] | None:
    """What we manage of an object; None where others manage any of it, or we do in another version of its kind: there
    may be a conflict, or something to take over. Who writes a status, or scales, does neither."""
    entries = [each for each in part(live, "metadata", "managedFields") or () if not each.get("subresource")]
    if len(entries) != 1 or (entries[0].get("manager"), entries[0].get("operation")) != (FIELD_MANAGER, "Apply"):
        return None
    return (entries[0].get("fieldsV1") or {}) if entries[0].get("apiVersion") == api_version else None


def _keeps(fields: Mapping[str, Any], value: Any) -> bool:
    """Whether everything that we manage is still there: what is taken away may be needed."""
    return all(_keeps_one(key, inner, value) for key, inner in fields.items())


def _keeps_one(key: str, inner: Mapping[str, Any], value: Any) -> bool:
    sort, _, name = key.partition(":")
    if sort == "f":
        return isinstance(value, Mapping) and name in value and _keeps(inner, value[name])
    if sort in ("k", "v") and isinstance(value, Sequence):
        wanted = msgspec.json.decode(name)
        found = [each for each in value if each == wanted or (sort == "k" and _is_named(each, wanted))]
        return bool(found) and _keeps(inner, found[0])
    return sort == "."


def _is_named(element: Any, names: Mapping[str, Any]) -> bool:
    """Whether an element of a list is the one with these values; what it leaves out of them, the cluster fills in."""
    return isinstance(element, Mapping) and all(element.get(key, value) == value for key, value in names.items())


def _are_free(body: Body, live: Body) -> bool:
    """Whether nothing differs but values that may be anything."""
    template, words = _TEMPLATES.get((str(body["apiVersion"]), str(body["kind"]))), 0
    for path, value in _changed(body, live, ()):
        if not isinstance(value, str) or not _is_free(path, value, template):
            return False
        words += len(value)
    return words < _LARGEST_WORDS


def _changed(wanted: Any, live: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """What is wanted otherwise than it is, and where; what the cluster has filled in beside is no difference."""
    if isinstance(wanted, Mapping) and isinstance(live, Mapping):
        for key, value in wanted.items():
            # What was not there before has no value that could have been taken.
            yield from _changed(value, live[key], (*path, key)) if key in live else [((*path, key), None)]
    elif isinstance(wanted, list) and isinstance(live, list) and len(wanted) == len(live):
        for index, (each, before) in enumerate(zip(wanted, live, strict=True)):
            yield from _changed(each, before, (*path, index))
    elif type(wanted) is not type(live) or wanted != live:
        yield path, wanted


def _is_free(path: Path, value: str, template: Path | None) -> bool:
    match path:
        case ("metadata", "labels", str(key)):
            return is_mark(key)
        case ("metadata", "annotations", str(key)):
            return not _OF_KUBERNETES.fullmatch(key)
    if template is None or path[: len(template)] != template:
        return False
    match path[len(template) :]:
        case ("metadata", "annotations", str(key)):
            return not _OF_KUBERNETES.fullmatch(key)
        case ("spec", str(containers), int(), "image"):
            return containers in _CONTAINERS and bool(_IMAGE.fullmatch(value))
        case ("spec", str(containers), int(), "env", int(), "value"):
            return containers in _CONTAINERS
    return False


def _is_plain(data: Any, *, secret: bool) -> bool:
    if data is None:
        return True
    if not isinstance(data, Mapping):
        return False
    for key, value in data.items():
        if not (isinstance(key, str) and isinstance(value, str) and _KEY.fullmatch(key)) or key in (".", ".."):
            return False
        if key.startswith("..") or (secret and not _is_base64(value)):
            return False
    return sum(len(value.encode("utf-8", "replace")) for value in data.values()) < _LARGEST


def _is_base64(value: str) -> bool:
    try:
        base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True
