"""Commits as people see them: who, when, why, and the trailers below the message.

Most commits can be read as they are stored; what git itself has to interpret (other encodings, trailers) it is asked
for by `git log`.
"""

import re
from datetime import UTC, datetime

from msgspec import Struct

_FIELDS = 9
#: One NUL after each field: git cuts messages at a NUL, so no field can hold one.
LOG_FORMAT = "--format=tformat:" + "%x00".join(
    ("%H", "%P", "%an", "%ae", "%at", "%cn", "%ct", "%B", "%(trailers:only=true,unfold=true)", "")
)


class Commit(Struct, frozen=True):
    """One commit."""

    hash: str
    parents: tuple[str, ...]
    author: str
    email: str
    authored_at: datetime
    committer: str
    committed_at: datetime
    message: str
    #: In the order of the message; a key may occur more than once.
    trailers: tuple[tuple[str, str], ...] = ()

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.split("\n", 1)[0]

    def trailer(self, key: str) -> str | None:
        """The last value of a trailer; keys are compared without regard to case, as git does."""
        values = [value for name, value in self.trailers if name.lower() == key.lower()]
        return values[-1] if values else None


def parse_log(output: bytes) -> list[Commit]:
    """Read `git log` in `LOG_FORMAT`."""
    fields = output.decode("utf-8", "replace").split("\0")
    records = range(0, len(fields) - _FIELDS, _FIELDS)
    return [_commit(fields[start : start + _FIELDS]) for start in records]


def _commit(fields: list[str]) -> Commit:
    commit, parents, author, email, authored, committer, committed, message, trailers = fields
    return Commit(
        hash=commit.lstrip("\n"),
        parents=tuple(parents.split()),
        author=author,
        email=email,
        authored_at=datetime.fromtimestamp(int(authored), UTC),
        committer=committer,
        committed_at=datetime.fromtimestamp(int(committed), UTC),
        message=message.rstrip("\n"),
        trailers=tuple(_trailer(line) for line in trailers.splitlines() if line),
    )


def _trailer(line: str) -> tuple[str, str]:
    key, _, value = line.partition(":")
    return key.strip(), value.strip()


_PERSON = rb"([^\n<>]*[^\n<> ]) <([^\n<>]*)> (\d{1,11}) [+-]\d{4}\n"
_STORED = re.compile(rb"tree [0-9a-f]+\n((?:parent [0-9a-f]+\n)*)author " + _PERSON + rb"committer " + _PERSON)


def parse_stored(commit: str, content: bytes) -> Commit | None:
    """Read a commit as git stores it; None when git has to say what is in it."""
    head, _, body = content.partition(b"\n\n")
    found = _STORED.match(head + b"\n")
    try:
        message = body.decode()
        names = [found[each].decode() for each in (2, 3, 5)] if found else []
    except UnicodeDecodeError:
        return None
    # Only a last paragraph that is not the first can hold trailers, and none is without a colon.
    plain = not message.startswith("\n") and not ("\n\n" in message and ":" in message) and "\0" not in message
    if found is None or not plain or re.search(rb"^encoding ", head, re.MULTILINE):
        return None
    return Commit(
        hash=commit,
        parents=tuple(found[1].decode().split()[1::2]),
        author=names[0],
        email=names[1],
        authored_at=datetime.fromtimestamp(int(found[4]), UTC),
        committer=names[2],
        committed_at=datetime.fromtimestamp(int(found[7]), UTC),
        message=message.rstrip("\n"),
    )
