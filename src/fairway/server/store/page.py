"""Long lists in pages, each found through an index and not by counting rows.

A cursor names the last row of a page by what it is ordered by, and the order itself. Where that is the last change,
newest first, a row that changes while somebody pages moves to the front and is not met again; every row that stays as
it is, is met exactly once. The last page has an empty cursor. A list in its other direction is read from the other end
of the same index.

A page has a limited number of bytes, too: it ends early where documents are large, and its cursor goes on behind them.
"""

import base64
import binascii
import enum
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, Generic, NamedTuple, Self, TypeVar

import msgspec
import sqlalchemy as sa

from fairway.server.store.errors import NotFound, UnusableInput
from fairway.server.store.rows import Rows

T = TypeVar("T", bound=msgspec.Struct)

#: What a page holds when nobody says, and what it holds at most.
DEFAULT_LIMIT = 50
LARGEST_LIMIT = 1000
#: What the documents of a page have together, in bytes; one that is larger is a page by itself.
PAGE_BYTES = 4 * 1024 * 1024
#: A document that is longer is read by itself, where the page has room for it: a database gives all rows at once.
_SHORT = 64 * 1024


class Sort(enum.Enum):
    """What a list can be sorted by; each list says which of them."""

    #: The last change, newest first.
    LAST_CHANGE = "updated_at"
    #: The beginning, newest first.
    CREATION = "created_at"
    #: From A to Z.
    NAME = "name"


class PageRequest(msgspec.Struct, frozen=True):
    """Which page is wanted."""

    #: Of the page before; empty for the first.
    cursor: str = ""
    #: 0 means the default. More than the largest gives the largest.
    limit: int = 0
    #: `None` is as the list does it by itself.
    sort: Sort | None = None
    #: Whether what is oldest, or first in the alphabet, comes first; `None` is as the sort does it by itself.
    ascending: bool | None = None

    @property
    def size(self) -> int:
        """How many rows the page may have."""
        return min(self.limit, LARGEST_LIMIT) if self.limit > 0 else DEFAULT_LIMIT


class Page(msgspec.Struct, Generic[T], frozen=True):
    """Some of a list, in its order."""

    items: tuple[T, ...]
    #: For the next page; empty when this is the last.
    cursor: str


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What a list is ordered by, as an index has it."""

    #: A time or a name. Both columns may be copies in another table that is joined, where that has the index.
    key: sa.Column[Any]
    #: Among equals, by id.
    id: sa.Column[str]
    ascending: bool = False
    #: Whether ids stand in an index the other way round than they are wanted.
    ids_descend: bool = False
    #: What its cursors call it; nothing where nobody asked for another order than the list has by itself.
    name: str = ""

    def asked(self, request: PageRequest) -> Self:
        """The same, or the reverse of it where that is wanted."""
        if request.ascending in (None, self.ascending):
            return self
        name = f"{self.name} reversed".lstrip()
        return msgspec.structs.replace(self, ascending=not self.ascending, ids_descend=not self.ids_descend, name=name)

    def after(self, position: "_Position") -> tuple[sa.ColumnElement[bool], ...]:
        """Which rows follow a position. Said this way, because a database seeks an index by `<=` and not by an `or`."""
        key, id = self.key, self.id
        behind = id < position.id if self.ids_descend else id > position.id
        if self.ascending:
            return key >= position.key, sa.or_(key > position.key, behind)
        return key <= position.key, sa.or_(key < position.key, behind)

    def clauses(self) -> tuple[sa.ColumnElement[Any], ...]:
        """The same for a statement."""
        id = self.id.desc() if self.ids_descend else self.id.asc()
        return self.key.asc() if self.ascending else self.key.desc(), id


class _Position(msgspec.Struct, frozen=True, array_like=True):
    """What the last row of a page is ordered by."""

    key: int | str
    id: str
    order: str = ""


class _Row(NamedTuple):
    key: int | str
    id: str
    size: int
    #: None where it is long.
    document: str | None


def by_update(table: sa.Table) -> Order:
    """Newest change first."""
    return Order(key=table.c.updated_at, id=table.c.id)


def by_creation(table: sa.Table) -> Order:
    """Newest first."""
    return Order(key=table.c.created_at, id=table.c.id)


def oldest_first(table: sa.Table) -> Order:
    """For lists of work, where a change must not hide a row."""
    return Order(key=table.c.created_at, id=table.c.id, ascending=True)


def by_name(table: sa.Table) -> Order:
    """From A to Z."""
    return Order(key=table.c.name, id=table.c.id, ascending=True)


def cut_page(
    connection: sa.Connection, rows: Rows[T], statements: Sequence[sa.Select[Any]], order: Order, request: PageRequest
) -> Page[T]:
    """The wanted page of the rows that fit one of the statements; no row may fit two.

    Each statement is asked by itself, because a database that is asked for several at once sorts all of their rows.
    """
    order = order.asked(request)
    after = order.after(_read(request.cursor, order)) if request.cursor else ()
    found: list[_Row] = []
    for statement in statements:
        size, document = _SIZE[connection.dialect.name](rows.table.c.document), rows.table.c.document
        short = sa.case((size <= _SHORT, document))
        wanted = statement.with_only_columns(order.key, order.id, size, short).where(*after)
        cut = wanted.order_by(*order.clauses()).limit(request.size + 1)
        found.extend(_Row(*row) for row in connection.execute(cut))
    if len(statements) > 1:
        found.sort(key=lambda row: row.id, reverse=order.ids_descend)
        found.sort(key=lambda row: row.key, reverse=not order.ascending)
    taken = found[: _count(found[: request.size])]
    items = tuple(item for row in taken for item in _items(connection, rows, row))
    if len(taken) == len(found):
        return Page(items=items, cursor="")
    return Page(items=items, cursor=_write(_Position(taken[-1].key, taken[-1].id, order.name)))


def _count(found: Sequence[_Row]) -> int:
    """How many of the rows have room on one page."""
    for count, total in enumerate(accumulate(row.size for row in found)):
        if count and total > PAGE_BYTES:
            return count
    return len(found)


def _items(connection: sa.Connection, rows: Rows[T], row: _Row) -> tuple[T, ...]:
    """The noun of a row; none where it is long and was removed meanwhile."""
    if row.document is not None:
        return rows.decoded((row.document,))
    try:
        return (rows.load(connection, row.id),)
    except NotFound:
        return ()


#: The bytes of a document, found without reading it where the database can; SQLite counts characters.
_SIZE = {"postgresql": sa.func.octet_length, "sqlite": sa.func.length}


def _write(position: _Position) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(position)).decode()


def _read(cursor: str, order: Order) -> _Position:
    try:
        position = msgspec.json.decode(base64.urlsafe_b64decode(cursor.encode()), type=_Position)
    except (msgspec.DecodeError, binascii.Error, UnicodeError) as error:
        raise UnusableInput(f"{cursor!r} is no cursor; use one that a page gave, or none for the first page") from error
    if position.order != order.name:
        raise UnusableInput(
            f"{cursor!r} is no cursor of a list in this order; ask for each page in the order of the first"
        )
    is_time = isinstance(position.key, int) and -(2**63) <= position.key < 2**63
    if not (is_time if isinstance(order.key.type, sa.BigInteger) else isinstance(position.key, str)):
        raise UnusableInput(f"{cursor!r} is no cursor of this list; use one that a page gave, or none")
    return position
