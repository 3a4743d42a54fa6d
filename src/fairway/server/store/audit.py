"""The record of who changed what: only ever added to, and read newest first."""

from collections.abc import Iterator
from datetime import datetime

import msgspec
import sqlalchemy as sa

from fairway.model.audit import AuditRecord
from fairway.server.store.documents import in_span, to_microseconds
from fairway.server.store.page import Page, PageRequest, by_creation, cut_page
from fairway.server.store.rows import Columns, Rows
from fairway.server.store.tables import AUDIT


class AuditFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which records; what is empty or `None` lets all through."""

    #: Of these projects; the empty one stands for what holds for the whole server.
    project_ids: tuple[str, ...]
    actor: str = ""
    action: str = ""
    subject_id: str = ""
    #: From this moment on.
    since: datetime | None = None
    #: Before this moment.
    until: datetime | None = None


def insert_audit_record(connection: sa.Connection, record: AuditRecord) -> None:
    """Store a new record."""
    _ROWS.insert(connection, record)


def list_audit_records(connection: sa.Connection, filter: AuditFilter, page: PageRequest) -> Page[AuditRecord]:
    """One page of the records that fit, newest first."""
    conditions = tuple(_conditions(filter))
    statements = [
        sa.select(AUDIT.c.document).where(AUDIT.c.project_id == project_id, *conditions)
        for project_id in dict.fromkeys(filter.project_ids)
    ]
    return cut_page(connection, _ROWS, statements, by_creation(AUDIT), page)


def _columns(record: AuditRecord) -> Columns:
    return {
        "id": record.id,
        "project_id": record.project_id,
        "created_at": to_microseconds(record.created_at),
        "actor": record.actor,
        "action": record.action,
        "subject_id": record.subject_id,
    }


def _conditions(filter: AuditFilter) -> Iterator[sa.ColumnElement[bool]]:
    columns = AUDIT.c
    if filter.actor:
        yield columns.actor == filter.actor
    if filter.action:
        yield columns.action == filter.action
    if filter.subject_id:
        yield columns.subject_id == filter.subject_id
    yield from in_span(columns.created_at, filter.since, filter.until)


_ROWS = Rows(AUDIT, AuditRecord, "audit record", _columns)
