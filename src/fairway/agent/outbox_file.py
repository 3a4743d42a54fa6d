"""The SQLite file of the outbox. A damaged file is set aside and replaced by an empty one.

The agent goes on without the lost reports: the server has the deployments, and journals have their stages.
"""

import sqlite3
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import structlog

from fairway.errors import TemporaryError

_log = structlog.get_logger()

_DAMAGED: Final = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
#: The files of one SQLite database in WAL mode.
_SUFFIXES: Final = ("", "-wal", "-shm")
_TABLES: Final = (
    "CREATE TABLE IF NOT EXISTS kept "
    "(number INTEGER PRIMARY KEY, stream TEXT NOT NULL, method TEXT NOT NULL, request BLOB NOT NULL)",
    "CREATE INDEX IF NOT EXISTS kept_in_order ON kept (stream, number)",
)


class OutboxError(TemporaryError):
    """The disk does not take a report that the server could not be told either."""


class OutboxFile:
    """One file, used by one thread at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        #: What was lost with a damaged file; empty when nothing was.
        self.damage = ""
        self._connection = self._opened()

    def execute(self, statement: str, values: tuple[object, ...] = ()) -> list[Any]:
        """The rows of a statement; on a new file when the old one turns out to be damaged."""
        try:
            try:
                return self._connection.execute(statement, values).fetchall()
            except sqlite3.DatabaseError as error:
                if not _is_damage(error):
                    raise
                self._connection.close()
                self._connection = self._replaced(error)
                return self._connection.execute(statement, values).fetchall()
        except sqlite3.Error as error:
            raise OutboxError(f"the disk does not take reports for the server now ({error}); make room") from error

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _opened(self) -> sqlite3.Connection:
        try:
            try:
                return _open(self._path)
            except sqlite3.DatabaseError as error:
                if not _is_damage(error):
                    raise
                return self._replaced(error)
        except (sqlite3.Error, OSError) as error:
            raise OutboxError(
                f"reports for the server cannot be stored in {self._path} ({error}); make the file writable"
            ) from error

    def _replaced(self, error: sqlite3.DatabaseError) -> sqlite3.Connection:
        lost = _readable_reports(self._path)
        aside = f"{self._path.name}.damaged-{datetime.now(UTC):%Y%m%dT%H%M%S}"
        for suffix in _SUFFIXES:
            with suppress(FileNotFoundError):
                self._path.with_name(f"{self._path.name}{suffix}").rename(self._path.with_name(f"{aside}{suffix}"))
        self.damage = (
            f"{self._path.name} was damaged ({error}) and is now {aside}; {lost} in it did not reach the server"
        )
        _log.error("the outbox was damaged and is replaced by an empty one", reason=self.damage)
        return _open(self._path)


def _open(path: Path) -> sqlite3.Connection:
    # Used by one thread at a time, but closed by another than opened it when the pool's thread has ended.
    file = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    try:
        path.chmod(0o600)
        file.execute("PRAGMA journal_mode=WAL")
        file.execute("PRAGMA synchronous=FULL")
        for statement in _TABLES:
            file.execute(statement)
        (first,) = file.execute("PRAGMA quick_check(1)").fetchone()
        if first != "ok":
            damage = sqlite3.DatabaseError(str(first).partition("\n")[0])
            damage.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
            raise damage
    except BaseException:
        file.close()
        raise
    return file


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    # The lowest byte is the result; those above it tell variants apart.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED


def _readable_reports(path: Path) -> str:
    """The number of reports in a damaged file, as far as it can be read."""
    count = 0
    try:
        with closing(sqlite3.connect(path)) as file:
            for _ in file.execute("SELECT number FROM kept NOT INDEXED"):
                count += 1
    except sqlite3.Error:
        return f"at least {count} reports" if count else "an unknown number of reports"
    return f"at least {count} reports"
