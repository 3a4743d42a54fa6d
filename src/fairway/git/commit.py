"""A commit made in a mirror, without a checkout: bytes by path on top of a parent.

`git fast-import` writes blobs, trees and the commit in one go. What is equal to the parent already is left out, and
when nothing is left there is no commit. File modes are kept; a path that is a link, a submodule, or that would replace
a directory is refused rather than guessed at. Sending the commit to the remote is `push.py`'s part.
"""

import hashlib
import uuid
from collections.abc import Mapping
from datetime import datetime

from msgspec import Struct

from fairway.git.errors import GitInputError
from fairway.git.mirror import Mirror
from fairway.git.names import checked_hash, checked_path, checked_person, checked_trailer, to_bytes
from fairway.git.tree import Kind, Tree

#: New content by path; None deletes the file.
Changes = Mapping[str, bytes | None]


class Person(Struct, frozen=True):
    """Who stands in a commit."""

    name: str
    email: str


class CommitText(Struct, frozen=True):
    """Everything about a commit except its files."""

    message: str
    author: Person
    at: datetime
    #: The author, if not given.
    committer: Person | None = None
    trailers: tuple[tuple[str, str], ...] = ()


async def create_commit(mirror: Mirror, parent: str, changes: Changes, text: CommitText) -> str | None:
    """The hash of the new commit, or None if the parent already has all of it. No branch of the mirror moves."""
    tree = await _touched(mirror, checked_hash(parent), changes)
    _refuse_collisions(tree, changes)
    lines = [line for path, content in sorted(changes.items()) for line in _file_commands(path, content, tree)]
    if not lines:
        return None
    # fast-import needs a ref to write to; it goes again at once and is never a branch.
    ref = f"refs/fairway/{uuid.uuid4().hex}"
    stream = b"".join([_commit_command(ref, parent, text), *lines, b"get-mark :1\ndone\n"])
    async with mirror.writing:
        done = await mirror.git.output("fast-import", "--quiet", "--done", git_dir=mirror.git_dir, stdin=stream)
        await mirror.git.output("update-ref", "-d", ref, git_dir=mirror.git_dir)
    return checked_hash(done.decode("ascii", "replace").strip())


async def _touched(mirror: Mirror, parent: str, changes: Changes) -> Tree:
    """The parent's entries at or below the changed paths, and at their parent directories' names."""
    names = {checked_path(path) for path in changes}
    names |= {ancestor for path in names for ancestor in _ancestors(path)}
    if not names:
        return {}
    return await mirror.tree(parent, *sorted(changes), *await _files_among(mirror, parent, names - changes.keys()))


async def _files_among(mirror: Mirror, parent: str, directories: set[str]) -> list[str]:
    """Those of the would-be directories that are something else in the parent."""
    if not directories:
        return []
    listing = await mirror.git.output(
        "ls-tree", "-z", "--full-tree", parent, "--", *sorted(directories), git_dir=mirror.git_dir
    )
    records = listing.decode("utf-8", "surrogateescape").split("\0")
    entries = (record.partition("\t") for record in records if record)
    return [path for meta, _, path in entries if meta.split(" ")[1] != "tree" and path in directories]


def _ancestors(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: depth + 1]) for depth in range(len(parts))]


def _refuse_collisions(tree: Tree, changes: Changes) -> None:
    for path, content in changes.items():
        entry = tree.get(path)
        if entry and entry.kind in {Kind.SYMLINK, Kind.SUBMODULE}:
            raise GitInputError(
                f"{path!r} is a {entry.kind.name.lower()} in the repository; change the file it stands for"
            )
        if content is not None and any(other.startswith(f"{path}/") for other in tree):
            raise GitInputError(f"{path!r} is a directory in the repository; expected a file")
        for ancestor in _ancestors(path):
            if ancestor in tree or changes.get(ancestor) is not None:
                raise GitInputError(f"{path!r} cannot be written: {ancestor!r} is not a directory in the repository")


def _file_commands(path: str, content: bytes | None, tree: Tree) -> list[bytes]:
    entry = tree.get(path)
    if content is None:
        return [b"D %s\n" % _quoted(path)] if entry else []
    if entry and entry.hash == blob_hash(content, len(entry.hash)):
        return []
    mode = Kind.EXECUTABLE if entry and entry.kind is Kind.EXECUTABLE else Kind.FILE
    return [b"M %s inline %s\n" % (mode.value.encode(), _quoted(path)), _data(content)]


def blob_hash(content: bytes, digits: int = 40) -> str:
    """The hash git gives to this content, in a repository whose hashes have so many digits."""
    algorithm = hashlib.sha256 if digits == 64 else hashlib.sha1
    return algorithm(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _commit_command(ref: str, parent: str, text: CommitText) -> bytes:
    author = _person_line(text.author, text.at)
    committer = _person_line(text.committer or text.author, text.at)
    head = f"commit {ref}\nmark :1\nauthor {author}\ncommitter {committer}\n".encode()
    return head + _data(full_message(text).encode()) + f"from {parent}\n".encode()


def full_message(text: CommitText) -> str:
    """The message with its trailers, ending in a line break."""
    message = text.message.strip()
    if not message or "\0" in message:
        raise GitInputError("the commit message is empty or holds a NUL; expected a sentence")
    trailers = [": ".join(checked_trailer(key, value)) for key, value in text.trailers]
    return message + ("\n\n" + "\n".join(trailers) if trailers else "") + "\n"


def _person_line(person: Person, at: datetime) -> str:
    name, email = checked_person(person.name, person.email)
    if at.tzinfo is None:
        raise GitInputError("the time of a commit has no time zone")
    return f"{name} <{email}> {int(at.timestamp())} {at:%z}"


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


def _quoted(path: str) -> bytes:
    """A path between quotes in C's style, as fast-import wants anything out of the ordinary."""
    plain = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/"
    return b'"' + b"".join(bytes([c]) if c in plain else b"\\%03o" % c for c in to_bytes(path)) + b'"'
