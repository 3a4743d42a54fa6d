"""Long lists in pages, newest change first, each page found through an index and not by counting rows.

A cursor names the last row of a page by what it is ordered by. A row that changes while somebody pages moves to the
front and is not met again; every row that stays as it is, is met exactly once. The last page has an empty cursor.
"""

import base64
import binascii
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import msgspec
import sqlalchemy as sa

from fairway.server.store.errors import UnusableInput
from fairway.server.store.rows import Rows

T = TypeVar("T", bound=msgspec.Struct)
P = TypeVar("P", bound=msgspec.Struct)

#: What a page holds when nobody says, and what it holds at most.
DEFAULT_LIMIT = 50
LARGEST_LIMIT = 1000


class PageRequest(msgspec.Struct, frozen=True):
    """Which page is wanted."""

    #: Of the page before; empty for the first.
    cursor: str = ""
    #: 0 means the default. More than the largest gives the largest.
    limit: int = 0

    @property
    def size(self) -> int:
        """How many rows the page may have."""
        return min(self.limit, LARGEST_LIMIT) if self.limit > 0 else DEFAULT_LIMIT


class Page(msgspec.Struct, Generic[T], frozen=True):
    """Some of a list, in its order."""

    items: tuple[T, ...]
    #: For the next page; empty when this is the last.
    cursor: str


class _Position(msgspec.Struct, frozen=True, array_like=True):
    """What a row is ordered by."""

    time: int
    id: str


class _Place(msgspec.Struct, frozen=True, array_like=True):
    """The same in a list by name."""

    name: str
    id: str


def page_by_update(
    connection: sa.Connection, rows: Rows[T], statement: sa.Select[Any], request: PageRequest
) -> Page[T]:
    """The wanted page of the rows that fit the statement's conditions, by update, newest first."""
    return merged_page(connection, rows, [statement], (rows.table.c.updated_at, rows.table.c.id), request)


def page_by_creation(
    connection: sa.Connection, rows: Rows[T], statement: sa.Select[Any], request: PageRequest
) -> Page[T]:
    """The same, oldest first by creation: for lists of work, where a change must not hide a row."""
    time, id = rows.table.c.created_at, rows.table.c.id
    if request.cursor:
        after = _read(request.cursor)
        statement = statement.where(time >= after.time, sa.or_(time > after.time, id > after.id))
    return _cut(connection, rows, statement.order_by(time, id), time, request.size)


def page_newest_first(
    connection: sa.Connection, rows: Rows[T], statements: Sequence[sa.Select[Any]], request: PageRequest
) -> Page[T]:
    """The same, newest first by creation, of the rows that fit one of the statements; no row may fit two."""
    return merged_page(connection, rows, statements, (rows.table.c.created_at, rows.table.c.id), request)


def page_by_name(connection: sa.Connection, rows: Rows[T], statement: sa.Select[Any], request: PageRequest) -> Page[T]:
    """The wanted page of the rows that fit the statement's conditions, by name."""
    name, id = rows.table.c.name, rows.table.c.id
    if request.cursor:
        after = _decoded(request.cursor, _Place)
        statement = statement.where(name >= after.name, sa.or_(name > after.name, id > after.id))
    wanted = statement.with_only_columns(rows.table.c.document, name, id).order_by(name, id).limit(request.size + 1)
    found = connection.execute(wanted).all()
    items = rows.decoded(document for document, _, _ in found[: request.size])
    if len(found) <= request.size:
        return Page(items=items, cursor="")
    _, last_name, last_id = found[request.size - 1]
    return Page(items=items, cursor=_write(_Place(last_name, last_id)))


def merged_page(
    connection: sa.Connection,
    rows: Rows[T],
    statements: Sequence[sa.Select[Any]],
    order: tuple[sa.Column[int], sa.Column[str]],
    request: PageRequest,
) -> Page[T]:
    """The wanted page of the rows that fit one of the statements, newest first by these two columns.

    Each statement is asked by itself, because a database that is asked for several at once sorts all of their rows.
    The columns may be copies in another table that the statements join, where that has the index.
    """
    time, id = order
    after = _read(request.cursor) if request.cursor else None
    found: list[tuple[int, str, str]] = []
    for statement in statements:
        if after is not None:
            # Said this way round, because a database seeks an index by `<=` and not by an `or`.
            statement = statement.where(time <= after.time, sa.or_(time < after.time, id > after.id))
        wanted = statement.with_only_columns(time, id, rows.table.c.document).order_by(time.desc(), id)
        found.extend((row[0], row[1], row[2]) for row in connection.execute(wanted.limit(request.size + 1)))
    found.sort(key=lambda row: (-row[0], row[1]))
    items = rows.decoded(document for _, _, document in found[: request.size])
    if len(found) <= request.size:
        return Page(items=items, cursor="")
    last_time, last_id, _ = found[request.size - 1]
    return Page(items=items, cursor=_write(_Position(last_time, last_id)))


def _cut(
    connection: sa.Connection, rows: Rows[T], statement: sa.Select[Any], time: sa.Column[int], size: int
) -> Page[T]:
    wanted = statement.with_only_columns(rows.table.c.document, time, rows.table.c.id).limit(size + 1)
    found = connection.execute(wanted).all()
    items = rows.decoded(document for document, _, _ in found[:size])
    if len(found) <= size:
        return Page(items=items, cursor="")
    _, last_time, last_id = found[size - 1]
    return Page(items=items, cursor=_write(_Position(last_time, last_id)))


def _write(position: _Position | _Place) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(position)).decode()


def _read(cursor: str) -> _Position:
    position = _decoded(cursor, _Position)
    if not -(2**63) <= position.time < 2**63:
        raise UnusableInput(f"{cursor!r} is no cursor of this list; use one that a page gave, or none")
    return position


def _decoded(cursor: str, kind: type[P]) -> P:
    try:
        return msgspec.json.decode(base64.urlsafe_b64decode(cursor.encode()), type=kind)
    except (msgspec.DecodeError, binascii.Error, UnicodeError) as error:
        raise UnusableInput(f"{cursor!r} is no cursor; use one that a page gave, or none for the first page") from error
