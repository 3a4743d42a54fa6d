"""What a commit contains: every path with its mode and blob hash, read without a checkout.

The hash is the key for caching: a blob that was read once need never be read again. `link_leaves` says where a symbolic
link inside a tree leads, so that nobody who reads or writes files ever follows one out of the repository.
"""

import posixpath
import re
from enum import Enum

from msgspec import Struct


class Kind(Enum):
    """What a path in a tree is; the value is git's file mode."""

    FILE = "100644"
    EXECUTABLE = "100755"
    SYMLINK = "120000"
    SUBMODULE = "160000"
    # Written by very old versions of git; an ordinary file whose group may write.
    GROUP_WRITABLE = "100664"


class TreeEntry(Struct, frozen=True, gc=False):
    """One path of a commit: what it is, and the hash of its content."""

    kind: Kind
    hash: str


Tree = dict[str, TreeEntry]
_KIND_BY_MODE = {kind.value: kind for kind in Kind}
_RECORD = re.compile(r"(\d{6}) \w+ ([0-9a-f]+)\t([^\0]+)\0")


def parse_tree(output: bytes) -> Tree:
    """Read `git ls-tree -r -z`: `mode type hash TAB path NUL`."""
    records = _RECORD.findall(output.decode("utf-8", "surrogateescape"))
    return {path: TreeEntry(_KIND_BY_MODE[mode], blob) for mode, blob, path in records}


def link_leaves(path: str, target: str) -> bool:
    """Whether a symbolic link at `path` points out of the tree (or into `.git`), as written in it."""
    if target.startswith("/") or "\0" in target:
        return True
    reached: list[str] = posixpath.dirname(path).split("/") if "/" in path else []
    for component in target.split("/"):
        if component == "..":
            if not reached:
                return True
            reached.pop()
        elif component not in {"", "."}:
            reached.append(component)
    return any(component.lower() == ".git" for component in reached)
