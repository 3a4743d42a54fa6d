"""Rows that carry a noun: inserted, loaded, and changed while they are locked.

Each noun's module declares its `Rows` and adds the questions that only it is asked. A change is a function of
the model: what it refuses is raised and not written, and when it gives back the very object it was given,
nothing is written at all, so a repeated report costs a read.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeVar

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from fairway.server.store.documents import decode, encode
from fairway.server.store.errors import AlreadyExists, NotFound

T = TypeVar("T", bound=msgspec.Struct)

Columns = Mapping[str, str | int | bool | None]


class Rows(Generic[T]):
    """The rows of one noun."""

    def __init__(self, table: sa.Table, noun: type[T], word: str, columns: Callable[[T], Columns]) -> None:
        self.table = table
        self._noun = noun
        self._word = word
        #: Everything but the document; `id` is one of them.
        self._columns = columns

    def insert(self, connection: sa.Connection, value: T) -> None:
        """Store a new noun. A taken id is found without failing the transaction, so the caller may go on."""
        values = self._values(value)
        statement = upsert(connection, self.table).values(values).on_conflict_do_nothing()
        if not connection.execute(statement.execution_options(preserve_rowcount=True)).rowcount:
            raise AlreadyExists(self._word, str(values["id"]))

    def save(self, connection: sa.Connection, value: T) -> None:
        """Store a noun, whether there was one or not."""
        values = self._values(value)
        statement = upsert(connection, self.table).values(values)
        connection.execute(statement.on_conflict_do_update(index_elements=["id"], set_=values))

    def load(self, connection: sa.Connection, id: str) -> T:
        """The noun with this id; NotFound without one."""
        return self._one(connection, id, sa.select(self.table.c.document))

    def update(self, connection: sa.Connection, id: str, change: Callable[[T], T]) -> T:
        """The noun as `change` makes it, stored; nobody else changes the row in between."""
        found = self._one(connection, id, sa.select(self.table.c.document).with_for_update())
        changed = change(found)
        if changed is not found:
            values = self._values(changed)
            connection.execute(sa.update(self.table).where(self.table.c.id == id).values(values))
        return changed

    def query(self, connection: sa.Connection, statement: sa.Select[Any]) -> tuple[T, ...]:
        """The nouns of a statement that selects documents."""
        return self.decoded(connection.execute(statement).scalars())

    def decoded(self, documents: Iterable[str]) -> tuple[T, ...]:
        """The nouns of documents that have been read already."""
        return tuple(decode(document, self._noun) for document in documents)

    def _one(self, connection: sa.Connection, id: str, statement: sa.Select[str]) -> T:
        document = connection.execute(statement.where(self.table.c.id == id)).scalar_one_or_none()
        if document is None:
            raise NotFound(self._word, id)
        return decode(document, self._noun)

    def _values(self, value: T) -> dict[str, str | int | bool | None]:
        return {**self._columns(value), "document": encode(value)}


def upsert(connection: sa.Connection, table: sa.Table) -> postgresql.Insert | sqlite.Insert:
    """An INSERT that can say what happens when the row exists; both databases have it, SQL does not."""
    return postgresql.insert(table) if connection.dialect.name == "postgresql" else sqlite.insert(table)
