"""One Kubernetes object as somebody wrote it: its body, where it stands, and the names that tell it from others.

A body is the plain mapping that JSON or YAML gives. It is never changed in place: whoever needs another one makes it,
because the same manifest is shared by planning, stages, drift and preview.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

Body = Mapping[str, Any]


class Key(msgspec.Struct, frozen=True, order=True):
    """Which object: the version of its API left out, because the same object is served in several."""

    #: Empty for the core group.
    group: str
    kind: str
    #: As written; empty for what belongs to no namespace, or where none was written.
    namespace: str
    name: str

    def __str__(self) -> str:
        place = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind} {place}{self.name}"


class Where(msgspec.Struct, frozen=True):
    """Where a manifest stands, for messages."""

    #: Relative to the repository, or what rendered it.
    file: str = ""
    #: 0 where a tool rendered it.
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


class Manifest(msgspec.Struct, frozen=True):
    """One object to be."""

    body: Body
    where: Where = Where()

    @property
    def api_version(self) -> str:
        return str(self.body["apiVersion"])

    @property
    def kind(self) -> str:
        return str(self.body["kind"])

    @property
    def metadata(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.body.get("metadata") or {}
        return found

    @property
    def name(self) -> str:
        return str(self.metadata.get("name", ""))

    @property
    def namespace(self) -> str:
        return str(self.metadata.get("namespace") or "")

    @property
    def annotations(self) -> Mapping[str, str]:
        return self.metadata.get("annotations") or {}

    @property
    def labels(self) -> Mapping[str, str]:
        return self.metadata.get("labels") or {}

    @property
    def key(self) -> Key:
        return key_of(self.body)


def key_of(body: Body) -> Key:
    """Which object a body is."""
    metadata = body.get("metadata") or {}
    group, _, _ = str(body["apiVersion"]).rpartition("/")
    namespace = str(metadata.get("namespace") or "")
    return Key(group=group, kind=str(body["kind"]), namespace=namespace, name=str(metadata.get("name", "")))
