"""Detects that a SQLite database has lost committed transactions, such as by a truncated or missing WAL.

SQLite takes a truncated WAL for one that ended there. So each commit increments a number in the database, and the
number is then written to a file beside it, before callers get their answers. The file is not synced with each commit:
after a power cut it may be behind the database, never ahead of it. At the start, a number in the file above that in
the database means loss.
"""

import contextlib
import os
import sqlite3
import time
from datetime import UTC, datetime
from typing import Final

import msgspec

from fairway.server.store.errors import UnusableDatabase

SUFFIX: Final = "-commits"
_TABLE: Final = "CREATE TABLE IF NOT EXISTS commits (number INTEGER NOT NULL, at REAL NOT NULL)"
_FIRST: Final = "INSERT INTO commits SELECT 0, 0 WHERE NOT EXISTS (SELECT 1 FROM commits)"
_LAST: Final = "SELECT number, at FROM commits"
_NEXT: Final = "UPDATE commits SET number = number + 1, at = ? RETURNING number, at"


class Commit(msgspec.Struct, frozen=True):
    """A committed transaction."""

    number: int
    #: Seconds since 1970.
    at: float


class CommitNumbers:
    """The number of the last commit, in the database and in the file beside it."""

    def __init__(self, path: str) -> None:
        self._path = f"{path}{SUFFIX}"
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def check(self, database: sqlite3.Connection) -> None:
        """Compare both at the start; UnusableDatabase when the database lacks commits."""
        database.execute(_TABLE)
        database.execute(_FIRST)
        stored, acknowledged = Commit(*database.execute(_LAST).fetchone()), self._read()
        if why := why_unusable(stored, acknowledged, self._path):
            raise UnusableDatabase(why)
        self.acknowledge(stored)

    def next(self, database: sqlite3.Connection) -> Commit:
        """Number the transaction that is about to be committed."""
        return Commit(*database.execute(_NEXT, (time.time(),)).fetchall()[0])

    def acknowledge(self, commit: Commit) -> None:
        """Note a commit in the file."""
        # A file that is behind detects less, and stops nothing.
        with contextlib.suppress(OSError):
            os.pwrite(self._file, msgspec.json.encode(commit).ljust(_WIDTH - 1) + b"\n", 0)

    def sync(self) -> None:
        """Make the file durable."""
        with contextlib.suppress(OSError):
            os.fdatasync(self._file)

    def close(self) -> None:
        """Close the file."""
        self.sync()
        os.close(self._file)

    def _read(self) -> Commit:
        try:
            return msgspec.json.decode(os.pread(self._file, _WIDTH, 0), type=Commit)
        except (msgspec.MsgspecError, OSError):
            # New, or not written to its end before a power cut.
            return Commit(0, 0)


#: One write of this size replaces all that was there.
_WIDTH: Final = 80


def why_unusable(stored: Commit, acknowledged: Commit, path: str) -> str:
    """What the database has lost and what to do; empty when it has lost nothing."""
    lost = acknowledged.number - stored.number
    if lost <= 0:
        return ""
    return (
        f"the database lacks the last {lost} committed transactions: it ends at {_shown(stored)}, "
        f"the last acknowledged one is of {_shown(acknowledged)}. Its -wal file was truncated or removed, or the "
        "database is an older copy. Put the original files back, or restore a backup (fairway server restore). "
        f"To start without those transactions, remove {path}"
    )


def _shown(commit: Commit) -> str:
    return f"{datetime.fromtimestamp(commit.at, UTC):%Y-%m-%d %H:%M:%S} UTC" if commit.at else "its beginning"
