"""Trees read object by object from the process that stays, for questions that touch few of them.

What differs between two commits, or what a small commit contains, is a handful of objects: starting a git for them
costs several times as much as reading them. Each level of directories is one request. A large tree is git's own to
list (`tree_of` says so by None).
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fairway.git.changes import Change, ChangeKind
from fairway.git.errors import MirrorCorrupt
from fairway.git.object_reader import Found, ObjectReader
from fairway.git.tree import Kind, Tree, TreeEntry

#: A tree with more directories than this is listed by git itself.
_MOST_DIRECTORIES = 64
#: How an entry that is a directory begins. A name or a hash that holds the same counts as one more, which does no harm.
_DIRECTORY = b"40000 "


class _Entry(NamedTuple):
    #: None for a directory.
    kind: Kind | None
    hash: str


_Directory = dict[str, _Entry]


class _Pair(NamedTuple):
    """One directory before and after; the hash is empty where there is none."""

    prefix: str
    old: str
    new: str


async def tree_of(reader: ObjectReader, root: str) -> Tree | None:
    """Every file below a tree; None when it has too many directories."""
    found: Tree = {}
    level, seen = [("", root)], 1
    while level:
        deeper: list[tuple[str, str]] = []
        trees = await _trees(reader, [each for _, each in level])
        # Seen before anything is parsed: the last level that is read for nothing may be a large one.
        seen += sum(tree.content.count(_DIRECTORY) for tree in trees)
        if seen > _MOST_DIRECTORIES:
            return None
        for (prefix, _), tree in zip(level, trees, strict=True):
            for name, entry in _parsed(tree).items():
                if entry.kind is None:
                    deeper.append((f"{prefix}{name}/", entry.hash))
                else:
                    found[prefix + name] = TreeEntry(entry.kind, entry.hash)
        level = deeper
    return dict(sorted(found.items(), key=lambda each: _order(each[0])))


async def differences(reader: ObjectReader, old: str, new: str) -> list[Change]:
    """The files that differ between two trees, in git's order."""
    changes: list[Change] = []
    level = [_Pair("", old, new)] if old != new else []
    while level:
        wanted = [each for pair in level for each in (pair.old, pair.new) if each]
        read = iter(await _directories(reader, wanted))
        deeper: list[_Pair] = []
        for pair in level:
            before: _Directory = next(read) if pair.old else {}
            after: _Directory = next(read) if pair.new else {}
            for name in {each for each, _ in before.items() ^ after.items()}:
                one, other = before.get(name), after.get(name)
                deeper += _below(f"{pair.prefix}{name}/", one, other)
                changes += _change(pair.prefix + name, one, other)
        level = deeper
    return sorted(changes, key=lambda change: _order(change.path))


def _below(prefix: str, old: _Entry | None, new: _Entry | None) -> Iterator[_Pair]:
    before, after = (each.hash if each and each.kind is None else "" for each in (old, new))
    if before or after:
        yield _Pair(prefix, before, after)


def _change(path: str, old: _Entry | None, new: _Entry | None) -> Iterator[Change]:
    before, after = (each if each and each.kind is not None else None for each in (old, new))
    if before and after:
        alike = _sort(before.kind) == _sort(after.kind)
        yield Change(path, ChangeKind.MODIFIED if alike else ChangeKind.TYPE_CHANGED, before.hash, after.hash)
    elif before:
        yield Change(path, ChangeKind.DELETED, before.hash, None)
    elif after:
        yield Change(path, ChangeKind.ADDED, None, after.hash)


def _sort(kind: Kind | None) -> Kind | None:
    """A file that became executable is still a file."""
    return Kind.FILE if kind is Kind.EXECUTABLE else kind


async def _directories(reader: ObjectReader, hashes: Sequence[str]) -> list[_Directory]:
    return [_parsed(tree) for tree in await _trees(reader, hashes)]


async def _trees(reader: ObjectReader, hashes: Sequence[str]) -> list[Found]:
    replies = await reader.read([each.encode() for each in hashes])
    trees = [reply for reply in replies if isinstance(reply, Found) and reply.kind == "tree"]
    if len(trees) < len(hashes):
        found = {tree.hash for tree in trees}
        # Named by a commit or a tree that is here, so only damage can have taken it away.
        raise MirrorCorrupt(f"the tree {next(each for each in hashes if each not in found)} is missing")
    return trees


def _parsed(tree: Found) -> _Directory:
    return parse_directory(tree.content, len(tree.hash) // 2)


def parse_directory(content: bytes, hash_bytes: int) -> _Directory:
    """Read a tree object: `mode SP name NUL hash`, again and again."""
    pattern = _RECORDS[hash_bytes]
    return {
        name.decode("utf-8", "surrogateescape"): _Entry(_kind(int(mode, 8)), blob.hex())
        for mode, name, blob in pattern.findall(content)
    }


_RECORDS = {width: re.compile(rb"(\d+) ([^\0]+)\0(.{%d})" % width, re.DOTALL) for width in (20, 32)}


def _kind(mode: int) -> Kind | None:
    """What git takes a mode for; old versions have written odd permissions."""
    match mode & 0o170000:
        case 0o040000:
            return None
        case 0o100000:
            return Kind.EXECUTABLE if mode & 0o100 else Kind.FILE
        case 0o120000:
            return Kind.SYMLINK
        case _:
            return Kind.SUBMODULE


def _order(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")
