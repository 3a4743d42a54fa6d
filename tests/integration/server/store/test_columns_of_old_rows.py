"""A database of an older Fairway: the columns that came later are filled with what its documents say."""

import asyncio

import msgspec
import sqlalchemy as sa

from fairway.model.chain import DeploymentChain
from fairway.model.command import Command, CommandStatus
from fairway.model.deployment import Deployment
from fairway.model.event import Event
from fairway.server.store import chains, commands, deployments, events
from fairway.server.store.commands import CommandFilter
from fairway.server.store.deployments import DeploymentFilter
from fairway.server.store.events import EventFilter
from fairway.server.store.page import PageRequest
from fairway.server.store.store import Store
from tests.integration.server.store.nouns import a_chain, a_command, an_event
from tests.integration.server.store.old_databases import an_old_database
from tests.unit.model.builders import a_deployment

#: Some moment, as a column has it; it is not what is looked at.
_TIME = 1_767_268_800_000_000

COMMAND = a_command(application_id="a-1", deployment_id="d-1", status=CommandStatus.FAILED)
EVENT, CHAIN = an_event(name="chart"), a_chain()
DEPLOYMENT = a_deployment(labels={"env": "dev"})


def _make_old_database(url: str) -> None:
    """Revision 0002, with a row of each noun that has got columns since."""
    with an_old_database(url, "0002") as connection:
        at = {"created_at": _TIME}
        _insert(connection, "commands", COMMAND, agent_id="agent-1", handled_at=_TIME, **at)
        _insert(connection, "events", EVENT, project_id="shop", key="k", status="waiting", **at)
        _insert(connection, "chains", CHAIN, project_id="shop")
        _insert(connection, "deployments", DEPLOYMENT, **_deployment_columns(DEPLOYMENT), updated_at=_TIME, **at)
        connection.execute(sa.text("INSERT INTO deployment_labels (key, value, owner_id) VALUES ('env', 'dev', 'd-1')"))


def _deployment_columns(deployment: Deployment) -> dict[str, str | int]:
    texts = {name: getattr(deployment, name) for name in ("project_id", "agent_id", "application_id")}
    return {**texts, "application_name": deployment.application_name, "kind": "", "status": deployment.status.value}


def _insert(
    connection: sa.Connection, name: str, noun: Command | Event | DeploymentChain | Deployment, **values: str | int
) -> None:
    row = {"id": noun.id, **values, "document": msgspec.json.encode(noun).decode()}
    table = sa.table(name, *map(sa.column, row))
    connection.execute(sa.insert(table).values(row))


async def test_what_an_older_fairway_stored_is_found_by_what_came_later(url: str) -> None:
    await asyncio.to_thread(_make_old_database, url)
    asked = CommandFilter(project_id="shop", application_id="a-1", deployment_id="d-1", status=CommandStatus.FAILED)
    labelled = DeploymentFilter(project_id="shop", labels={"env": "dev"})
    page = PageRequest()

    store = await Store.open(url)
    found = await store.read(
        lambda connection: (
            commands.list_commands(connection, asked, page).items,
            events.page_events(connection, EventFilter(project_id="shop", name="chart"), page).items,
            chains.list_chains(connection, "shop", page).items,
            deployments.list_deployments(connection, labelled, page).items,
        )
    )
    await store.close()

    assert found == ((COMMAND,), (EVENT,), (CHAIN,), (DEPLOYMENT,))
