"""Applications that agents found in Git and nobody has registered. Each report of an agent is the whole truth."""

import sqlalchemy as sa

from fairway.model.application import DiscoveredApplication
from fairway.server.store.documents import decode, encode
from fairway.server.store.rows import upsert
from fairway.server.store.tables import AGENTS, SUGGESTIONS


def replace_suggestions(connection: sa.Connection, agent_id: str, found: tuple[DiscoveredApplication, ...]) -> None:
    """Store what an agent found in place of what it found before."""
    document = encode(found)
    statement = upsert(connection, SUGGESTIONS).values(id=agent_id, document=document)
    connection.execute(statement.on_conflict_do_update(index_elements=["id"], set_={"document": document}))


def list_suggestions(connection: sa.Connection, project_id: str) -> tuple[DiscoveredApplication, ...]:
    """What the agents of a project found, agent by agent."""
    statement = (
        sa.select(SUGGESTIONS.c.document)
        .join(AGENTS, AGENTS.c.id == SUGGESTIONS.c.id)
        .where(AGENTS.c.project_id == project_id)
        .order_by(AGENTS.c.id)
    )
    documents = connection.execute(statement).scalars()
    return tuple(found for document in documents for found in decode(document, tuple[DiscoveredApplication, ...]))
