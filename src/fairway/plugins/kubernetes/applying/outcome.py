"""What became of an object that was applied, in words: whether anything but our own marks differs, and where.

The marks have another value for each commit, so that to a cluster every object changes with every deployment; people
want to see what the commit has changed. Only places are told, never values: they may be secret.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from fairway.kube.manifest import Body
from fairway.plugins.kubernetes.marks import own_marks
from fairway.plugins.kubernetes.parts import part
from fairway.plugins.kubernetes.planning.difference import ABSENT, LAST_APPLIED, Change, differences
from fairway.plugins.kubernetes.whose.sharing import SHARED

#: How many places are named.
_NAMED: Final = 3
#: What others write, and what stands in each object to say which it is.
_NOT_CONTENT: Final = frozenset({"status", "metadata", "apiVersion", "kind"})
_PLAIN: Final = re.compile(r"[\w-]+")


def outcome(before: Body | None, after: Body, variant_key: str) -> str:
    """What was done to an object: as it was before, where it was there, and as the cluster has it now."""
    if before is None:
        return "created"
    if part(before, "metadata", "uid") != part(after, "metadata", "uid"):
        return "made anew"
    old, new = _content(before, variant_key), _content(after, variant_key)
    places = [_named(each, new) for each in differences(old, new)]
    if not places:
        return "as it was"
    more = f" and {len(places) - _NAMED} more" if len(places) > _NAMED else ""
    return f"changed ({', '.join(places[:_NAMED])}{more})"


def _content(body: Body, variant_key: str) -> dict[str, Any]:
    """What somebody has written, without what is written for each commit and kubectl's copy of it all."""
    hidden = own_marks(variant_key) | {LAST_APPLIED}
    metadata = {
        place: {
            key: value
            for key, value in (part(body, "metadata", place) or {}).items()
            if key not in hidden and not key.startswith(SHARED)
        }
        for place in ("labels", "annotations")
    }
    return {"metadata": metadata, **{key: value for key, value in body.items() if key not in _NOT_CONTENT}}


def _named(change: Change, after: Any) -> str:
    """The place of a change, with the names of elements that have one."""
    text = ""
    for depth, step in enumerate(change.path, 1):
        if isinstance(step, str):
            plain = _PLAIN.fullmatch(step)
            text += f"[{step}]" if not plain else f".{step}" if text else step
            after = part(after, step)
            continue
        is_there = isinstance(after, list) and step < len(after)
        after = after[step] if is_there else change.before if depth == len(change.path) else ABSENT
        name = after.get("name") if isinstance(after, Mapping) else None
        text += f"[{name if isinstance(name, str) else step}]"
    return text
