"""Which files differ between two commits.

A rename counts as both of its paths, because an application that lost a file changed as much as the one that gained it.
How they are found is said in `tree_walk`; whether a change matters to an application is decided in `delivery/`.
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


def all_added(tree: Tree) -> list[Change]:
    """The changes of a first commit: everything."""
    return [Change(path, ChangeKind.ADDED, None, entry.hash) for path, entry in tree.items()]
