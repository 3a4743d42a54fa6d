"""Which files differ between two commits.

A rename counts as both of its paths, because an application that lost a file changed as much as the one that gained it.
Whether a change matters to an application is decided elsewhere (`delivery/`).
"""

from enum import Enum

from msgspec import Struct

from fairway.git.tree import Tree


class ChangeKind(Enum):
    """What happened to a path; the value is git's letter."""

    ADDED = "A"
    DELETED = "D"
    MODIFIED = "M"  # content or mode
    TYPE_CHANGED = "T"  # a file became a symbolic link or a submodule, or the reverse


class Change(Struct, frozen=True, gc=False):
    """One changed path, with the blobs before and after."""

    path: str
    kind: ChangeKind
    old: str | None
    new: str | None


def parse_changes(output: bytes) -> list[Change]:
    """Read `git diff-tree -r -z --raw`: `:mode mode hash hash letter NUL path NUL`, sorted by path."""
    fields = output.decode("utf-8", "surrogateescape").split("\0")
    changes = []
    for meta, path in zip(fields[:-1:2], fields[1::2], strict=True):
        _, _, old, new, letter = meta.lstrip(":").split(" ")
        changes.append(Change(path, ChangeKind(letter[0]), _hash_or_none(old), _hash_or_none(new)))
    return changes


def all_added(tree: Tree) -> list[Change]:
    """The changes of a first commit: everything."""
    return [Change(path, ChangeKind.ADDED, None, entry.hash) for path, entry in tree.items()]


def _hash_or_none(text: str) -> str | None:
    return text if text.strip("0") else None
