"""What callers are told when the database fails: whose fault it is, and whether to try again."""

import sqlite3

import psycopg
import pytest
import sqlalchemy as sa

from fairway.errors import FairwayError
from fairway.server.store.errors import StoreUnavailable, UnusableDatabase, UnusableInput, in_our_words


def sqlite_error(code: int, words: str) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError(words)
    error.sqlite_errorcode = code
    return error


def wrapped(kind: type[sa.exc.DBAPIError], original: Exception) -> sa.exc.DBAPIError:
    return kind("SELECT 'secret'", {}, original)


@pytest.mark.parametrize(
    ("error", "wanted"),
    [
        pytest.param(
            wrapped(sa.exc.OperationalError, sqlite_error(sqlite3.SQLITE_BUSY, "database is locked")),
            StoreUnavailable("the database did not do it now (database is locked); try again"),
            id="locked",
        ),
        pytest.param(
            wrapped(sa.exc.OperationalError, sqlite_error(sqlite3.SQLITE_FULL, "database or disk is full")),
            StoreUnavailable("the database did not do it now (database or disk is full); try again"),
            id="full",
        ),
        pytest.param(
            sqlite_error(sqlite3.SQLITE_CANTOPEN, "unable to open database file"),
            StoreUnavailable("the database did not do it now (unable to open database file); try again"),
            id="the driver itself",
        ),
        pytest.param(
            wrapped(sa.exc.DatabaseError, sqlite_error(sqlite3.SQLITE_CORRUPT | 1 << 8, "malformed")),
            UnusableDatabase("the database is damaged or is none (malformed); restore a backup"),
            id="a variant of damage",
        ),
        pytest.param(
            wrapped(sa.exc.OperationalError, psycopg.OperationalError("connection refused\nIs it running?")),
            StoreUnavailable("the database did not do it now (connection refused); try again"),
            id="only the first line",
        ),
        pytest.param(
            wrapped(sa.exc.DataError, psycopg.DataError("NUL")),
            UnusableInput("the database cannot hold a value of the request (NUL); send text without NUL bytes"),
            id="input",
        ),
    ],
)
def test_a_database_error_becomes_one_of_ours(
    error: sa.exc.SQLAlchemyError | sqlite3.DatabaseError, wanted: FairwayError
) -> None:
    ours = in_our_words(error)

    assert (type(ours), str(ours)) == (type(wanted), str(wanted))


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(
            wrapped(sa.exc.OperationalError, sqlite_error(sqlite3.SQLITE_ERROR, "no such column")), id="SQLite"
        ),
        pytest.param(wrapped(sa.exc.ProgrammingError, psycopg.errors.UndefinedColumn("x")), id="PostgreSQL"),
        pytest.param(wrapped(sa.exc.IntegrityError, psycopg.errors.NotNullViolation("x")), id="a constraint"),
    ],
)
def test_a_mistake_of_ours_is_let_through(error: sa.exc.DBAPIError) -> None:
    assert in_our_words(error) is None
