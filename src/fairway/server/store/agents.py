"""Agents, and when each was last heard.

An agent says that it lives once a minute. That moment is a column of its own and not part of the document, so a
heartbeat neither rewrites the agent's profile nor disturbs whoever is changing it.
"""

from collections.abc import Callable
from datetime import datetime

import sqlalchemy as sa

from fairway.model.agent import Agent
from fairway.server.store.documents import from_microseconds, to_microseconds
from fairway.server.store.errors import NotFound
from fairway.server.store.rows import Rows
from fairway.server.store.tables import AGENTS

_ROWS = Rows(AGENTS, Agent, "agent", lambda agent: {"id": agent.id, "project_id": agent.project_id})


def insert_agent(connection: sa.Connection, agent: Agent) -> None:
    """Store a new agent."""
    _ROWS.insert(connection, agent)


def load_agent(connection: sa.Connection, id: str) -> Agent:
    """The agent with this id."""
    return _ROWS.load(connection, id)


def update_agent(connection: sa.Connection, id: str, change: Callable[[Agent], Agent]) -> Agent:
    """The agent as `change` makes it, stored."""
    return _ROWS.update(connection, id, change)


def list_agents(connection: sa.Connection, project_id: str) -> tuple[Agent, ...]:
    """All agents of a project, by id."""
    statement = sa.select(AGENTS.c.document).where(AGENTS.c.project_id == project_id).order_by(AGENTS.c.id)
    return _ROWS.query(connection, statement)


def list_seen_agents(
    connection: sa.Connection, project_id: str, after: str = "", limit: int | None = None
) -> tuple[tuple[Agent, datetime | None], ...]:
    """The agents of a project behind an id, by id, so many or all, each with when it was last heard."""
    columns = AGENTS.c
    behind = columns.project_id == project_id, columns.id > after
    statement = sa.select(columns.document, columns.last_seen_at).where(*behind).limit(limit)
    found = connection.execute(statement.order_by(columns.id)).all()
    agents = _ROWS.decoded(document for document, _ in found)
    return tuple((agent, _time(seen)) for agent, (_, seen) in zip(agents, found, strict=True))


def list_last_seen(connection: sa.Connection, project_id: str) -> tuple[datetime | None, ...]:
    """When each agent of a project was last heard, in no order."""
    statement = sa.select(AGENTS.c.last_seen_at).where(AGENTS.c.project_id == project_id)
    return tuple(_time(seen) for seen in connection.execute(statement).scalars())


def touch_agent(connection: sa.Connection, id: str, at: datetime) -> None:
    """Note that the agent was heard; an older moment than the noted one changes nothing."""
    seen = to_microseconds(at)
    newer = sa.or_(AGENTS.c.last_seen_at.is_(None), AGENTS.c.last_seen_at < seen)
    connection.execute(sa.update(AGENTS).where(AGENTS.c.id == id, newer).values(last_seen_at=seen))


def last_seen(connection: sa.Connection, id: str) -> datetime | None:
    """When the agent was last heard; `None` before the first time."""
    found = connection.execute(sa.select(AGENTS.c.last_seen_at).where(AGENTS.c.id == id)).one_or_none()
    if found is None:
        raise NotFound("agent", id)
    return _time(found.last_seen_at)


def _time(column: int | None) -> datetime | None:
    return None if column is None else from_microseconds(column)
