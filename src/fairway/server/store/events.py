"""Events from outside, as agents ask for them: those of a span of time, or the newest of a key."""

from collections.abc import Callable, Iterator
from datetime import datetime

import msgspec
import sqlalchemy as sa

from fairway.model.event import Event, EventStatus
from fairway.server.store.documents import in_span, to_microseconds
from fairway.server.store.labels import EVERYTHING, Patterns, document_label_patterns
from fairway.server.store.page import Page, PageRequest, by_creation, cut_page
from fairway.server.store.rows import Columns, Rows
from fairway.server.store.tables import EVENTS


class EventFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which events of a project; what is empty or `None` lets all through."""

    project_id: str
    name: str = ""
    status: EventStatus | None = None
    #: From this moment on.
    since: datetime | None = None
    #: Before this moment.
    until: datetime | None = None
    #: Those that have all labels of one of these, by pattern.
    scope: Patterns = EVERYTHING


def insert_event(connection: sa.Connection, event: Event) -> None:
    """Store a new event."""
    _ROWS.insert(connection, event)


def load_event(connection: sa.Connection, id: str) -> Event:
    """The event with this id."""
    return _ROWS.load(connection, id)


def update_event(connection: sa.Connection, id: str, change: Callable[[Event], Event]) -> Event:
    """The event as `change` makes it, stored."""
    return _ROWS.update(connection, id, change)


def list_events(
    connection: sa.Connection,
    project_id: str,
    since: datetime | None,
    until: datetime | None,
    status: EventStatus | None,
    newest_first: bool,
) -> tuple[Event, ...]:
    """The events created from `since` and before `until`, in order of creation; `None` leaves an end open."""
    columns = EVENTS.c
    in_time = in_span(columns.created_at, since, until)
    statement = sa.select(columns.document).where(columns.project_id == project_id, *in_time)
    if status is not None:
        statement = statement.where(columns.status == status.value)
    order = (columns.created_at.desc(), columns.id.desc()) if newest_first else (columns.created_at, columns.id)
    return _ROWS.query(connection, statement.order_by(*order))


def page_events(connection: sa.Connection, filter: EventFilter, page: PageRequest) -> Page[Event]:
    """One page of the events that fit, newest first."""
    statement = sa.select(EVENTS.c.document).where(*_conditions(connection, filter))
    return cut_page(connection, _ROWS, (statement,), by_creation(EVENTS), page)


def latest_event(connection: sa.Connection, project_id: str, event_key: str) -> Event | None:
    """The newest event with this key."""
    columns = EVENTS.c
    statement = sa.select(columns.document).where(columns.project_id == project_id, columns.key == event_key)
    found = _ROWS.query(connection, statement.order_by(columns.created_at.desc(), columns.id).limit(1))
    return found[0] if found else None


def delete_handled_events(connection: sa.Connection, project_id: str, created_before: datetime, limit: int) -> int:
    """Forget some events that are that old and were acted on; how many.

    The newest of each key stays: agents compare it with what Git says.
    """
    columns, newer = EVENTS.c, EVENTS.alias("newer")
    is_newer = sa.or_(newer.c.created_at > columns.created_at, newer.c.id < columns.id)
    replaced = sa.exists().where(
        newer.c.project_id == columns.project_id,
        newer.c.key == columns.key,
        newer.c.created_at >= columns.created_at,
        is_newer,
    )
    old = columns.project_id == project_id, columns.created_at < to_microseconds(created_before)
    acted_on = columns.status != EventStatus.WAITING.value
    statement = sa.select(columns.id).where(*old, acted_on, replaced).order_by(columns.created_at).limit(limit)
    ids = connection.execute(statement).scalars().all()
    if ids:
        connection.execute(sa.delete(EVENTS).where(columns.id.in_(ids)))
    return len(ids)


def _conditions(connection: sa.Connection, filter: EventFilter) -> Iterator[sa.ColumnElement[bool]]:
    columns = EVENTS.c
    yield columns.project_id == filter.project_id
    if filter.name:
        yield columns.name == filter.name
    if filter.status is not None:
        yield columns.status == filter.status.value
    yield from in_span(columns.created_at, filter.since, filter.until)
    yield from document_label_patterns(connection, columns.document, filter.scope)


def _columns(event: Event) -> Columns:
    return {
        "id": event.id,
        "project_id": event.project_id,
        "key": event.key,
        "name": event.name,
        "status": event.status.value,
        "created_at": to_microseconds(event.created_at),
    }


_ROWS = Rows(EVENTS, Event, "event", _columns)
