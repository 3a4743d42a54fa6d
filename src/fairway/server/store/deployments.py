"""Deployments: the open ones that agents ask for every few seconds, and the many that have ended.

Whether a report may change a deployment is the model's table; it is asked while the row is locked
(`update_deployment`), so two reports at once are judged one after the other.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime

import msgspec
import sqlalchemy as sa

from fairway.model.application import ApplicationKind
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.server.store.documents import in_span, to_microseconds
from fairway.server.store.labels import EVERYTHING, Patterns, label_patterns, labelled
from fairway.server.store.page import Order, Page, PageRequest, Sort, by_update, cut_page, oldest_first
from fairway.server.store.prepared import PreparedUpdate
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
    #: From this moment on, of those that the list is sorted by.
    since: datetime | None = None
    #: Before this moment.
    until: datetime | None = None
    #: Those that have all labels of one of these, by pattern.
    scope: Patterns = EVERYTHING


def insert_deployment(connection: sa.Connection, deployment: Deployment) -> None:
    """Store a new deployment. Its labels are those of its beginning: they never change."""
    _ROWS.insert(connection, deployment)
    if rows := _label_rows(deployment):
        connection.execute(sa.insert(DEPLOYMENT_LABELS), rows)


def load_deployment(connection: sa.Connection, id: str) -> Deployment:
    """The deployment with this id."""
    return _ROWS.load(connection, id)


def update_deployment(connection: sa.Connection, id: str, change: Callable[[Deployment], Deployment]) -> Deployment:
    """The deployment as `change` makes it, stored."""
    changed = _ROWS.update(connection, id, change)
    if changed.labels:
        _MOVE_LABELS.run(connection, {"of": id, "updated_at": to_microseconds(changed.updated_at)})
    return changed


def list_open_deployments(connection: sa.Connection, agent_id: str, cursor: str, limit: int) -> Page[Deployment]:
    """What an agent has to work on, oldest first. Ordered by what never changes: a report hides nothing."""
    mine = DEPLOYMENTS.c.agent_id == agent_id
    statement = sa.select(DEPLOYMENTS.c.document).where(mine, DEPLOYMENTS.c.completed_at.is_(None))
    return cut_page(connection, _ROWS, (statement,), oldest_first(DEPLOYMENTS), PageRequest(cursor, limit))


def count_open(connection: sa.Connection, agent_id: str, most: int) -> int:
    """How many deployments an agent has to work on; not counted further than `most`."""
    columns = DEPLOYMENTS.c
    some = sa.select(sa.literal(1)).where(columns.agent_id == agent_id, columns.completed_at.is_(None)).limit(most)
    found: int = connection.execute(sa.select(sa.func.count()).select_from(some.subquery())).scalar_one()
    return found


def list_open_of_applications(
    connection: sa.Connection, agent_id: str, application_ids: Collection[str]
) -> Sequence[Deployment]:
    """What an agent has to work on of some applications."""
    columns = DEPLOYMENTS.c
    # By the agent, too: what is open has an index by it.
    mine = sa.select(columns.document).where(columns.agent_id == agent_id, columns.completed_at.is_(None))
    return _ROWS.query(connection, mine.where(columns.application_id.in_(application_ids)))


def list_deployments(connection: sa.Connection, filter: DeploymentFilter, page: PageRequest) -> Page[Deployment]:
    """One page of the deployments that fit, newest change first or as the request says."""
    labels = _required_labels(filter)
    if labels and not _is_narrow(filter):
        key = _rarest(connection, filter.project_id, labels) if len(labels) > 1 else next(iter(labels))
        return _list_labelled(connection, filter, page, (key, labels[key]))
    order = _order(page.sort, DEPLOYMENTS.c.id)
    statements = [
        sa.select(DEPLOYMENTS.c.document).where(*_conditions(connection, branch, order)) for branch in _branches(filter)
    ]
    return cut_page(connection, _ROWS, statements, order, page)


def _list_labelled(
    connection: sa.Connection, filter: DeploymentFilter, page: PageRequest, label: tuple[str, str]
) -> Page[Deployment]:
    """One page of the deployments that fit, of which all have this label, by way of the rows of the label."""
    order = _order(page.sort, DEPLOYMENT_LABELS.c.owner_id)
    others = {key: value for key, value in filter.labels.items() if (key, value) != label}
    conditions = _conditions(connection, msgspec.structs.replace(filter, labels=others), order)
    joined = sa.select(DEPLOYMENTS.c.document).join(DEPLOYMENT_LABELS, order.id == DEPLOYMENTS.c.id)
    statement = joined.where(*_label(filter.project_id, *label), *conditions)
    return cut_page(connection, _ROWS, (statement,), order, page)


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
    return cut_page(connection, _ROWS, (statement,), by_update(DEPLOYMENTS), page)


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
        **_moments(deployment),
        # The status decides what is open, whatever time the agent gave.
        "completed_at": to_microseconds(ended) if deployment.status.is_terminal else None,
    }


def _moments(deployment: Deployment) -> dict[str, int]:
    """What deployments are sorted by. Their labels repeat it."""
    return {
        "created_at": to_microseconds(deployment.created_at),
        "updated_at": to_microseconds(deployment.updated_at),
    }


def _label_rows(deployment: Deployment) -> list[dict[str, str | int]]:
    repeated: dict[str, str | int] = {"owner_id": deployment.id, "project_id": deployment.project_id}
    repeated.update(_moments(deployment))
    return [{**repeated, "key": key, "value": value} for key, value in deployment.labels.items()]


def _order(sort: Sort | None, id: sa.Column[str]) -> Order:
    """How the rows of the table that has this column are sorted."""
    if sort is Sort.CREATION:
        return Order(key=id.table.c.created_at, id=id, name=sort.value)
    return Order(key=id.table.c.updated_at, id=id)


def _conditions(connection: sa.Connection, filter: DeploymentFilter, order: Order) -> Iterator[sa.ColumnElement[bool]]:
    """What a deployment must be that is found in this order."""
    columns = DEPLOYMENTS.c
    yield columns.project_id == filter.project_id
    if filter.statuses:
        yield _one_of(columns.status, [status.value for status in filter.statuses])
    if filter.kinds:
        yield _one_of(columns.kind, [kind.value for kind in filter.kinds])
    if filter.application_ids:
        yield _one_of(columns.application_id, filter.application_ids)
    if filter.application_name:
        yield columns.application_name == filter.application_name
    yield from in_span(order.key, filter.since, filter.until)
    yield from labelled(DEPLOYMENT_LABELS, order.id, filter.labels)
    yield from label_patterns(connection, DEPLOYMENT_LABELS, order.id, filter.scope)


def _one_of(column: sa.Column[str], values: Sequence[str]) -> sa.ColumnElement[bool]:
    return column == values[0] if len(values) == 1 else column.in_(values)


def _branches(filter: DeploymentFilter) -> list[DeploymentFilter]:
    """Filters of which a deployment that fits has exactly one, each with an index in the order of the page."""
    if filter.application_name or len(filter.application_ids) > _MOST_BRANCHES:
        return [filter]
    if filter.application_ids:
        ids = dict.fromkeys(filter.application_ids)
        return [msgspec.structs.replace(filter, application_ids=(id,)) for id in ids]
    if filter.statuses:
        return [msgspec.structs.replace(filter, statuses=(status,)) for status in dict.fromkeys(filter.statuses)]
    if filter.kinds:
        return [msgspec.structs.replace(filter, kinds=(kind,)) for kind in dict.fromkeys(filter.kinds)]
    return [filter]


def _is_narrow(filter: DeploymentFilter) -> bool:
    """Whether few deployments can fit whatever their labels are: those of some applications, or those still open."""
    only_open = bool(filter.statuses) and not any(status.is_terminal for status in filter.statuses)
    return bool(filter.application_ids or filter.application_name or only_open)


def _label(project_id: str, key: str, value: str) -> tuple[sa.ColumnElement[bool], ...]:
    columns = DEPLOYMENT_LABELS.c
    return columns.project_id == project_id, columns.key == key, columns.value == value


def _required_labels(filter: DeploymentFilter) -> dict[str, str]:
    """Labels that every deployment that fits has, word for word."""
    if len(filter.scope) != 1:
        return filter.labels
    exact = {key: value for key, value in filter.scope[0].items() if not {"*", "?"} & set(value)}
    return {**exact, **filter.labels}


def _rarest(connection: sa.Connection, project_id: str, labels: Mapping[str, str]) -> str:
    """The key of the label that the fewest deployments have: its rows are gone through, asking each for the others."""

    def count(key: str) -> int:
        some = sa.select(sa.literal(1)).where(*_label(project_id, key, labels[key])).limit(_COUNTED)
        found: int = connection.execute(sa.select(sa.func.count()).select_from(some.subquery())).scalar_one()
        return found

    return min(sorted(labels), key=count)


#: For more applications than this, sorting what they have costs less than asking for each.
_MOST_BRANCHES = 50
#: Labels on more deployments than this count as equally frequent: a page is found soon among either.
_COUNTED = 20_000
_ROWS = Rows(DEPLOYMENTS, Deployment, "deployment", _columns, remembered=256)
_MOVE_LABELS = PreparedUpdate(
    sa.update(DEPLOYMENT_LABELS).where(DEPLOYMENT_LABELS.c.owner_id == sa.bindparam("of")),
    ("updated_at",),
)
