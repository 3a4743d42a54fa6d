"""What can go wrong with the store, and how the database's own errors become ours.

    UserError
    ├── NotFound          no such object
    ├── AlreadyExists     an object with that id is there
    ├── UnusableInput     a value or a cursor that cannot be looked for
    └── UnusableDatabase  a database that this Fairway must not, or cannot, open
    TemporaryError
    └── StoreUnavailable  locked, full, restarting or gone: the same call may succeed later

An error that none of these fit is a mistake in our SQL and is let through as it is.
"""

import sqlite3

import sqlalchemy as sa

from fairway.errors import FairwayError, TemporaryError, UserError

#: SQLite's results for a file that is not, or no longer, a database.
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
#: SQLite's "operational" results that are mistakes of ours: SQL it does not know, a write among reads.
_MISTAKES = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_READONLY}


#: A busy, full, restarting or lost database; the driver's own error where it cannot even connect.
_PASSING = (sa.exc.OperationalError, sa.exc.InterfaceError, sa.exc.TimeoutError, sqlite3.OperationalError)
#: What a store that was closed answers.
CLOSED = "the store has been closed; open it again"


class NotFound(UserError):
    """There is no such object."""

    def __init__(self, noun: str, id: str) -> None:
        super().__init__(f"there is no {noun} {id!r}; check the id, or whether it has been deleted")


class AlreadyExists(UserError):
    """An object with that id is already there."""

    def __init__(self, noun: str, id: str) -> None:
        super().__init__(f"{noun} {id!r} exists already; change that one, or choose another id")


class UnusableInput(UserError):
    """A value that cannot be stored or looked for."""


class UnusableDatabase(UserError):
    """A database that this Fairway must not, or cannot, open."""


class StoreUnavailable(TemporaryError):
    """The database does not answer now."""


def in_our_words(error: sa.exc.SQLAlchemyError | sqlite3.DatabaseError) -> FairwayError | None:
    """The error that callers get for one of the database; `None` for what is a mistake of ours."""
    original = error.orig if isinstance(error, sa.exc.DBAPIError) else error
    said = str(original).partition("\n")[0]
    # The lowest byte is the result; those above it tell variants apart.
    result = getattr(original, "sqlite_errorcode", 0) & 0xFF
    if result in _DAMAGED:
        return UnusableDatabase(f"the database is damaged or is none ({said}); restore a backup")
    if result in _MISTAKES:
        return None
    if isinstance(error, sa.exc.DataError):
        return UnusableInput(f"the database cannot hold a value of the request ({said}); send text without NUL bytes")
    if isinstance(error, _PASSING):
        return StoreUnavailable(f"the database did not do it now ({said}); try again")
    return None
