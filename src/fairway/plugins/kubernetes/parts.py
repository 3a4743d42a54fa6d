"""Parts of a body: looked at, and replaced in a copy.

Bodies are never changed in place, because the same manifest is shared by planning, stages, drift and preview. A copy is
made only along the path to the part that is replaced.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from fairway.kube.manifest import Body, Manifest


def part(body: Any, *path: str) -> Any:
    """What stands at the path; None where nothing does."""
    for name in path:
        if not isinstance(body, Mapping):
            return None
        body = body.get(name)
    return body


def with_part(body: Body, path: Sequence[str], value: Any) -> dict[str, Any]:
    """The body with that at the path; mappings on the way are made where they are missing."""
    name, *rest = path
    if not rest:
        return {**body, name: value}
    inner = body.get(name)
    return {**body, name: with_part(inner if isinstance(inner, Mapping) else {}, rest, value)}


def with_entries(body: Body, path: Sequence[str], entries: Mapping[str, Any]) -> dict[str, Any]:
    """The body with these entries in the mapping at the path, beside those that are there."""
    before = part(body, *path)
    return with_part(body, path, {**(before if isinstance(before, Mapping) else {}), **entries})


def without(body: Body, path: Sequence[str]) -> dict[str, Any]:
    """The body without what stands at the path."""
    name, *rest = path
    if not rest:
        return {key: value for key, value in body.items() if key != name}
    inner = body.get(name)
    return {**body, name: without(inner, rest)} if isinstance(inner, Mapping) else dict(body)


def remade(manifest: Manifest, change: Callable[[Body], Body]) -> Manifest:
    """The manifest with another body, at the same place."""
    return msgspec.structs.replace(manifest, body=change(manifest.body))
