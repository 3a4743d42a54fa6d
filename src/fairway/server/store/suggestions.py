"""Applications that agents found in Git and nobody has registered. Each report of an agent is the whole truth.

An agent knows its own enabled applications alone, and finds the files of all others too; those are left out here.
"""

import posixpath

import sqlalchemy as sa

from fairway.config.find import APPLICATION_FILE, OLDEST_APPLICATION_FILE
from fairway.model.application import DiscoveredApplication
from fairway.server.store.documents import decode, encode
from fairway.server.store.rows import upsert
from fairway.server.store.tables import AGENTS, APPLICATIONS, SUGGESTIONS


def replace_suggestions(connection: sa.Connection, agent_id: str, found: tuple[DiscoveredApplication, ...]) -> None:
    """Store what an agent found in place of what it found before."""
    document = encode(found)
    statement = upsert(connection, SUGGESTIONS).values(id=agent_id, document=document)
    connection.execute(statement.on_conflict_do_update(index_elements=["id"], set_={"document": document}))


def list_suggestions(connection: sa.Connection, project_id: str) -> tuple[DiscoveredApplication, ...]:
    """What the agents of a project found, agent by agent, without what is registered meanwhile or disabled."""
    statement = (
        sa.select(SUGGESTIONS.c.document)
        .join(AGENTS, AGENTS.c.id == SUGGESTIONS.c.id)
        .where(AGENTS.c.project_id == project_id)
        .order_by(AGENTS.c.id)
    )
    documents = connection.execute(statement).scalars()
    found = [each for document in documents for each in decode(document, tuple[DiscoveredApplication, ...])]
    taken = registered_files(connection, project_id) if found else set()
    return tuple(each for each in found if (each.repository_id, _file(each.path, each.config_filename)) not in taken)


def registered_files(connection: sa.Connection, project_id: str) -> set[tuple[str, str]]:
    """Repository and file of each application of a project."""
    columns = APPLICATIONS.c
    statement = sa.select(columns.repository_id, columns.path, columns.config_filename)
    rows = connection.execute(statement.where(columns.project_id == project_id, columns.deleted_at.is_(None)))
    usual = (APPLICATION_FILE, OLDEST_APPLICATION_FILE)
    return {
        (row.repository_id, _file(row.path, name))
        for row in rows
        for name in ((row.config_filename,) if row.config_filename else usual)
    }


def _file(path: str, name: str) -> str:
    return posixpath.normpath(posixpath.join(path, name))
