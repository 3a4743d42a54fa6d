"""Databases of every older Fairway, with something in every table: once migrated, they are as if written today."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from fairway.model.application import SyncState, SyncStatus
from fairway.model.command import CommandStatus
from fairway.model.live_state import Health
from fairway.server.store import agents, api_keys, applications, chains, commands, deployments, events, live_states
from fairway.server.store.migrate import _known_revisions
from fairway.server.store.store import Store
from fairway.server.store.tables import METADATA
from tests.integration.server.store.nouns import (
    a_chain,
    a_command,
    a_live_state,
    an_agent,
    an_api_key,
    an_event,
    minutes,
)
from tests.integration.server.store.old_databases import an_old_database
from tests.unit.model.builders import NOW, a_deployment, an_application

*OLDER, NEWEST = _known_revisions()

Rows = dict[str, list[dict[str, Any]]]

#: What migrations read; of each noun one that has something in all columns that came later.
_NOUNS: tuple[tuple[Callable[[sa.Connection, Any], None], Any], ...] = (
    (agents.insert_agent, an_agent()),
    (api_keys.insert_api_key, an_api_key()),
    (
        applications.insert_application,
        an_application("a-1", labels={"team": "a"}, sync_state=SyncState(status=SyncStatus.OUT_OF_SYNC, at=NOW)),
    ),
    (applications.insert_application, an_application("a-2")),
    (live_states.save_live_state, a_live_state("a-1", health=Health.UNHEALTHY)),
    (deployments.insert_deployment, a_deployment(labels={"env": "dev", "team": "a"}, updated_at=minutes(5))),
    (deployments.insert_deployment, a_deployment(id="d-2")),
    (commands.insert_command, a_command(application_id="a-1", deployment_id="d-1", status=CommandStatus.FAILED)),
    (events.insert_event, an_event(name="chart")),
    (chains.insert_chain, a_chain(created_at=minutes(7))),
)
#: What is kept for two days only, of one PostgreSQL.
_PASSING = {"changes"}


@pytest.fixture(scope="module")
def today(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """What this Fairway writes: the nouns, and a row of any form in each table that they leave empty."""

    def fill(connection: sa.Connection) -> Rows:
        for insert, noun in _NOUNS:
            insert(connection, noun)
        for name, rows in _all_rows(connection).items():
            if not rows:
                connection.execute(sa.insert(METADATA.tables[name]), _a_row(METADATA.tables[name]))
        return _all_rows(connection)

    async def write() -> Rows:
        store = await Store.open(f"sqlite:///{tmp_path_factory.mktemp('today')}/fairway.db")
        try:
            return await store.write(fill)
        finally:
            await store.close()

    return asyncio.run(write())


@pytest.mark.parametrize("revision", OLDER)
async def test_what_any_older_fairway_stored_is_as_if_it_were_stored_today(
    url: str, revision: str, today: Rows
) -> None:
    kept = await asyncio.to_thread(_store_as_of, revision, url, today)

    store = await Store.open(url)
    found = await store.read(_all_rows)
    await store.close()

    assert {name: found[name] for name in kept} == {name: today[name] for name in kept}
    assert {"applications", "deployments", "commands", "events", "chains"} <= kept


def _store_as_of(revision: str, url: str, rows: Rows) -> set[str]:
    """Put the rows into a database of that revision, as far as it knows tables and columns; which tables it knows."""
    with an_old_database(url, revision) as connection:
        known = sa.MetaData()
        known.reflect(connection)
        tables = [table for table in known.sorted_tables if table.name in rows]
        for table in tables:
            columns = [name for name in rows[table.name][0] if name in table.c]
            connection.execute(sa.insert(table), [{name: row[name] for name in columns} for row in rows[table.name]])
    return {table.name for table in tables}


def _all_rows(connection: sa.Connection) -> Rows:
    tables = [table for table in METADATA.sorted_tables if table.name not in _PASSING]
    return {
        table.name: [
            dict(row) for row in connection.execute(sa.select(table).order_by(*table.primary_key.columns)).mappings()
        ]
        for table in tables
    }


def _a_row(table: sa.Table) -> dict[str, Any]:
    values: dict[type[Any], Any] = {str: "x", int: 1, bytes: b"x", bool: True}
    return {column.name: values[column.type.python_type] for column in table.columns}
