"""Statements that every report needs: SQLAlchemy writes them once, and SQLite's driver is given them as they stand.

To hand over a statement costs SQLAlchemy more than ten times what SQLite needs to find a row by its id. PostgreSQL is
another process, beside whose answer that is little, so its statements go the usual way. Only for columns whose values
both sides take as they are: text, whole numbers, truth. A transaction must have begun; the driver begins none.
"""

import sqlite3
from collections.abc import Mapping, Sequence

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

Parameters = Mapping[str, str | int | bool | None]

_DIALECT = sqlite.dialect()


class PreparedSelect:
    """A statement that finds rows of one text."""

    def __init__(self, statement: sa.Select[str]) -> None:
        self._statement = statement
        self._on_sqlite = _OnSQLite(statement)

    def one(self, connection: sa.Connection, parameters: Parameters) -> str | None:
        """The text of the only row, or None where there is no row."""
        driver = connection.connection.driver_connection
        if not isinstance(driver, sqlite3.Connection):
            return connection.execute(self._statement, parameters).scalar_one_or_none()
        row: tuple[str] | None = self._on_sqlite.run(driver, parameters).fetchone()
        return None if row is None else row[0]

    def all(self, connection: sa.Connection, parameters: Parameters) -> list[str]:
        """The text of each row."""
        driver = connection.connection.driver_connection
        if not isinstance(driver, sqlite3.Connection):
            return list(connection.execute(self._statement, parameters).scalars())
        return [text for (text,) in self._on_sqlite.run(driver, parameters)]


class PreparedUpdate:
    """A statement that sets these columns."""

    def __init__(self, statement: sa.Update, columns: Sequence[str]) -> None:
        self._statement = statement
        self._on_sqlite = _OnSQLite(statement, columns)

    def run(self, connection: sa.Connection, parameters: Parameters) -> None:
        """Set them to the parameters of the same names."""
        driver = connection.connection.driver_connection
        if isinstance(driver, sqlite3.Connection):
            self._on_sqlite.run(driver, parameters)
        else:
            connection.execute(self._statement, parameters)


class _OnSQLite:
    def __init__(self, statement: sa.Select[str] | sa.Update, columns: Sequence[str] | None = None) -> None:
        compiled = statement.compile(dialect=_DIALECT, column_keys=columns)
        self._text = str(compiled)
        #: The names of the parameters in the order of the question marks.
        self._names = tuple(compiled.positiontup or ())

    def run(self, driver: sqlite3.Connection, parameters: Parameters) -> sqlite3.Cursor:
        return driver.execute(self._text, [parameters[name] for name in self._names])
