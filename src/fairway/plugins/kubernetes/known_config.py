"""Configuration whose new content needs no asking: the cluster would take it, as it took what is there.

Asking the API server about every object before the first is applied doubles the work, and most objects of a large
application are ConfigMaps and Secrets of which only values change. One list tells how they are now; what is left to
go wrong with them, nobody is asked about. In every other case, and in doubt, the API server is asked.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any, Final

from fairway.kube.cluster import FIELD_MANAGER
from fairway.kube.manifest import Body
from fairway.plugins.kubernetes.marks import asks_for_anything, is_mark
from fairway.plugins.kubernetes.parts import part

#: Fewer objects than this in one place are sooner asked about one by one.
WORTHWHILE: Final = 8
_KINDS: Final = frozenset({("v1", "ConfigMap"), ("v1", "Secret")})
_FIELDS: Final = frozenset({"apiVersion", "kind", "metadata", "data", "type"})
_METADATA: Final = frozenset({"name", "namespace", "labels", "annotations"})
_KEY: Final = re.compile(r"[-._a-zA-Z0-9]{1,253}")
#: Well below what one object may hold, whatever else it holds.
_LARGEST: Final = 512 * 1024


def is_config(body: Body) -> bool:
    """Whether an object is of a kind that may be known well enough."""
    return (body["apiVersion"], body["kind"]) in _KINDS


def needs_no_check(body: Body, live: Body) -> bool:
    """Whether the cluster is certain to take the object in place of what is there."""
    return (
        body.keys() <= _FIELDS
        and (body.get("metadata") or {}).keys() <= _METADATA
        and not live.get("immutable")
        and body.get("type", live.get("type")) == live.get("type")
        and not part(live, "metadata", "deletionTimestamp")
        and not asks_for_anything(body)
        and _is_ours_alone(live)
        and _has_known_words(body, live, "labels")
        and _has_known_words(body, live, "annotations")
        and _is_plain(body.get("data"), secret=body["kind"] == "Secret")
    )


def _is_ours_alone(live: Body) -> bool:
    """Nobody else manages any field, so that there can be no conflict and nothing to take over."""
    entries = part(live, "metadata", "managedFields") or ()
    return bool(entries) and all(
        each.get("manager") == FIELD_MANAGER and each.get("operation") == "Apply" and not each.get("subresource")
        for each in entries
    )


def _has_known_words(body: Body, live: Body, place: str) -> bool:
    """Labels and annotations that were taken before, or are marks of ours."""
    words: Mapping[str, Any] = part(body, "metadata", place) or {}
    before: Mapping[str, Any] = part(live, "metadata", place) or {}
    return all(before.get(key) == value or (is_mark(key) and key in before) for key, value in words.items())


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
