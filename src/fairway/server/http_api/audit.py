"""The record of who changed what: page by page as JSON, and all that fits a filter as a file.

A file is read from the store a page at a time while it is sent, so a record of years needs no more memory than one of
a day. A spreadsheet takes a cell that begins like a formula for one; such a cell gets an apostrophe before it.
"""

import csv
import enum
import io
from collections.abc import AsyncIterator, Callable

import msgspec
from litestar import get
from litestar.di import NamedDependency, Provide
from litestar.params import FromQuery
from litestar.response import Stream

from fairway.model.audit import AuditRecord
from fairway.server.actions import reading
from fairway.server.http_api.desk import ApiRequest, desk_of
from fairway.server.http_api.errors import REFUSALS
from fairway.server.http_api.query import TimeQuery, a_moment, known_words, ordered_page
from fairway.server.store.audit import AuditFilter
from fairway.server.store.page import Page, PageRequest

#: Records that are read at a time for a file.
_AT_A_TIME = 500
_COLUMNS = AuditRecord.__struct_fields__
#: How a cell begins that a spreadsheet would calculate.
_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")


class AuditPage(msgspec.Struct, frozen=True):
    """Some records, newest first."""

    items: tuple[AuditRecord, ...]
    #: For the next page; empty when this is the last.
    next_cursor: str


class ExportFormat(enum.Enum):
    """What a file of records looks like."""

    #: One JSON object on each line.
    JSONL = "jsonl"
    #: A table with a line of names at its head.
    CSV = "csv"


async def audit_filter(
    request: ApiRequest,
    actor: FromQuery[str] = "",
    action: FromQuery[str] = "",
    subject_id: FromQuery[str] = "",
    since: TimeQuery = None,
    until: TimeQuery = None,
) -> AuditFilter:
    """Which records are asked for."""
    return AuditFilter(
        project_ids=(request.auth.project_id, ""),
        actor=actor,
        action=action,
        subject_id=subject_id,
        since=a_moment("since", since),
        until=a_moment("until", until),
    )


@get(
    "/audit",
    summary="Who changed what.",
    tags=["audit"],
    responses=REFUSALS,
    dependencies={"wanted": Provide(audit_filter), "asked": Provide(ordered_page)},
)
async def list_audit_records(
    request: ApiRequest, wanted: NamedDependency[AuditFilter], asked: NamedDependency[PageRequest]
) -> AuditPage:
    """Newest first, of the project and of what holds for the whole server; from `since` on and before `until`."""
    found = await reading.list_audit_records(desk_of(request).actions, request.auth, wanted, asked)
    return AuditPage(found.items, found.cursor)


@get(
    "/audit/export",
    summary="Who changed what, as a file.",
    tags=["audit"],
    responses=REFUSALS,
    dependencies={"wanted": Provide(audit_filter)},
)
async def export_audit_records(
    request: ApiRequest, wanted: NamedDependency[AuditFilter], format: FromQuery[str] = "jsonl"
) -> Stream:
    """All records that fit, newest first: `jsonl`, an object on each line, or `csv`."""
    (kind,) = known_words("format", [format], ExportFormat)
    # Read before the answer begins, so that whoever may not is told so.
    first = await _page(request, wanted, "")
    form = _FORMS[kind]
    return Stream(
        _file(request, wanted, first, form),
        media_type=form.media_type,
        headers={"content-disposition": f'attachment; filename="audit.{kind.value}"'},
    )


async def _file(
    request: ApiRequest, wanted: AuditFilter, first: Page[AuditRecord], form: "_Form"
) -> AsyncIterator[bytes]:
    found = first
    yield form.head + form.lines(found)
    while found.cursor:
        found = await _page(request, wanted, found.cursor)
        yield form.lines(found)


async def _page(request: ApiRequest, wanted: AuditFilter, cursor: str) -> Page[AuditRecord]:
    asked = PageRequest(cursor, _AT_A_TIME)
    return await reading.list_audit_records(desk_of(request).actions, request.auth, wanted, asked)


def _jsonl(found: Page[AuditRecord]) -> bytes:
    return b"".join(msgspec.json.encode(record) + b"\n" for record in found.items)


def _csv(found: Page[AuditRecord]) -> bytes:
    return _table([[_cell(getattr(record, column)) for column in _COLUMNS] for record in found.items])


def _table(rows: list[list[str]] | list[tuple[str, ...]]) -> bytes:
    written = io.StringIO()
    csv.writer(written).writerows(rows)
    return written.getvalue().encode()


def _cell(value: object) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode().strip('"')
    return f"'{text}" if text.startswith(_FORMULAS) else text


class _Form(msgspec.Struct, frozen=True):
    """How a file is written."""

    media_type: str
    #: What stands before the records.
    head: bytes
    lines: Callable[[Page[AuditRecord]], bytes]


_FORMS = {
    ExportFormat.JSONL: _Form("application/jsonl", b"", _jsonl),
    ExportFormat.CSV: _Form("text/csv", _table([_COLUMNS]), _csv),
}

ROUTES = (list_audit_records, export_audit_records)
