"""Rows that carry a noun: inserted, loaded, and changed while they are locked.

Each noun's module declares its `Rows` and adds the questions that only it is asked. A change is a function of
the model: what it refuses is raised and not written, and when it gives back the very object it was given,
nothing is written at all, so a repeated report costs a read. What is written is announced to whoever watches. What was
written last is remembered for nouns that are reported on all day: a document that is still the same needs no decoding.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeVar

import msgspec
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from fairway.server.store.changes import KINDS, announce
from fairway.server.store.documents import decode, encode
from fairway.server.store.errors import AlreadyExists, NotFound
from fairway.server.store.prepared import PreparedSelect, PreparedUpdate

T = TypeVar("T", bound=msgspec.Struct)

Columns = Mapping[str, str | int | bool | None]

#: A longer document is not remembered: decoding it again costs less than the memory for many.
_LONGEST_REMEMBERED = 64 * 1024


class _Written(msgspec.Struct, Generic[T], frozen=True):
    """What a row was left as."""

    document: str
    noun: T
    columns: Columns


class Rows(Generic[T]):
    """The rows of one noun. Its statements are made once: making one costs SQLAlchemy more than running it."""

    def __init__(
        self, table: sa.Table, noun: type[T], word: str, columns: Callable[[T], Columns], remembered: int = 0
    ) -> None:
        self.table = table
        self._noun = noun
        self._word = word
        #: `None` for what nobody watches.
        self._kind = KINDS.get(table.name)
        #: Everything but the document; `id` is one of them. They follow from the noun alone, and a change writes only
        #: those that differ: to make one of them otherwise takes a migration of the rows that are there.
        self._columns = columns
        self._insert = {dialect: _insert_new(table, dialect) for dialect in _INSERT}
        self._save = {dialect: _insert_or_replace(table, dialect) for dialect in _INSERT}
        of_id = table.c.id == sa.bindparam("row_id")
        document = sa.select(table.c.document).where(of_id)
        self._load = PreparedSelect(document)
        self._lock = PreparedSelect(document.with_for_update())
        self._update = sa.update(table).where(of_id)
        #: What a change is told by.
        self._named = [column for column in table.c if column.name in ("id", "project_id")]
        #: By the columns that they set; only a handful of combinations occur.
        self._updates: dict[tuple[str, ...], PreparedUpdate] = {}
        #: What was written last, by id; at most so many, the oldest goes. Several threads write on PostgreSQL.
        self._written: OrderedDict[str, _Written[T]] = OrderedDict()
        self._remembered = remembered

    def insert(self, connection: sa.Connection, value: T) -> None:
        """Store a new noun. A taken id is found without failing the transaction, so the caller may go on."""
        values = self._values(value)
        if not connection.execute(self._insert[connection.dialect.name], values).rowcount:
            raise AlreadyExists(self._word, str(values["id"]))
        self._announce(connection, values)

    def save(self, connection: sa.Connection, value: T) -> None:
        """Store a noun, whether there was one or not."""
        values = self._values(value)
        connection.execute(self._save[connection.dialect.name], values)
        self._announce(connection, values)

    def load(self, connection: sa.Connection, id: str) -> T:
        """The noun with this id; NotFound without one."""
        return decode(self._document(connection, id, self._load), self._noun)

    def update(self, connection: sa.Connection, id: str, change: Callable[[T], T]) -> T:
        """The noun as `change` makes it, stored; nobody else changes the row in between."""
        found, before = self._locked(connection, id)
        changed = change(found)
        if changed is not found:
            after = self._columns(changed)
            # A column that is set has its indexes written again, even when its value stays.
            values = {name: value for name, value in after.items() if value != before[name]}
            values["document"] = document = encode(changed)
            self._setting(tuple(values)).run(connection, {**values, "row_id": id})
            self._announce(connection, after)
            self._remember(id, _Written(document, changed, after))
        return changed

    def delete(self, connection: sa.Connection, id: str) -> bool:
        """Forget the noun with this id; whether there was one."""
        gone = sa.delete(self.table).where(self.table.c.id == id).returning(*self._named)
        row = connection.execute(gone).one_or_none()
        if row is not None:
            self._announce(connection, row._asdict())
        return row is not None

    def query(self, connection: sa.Connection, statement: sa.Select[Any], **parameters: str) -> tuple[T, ...]:
        """The nouns of a statement that selects documents."""
        return self.decoded(connection.execute(statement, parameters).scalars())

    def decoded(self, documents: Iterable[str]) -> tuple[T, ...]:
        """The nouns of documents that have been read already."""
        return tuple(decode(document, self._noun) for document in documents)

    def _announce(self, connection: sa.Connection, columns: Mapping[str, Any]) -> None:
        if self._kind is not None:
            announce(connection, self._kind, columns["id"], columns.get("project_id", ""))

    def _setting(self, columns: tuple[str, ...]) -> PreparedUpdate:
        if columns not in self._updates:
            self._updates[columns] = PreparedUpdate(self._update, columns)
        return self._updates[columns]

    def _document(self, connection: sa.Connection, id: str, statement: PreparedSelect) -> str:
        document = statement.one(connection, {"row_id": id})
        if document is None:
            raise NotFound(self._word, id)
        return document

    def _locked(self, connection: sa.Connection, id: str) -> tuple[T, Columns]:
        document, written = self._document(connection, id, self._lock), self._written.get(id)
        # Whoever wrote meanwhile, and whatever was undone: only what the row says counts.
        if written is not None and written.document == document:
            return written.noun, written.columns
        noun = decode(document, self._noun)
        return noun, self._columns(noun)

    def _remember(self, id: str, written: "_Written[T]") -> None:
        if self._remembered:
            self._written.pop(id, None)
            if len(written.document) > _LONGEST_REMEMBERED:
                return
            self._written[id] = written
            if len(self._written) > self._remembered:
                # In one step: to look for the oldest first fails when another thread adds one meanwhile.
                self._written.popitem(last=False)

    def _values(self, value: T) -> dict[str, str | int | bool | None]:
        return {**self._columns(value), "document": encode(value)}


#: An INSERT that can say what happens when the row exists. Both databases have it, SQL does not.
_INSERT: dict[str, Callable[[sa.Table], postgresql.Insert | sqlite.Insert]] = {
    "postgresql": postgresql.insert,
    "sqlite": sqlite.insert,
}


def upsert(connection: sa.Connection, table: sa.Table) -> postgresql.Insert | sqlite.Insert:
    """Such an INSERT, as the database of the connection writes it."""
    return _INSERT[connection.dialect.name](table)


def _insert_new(table: sa.Table, dialect: str) -> sa.Insert:
    return _INSERT[dialect](table).on_conflict_do_nothing().execution_options(preserve_rowcount=True)


def _insert_or_replace(table: sa.Table, dialect: str) -> sa.Insert:
    statement = _INSERT[dialect](table)
    replaced = {column.name: statement.excluded[column.name] for column in table.columns}
    return statement.on_conflict_do_update(index_elements=["id"], set_=replaced)
