"""Deployments: the open ones that agents ask for every few seconds, and the many that have ended.

Whether a report may change a deployment is the model's table; it is asked while the row is locked
(`update_deployment`), so two reports at once are judged one after the other.
"""

from collections.abc import Callable, Collection, Iterator
from datetime import datetime

import msgspec
import sqlalchemy as sa

from fairway.model.application import ApplicationKind
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.server.store.documents import to_microseconds
from fairway.server.store.labels import insert_labels, labelled
from fairway.server.store.page import Page, PageRequest, page_by_creation, page_by_update
from fairway.server.store.rows import Columns, Rows
from fairway.server.store.tables import DEPLOYMENT_LABELS, DEPLOYMENTS


class DeploymentFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which deployments of a project; what is empty lets all through."""

    project_id: str
    statuses: tuple[DeploymentStatus, ...] = ()
    kinds: tuple[ApplicationKind, ...] = ()
    application_ids: tuple[str, ...] = ()
    application_name: str = ""
    #: All of them must fit.
    labels: dict[str, str] = {}


def insert_deployment(connection: sa.Connection, deployment: Deployment) -> None:
    """Store a new deployment. Its labels are those of its beginning: they never change."""
    _ROWS.insert(connection, deployment)
    insert_labels(connection, DEPLOYMENT_LABELS, deployment.id, deployment.labels)


def load_deployment(connection: sa.Connection, id: str) -> Deployment:
    """The deployment with this id."""
    return _ROWS.load(connection, id)


def update_deployment(connection: sa.Connection, id: str, change: Callable[[Deployment], Deployment]) -> Deployment:
    """The deployment as `change` makes it, stored."""
    return _ROWS.update(connection, id, change)


def list_open_deployments(connection: sa.Connection, agent_id: str, cursor: str, limit: int) -> Page[Deployment]:
    """What an agent has to work on, oldest first. Ordered by what never changes: a report hides nothing."""
    mine = DEPLOYMENTS.c.agent_id == agent_id
    statement = sa.select(DEPLOYMENTS.c.document).where(mine, DEPLOYMENTS.c.completed_at.is_(None))
    return page_by_creation(connection, _ROWS, statement, PageRequest(cursor, limit))


def list_deployments(connection: sa.Connection, filter: DeploymentFilter, page: PageRequest) -> Page[Deployment]:
    """One page of the deployments that fit."""
    statement = sa.select(DEPLOYMENTS.c.document).where(*_conditions(filter))
    return page_by_update(connection, _ROWS, statement, page)


def last_deployment(connection: sa.Connection, application_id: str, only_succeeded: bool) -> Deployment | None:
    """The application's deployment that was created last, or last of those that succeeded."""
    columns = DEPLOYMENTS.c
    statement = sa.select(columns.document).where(columns.application_id == application_id)
    if only_succeeded:
        statement = statement.where(columns.status == DeploymentStatus.SUCCEEDED.value)
    found = _ROWS.query(connection, statement.order_by(columns.created_at.desc(), columns.id).limit(1))
    return found[0] if found else None


def list_finished_deployments(
    connection: sa.Connection, project_id: str, untouched_since: datetime, page: PageRequest
) -> Page[Deployment]:
    """One page of the deployments that have ended and that nothing has changed since then."""
    columns = DEPLOYMENTS.c
    old = columns.project_id == project_id, columns.updated_at < to_microseconds(untouched_since)
    statement = sa.select(columns.document).where(*old, columns.completed_at.is_not(None))
    return page_by_update(connection, _ROWS, statement, page)


def delete_deployment(connection: sa.Connection, id: str) -> None:
    """Forget a deployment and its labels. Its logs are elsewhere; they are to go first."""
    connection.execute(sa.delete(DEPLOYMENT_LABELS).where(DEPLOYMENT_LABELS.c.owner_id == id))
    connection.execute(sa.delete(DEPLOYMENTS).where(DEPLOYMENTS.c.id == id))


def any_deployment(connection: sa.Connection, ids: Collection[str]) -> bool:
    """Whether one of these deployments is there."""
    found = connection.execute(sa.select(DEPLOYMENTS.c.id).where(DEPLOYMENTS.c.id.in_(ids)).limit(1))
    return found.one_or_none() is not None


def _columns(deployment: Deployment) -> Columns:
    ended = deployment.completed_at or deployment.updated_at
    return {
        "id": deployment.id,
        "project_id": deployment.project_id,
        "agent_id": deployment.agent_id,
        "application_id": deployment.application_id,
        "application_name": deployment.application_name,
        "kind": deployment.kind.value if deployment.kind else "",
        "status": deployment.status.value,
        "created_at": to_microseconds(deployment.created_at),
        "updated_at": to_microseconds(deployment.updated_at),
        # The status decides what is open, whatever time the agent gave.
        "completed_at": to_microseconds(ended) if deployment.status.is_terminal else None,
    }


def _conditions(filter: DeploymentFilter) -> Iterator[sa.ColumnElement[bool]]:
    columns = DEPLOYMENTS.c
    yield columns.project_id == filter.project_id
    if filter.statuses:
        yield columns.status.in_([status.value for status in filter.statuses])
    if filter.kinds:
        yield columns.kind.in_([kind.value for kind in filter.kinds])
    if filter.application_ids:
        yield columns.application_id.in_(filter.application_ids)
    if filter.application_name:
        yield columns.application_name == filter.application_name
    yield from labelled(DEPLOYMENT_LABELS, columns.id, filter.labels)


_ROWS = Rows(DEPLOYMENTS, Deployment, "deployment", _columns)
