"""Applications: what agents ask for every minute and people page through.

A deleted application stays, because its deployments name it, but no list shows it again.
"""

from collections.abc import Callable, Iterator

import msgspec
import sqlalchemy as sa

from fairway.model.application import Application, ApplicationKind, SyncStatus
from fairway.model.live_state import Health
from fairway.server.store.changes import ChangeKind, announce
from fairway.server.store.documents import to_microseconds
from fairway.server.store.labels import EVERYTHING, Patterns, insert_labels, label_patterns, labelled, replace_labels
from fairway.server.store.page import Page, PageRequest, Sort, by_name, by_update, cut_page
from fairway.server.store.rows import Columns, Rows
from fairway.server.store.tables import APPLICATION_LABELS, APPLICATIONS


class ApplicationFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which applications of a project; what is empty or `None` lets all through."""

    project_id: str
    name: str = ""
    kinds: tuple[ApplicationKind, ...] = ()
    agent_id: str = ""
    disabled: bool | None = None
    sync_statuses: tuple[SyncStatus, ...] = ()
    healths: tuple[Health, ...] = ()
    #: All of them must fit.
    labels: dict[str, str] = {}
    #: Those that have all labels of one of these, by pattern.
    scope: Patterns = EVERYTHING


class ApplicationCount(msgspec.Struct, frozen=True, kw_only=True):
    """How many applications stand alike."""

    sync_status: SyncStatus
    health: Health
    disabled: bool
    count: int


def insert_application(connection: sa.Connection, application: Application) -> None:
    """Store a new application."""
    _ROWS.insert(connection, application)
    insert_labels(connection, APPLICATION_LABELS, application.id, application.labels)


def load_application(connection: sa.Connection, id: str) -> Application:
    """The application with this id, deleted ones too."""
    return _ROWS.load(connection, id)


def load_labels(connection: sa.Connection, id: str) -> dict[str, str]:
    """The labels of the application with this id; none where it is not there."""
    columns = APPLICATION_LABELS.c
    found = connection.execute(sa.select(columns.key, columns.value).where(columns.owner_id == id))
    return {row.key: row.value for row in found}


def update_application(connection: sa.Connection, id: str, change: Callable[[Application], Application]) -> Application:
    """The application as `change` makes it, stored."""
    before: list[Application] = []

    def remembering(found: Application) -> Application:
        before.append(found)
        return change(found)

    changed = _ROWS.update(connection, id, remembering)
    if changed.labels != before[0].labels:
        replace_labels(connection, APPLICATION_LABELS, id, changed.labels)
        announce(connection, ChangeKind.LABELS, id, changed.project_id)
    return changed


def list_agent_applications(connection: sa.Connection, agent_id: str) -> tuple[Application, ...]:
    """What an agent works on: its applications that are neither disabled nor deleted, by id."""
    mine = APPLICATIONS.c.agent_id == agent_id
    statement = sa.select(APPLICATIONS.c.document).where(mine, _KEPT, sa.not_(APPLICATIONS.c.disabled))
    return _ROWS.query(connection, statement.order_by(APPLICATIONS.c.id))


def list_enabled_applications(connection: sa.Connection, project_id: str) -> tuple[Application, ...]:
    """All applications of a project that are neither disabled nor deleted, by id.

    Not in pages: what changes while somebody pages through a list may not be met.
    """
    enabled = APPLICATIONS.c.project_id == project_id, _KEPT, sa.not_(APPLICATIONS.c.disabled)
    return _ROWS.query(connection, sa.select(APPLICATIONS.c.document).where(*enabled).order_by(APPLICATIONS.c.id))


def list_applications(connection: sa.Connection, filter: ApplicationFilter, page: PageRequest) -> Page[Application]:
    """One page of the applications that fit and are not deleted, newest change first or by name."""
    statement = sa.select(APPLICATIONS.c.document).where(_KEPT, *_conditions(connection, filter))
    order = by_name if page.sort is Sort.NAME else by_update
    return cut_page(connection, _ROWS, (statement,), order(APPLICATIONS), page)


def count_applications(connection: sa.Connection, project_id: str, scope: Patterns) -> tuple[ApplicationCount, ...]:
    """How many applications of a project stand how; deleted ones are not counted."""
    columns = APPLICATIONS.c
    alike = columns.sync_status, columns.health, columns.disabled
    seen = label_patterns(connection, APPLICATION_LABELS, columns.id, scope)
    statement = sa.select(*alike, sa.func.count()).where(_KEPT, columns.project_id == project_id, *seen)
    return tuple(
        ApplicationCount(sync_status=SyncStatus(status), health=Health(health), disabled=disabled, count=count)
        for status, health, disabled, count in connection.execute(statement.group_by(*alike))
    )


def note_health(connection: sa.Connection, id: str, health: Health) -> None:
    """Remember how well the application is; most of the time that is what is known already."""
    columns = APPLICATIONS.c
    changed = columns.id == id, columns.health != health.value
    connection.execute(sa.update(APPLICATIONS).where(*changed).values(health=health.value))


def find_by_path(
    connection: sa.Connection, project_id: str, repository_id: str, path: str, config_filename: str
) -> Application | None:
    """The application, not deleted, whose file this is."""
    found = _ROWS.query(
        connection,
        sa.select(APPLICATIONS.c.document)
        .where(
            _KEPT,
            APPLICATIONS.c.project_id == project_id,
            APPLICATIONS.c.repository_id == repository_id,
            APPLICATIONS.c.path == path,
            APPLICATIONS.c.config_filename == config_filename,
        )
        .order_by(APPLICATIONS.c.id)
        .limit(1),
    )
    return found[0] if found else None


def _columns(application: Application) -> Columns:
    return {
        "id": application.id,
        "project_id": application.project_id,
        "agent_id": application.agent_id,
        "name": application.name,
        "kind": application.kind.value if application.kind else "",
        "repository_id": application.git_path.repository.id,
        "path": application.git_path.path,
        "config_filename": application.git_path.config_filename,
        "disabled": application.disabled,
        "sync_status": (application.sync_state.status if application.sync_state else SyncStatus.UNKNOWN).value,
        "deleted_at": to_microseconds(application.deleted_at) if application.deleted_at else None,
        "updated_at": to_microseconds(application.updated_at),
    }


def _conditions(connection: sa.Connection, filter: ApplicationFilter) -> Iterator[sa.ColumnElement[bool]]:
    columns = APPLICATIONS.c
    yield columns.project_id == filter.project_id
    if filter.name:
        yield columns.name == filter.name
    if filter.kinds:
        yield columns.kind.in_([kind.value for kind in filter.kinds])
    if filter.agent_id:
        yield columns.agent_id == filter.agent_id
    if filter.disabled is not None:
        yield columns.disabled == filter.disabled
    if filter.sync_statuses:
        yield columns.sync_status.in_([status.value for status in filter.sync_statuses])
    if filter.healths:
        yield columns.health.in_([health.value for health in filter.healths])
    yield from labelled(APPLICATION_LABELS, columns.id, filter.labels)
    yield from label_patterns(connection, APPLICATION_LABELS, columns.id, filter.scope)


_KEPT = APPLICATIONS.c.deleted_at.is_(None)
_ROWS = Rows(APPLICATIONS, Application, "application", _columns)
