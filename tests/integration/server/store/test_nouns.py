"""Every noun comes back as it was stored, from both databases."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest
import sqlalchemy as sa

from fairway.server.store import (
    agents,
    api_keys,
    applications,
    chains,
    commands,
    deployments,
    events,
    projects,
)
from fairway.server.store.errors import AlreadyExists, NotFound
from fairway.server.store.store import Store
from tests.integration.server.store.nouns import (
    a_chain,
    a_command,
    a_project,
    an_agent,
    an_api_key,
    an_event,
    minutes,
)
from tests.unit.model.builders import a_deployment, a_stage, an_application


class Kept(msgspec.Struct, frozen=True):
    """A noun, and the functions that keep it."""

    noun: Any
    insert: Callable[[sa.Connection, Any], None]
    load: Callable[[sa.Connection, str], Any]


KEPT = {
    "project": Kept(a_project("x", desc="all of it"), projects.insert_project, projects.load_project),
    "agent": Kept(an_agent("x", started_at=minutes(1)), agents.insert_agent, agents.load_agent),
    "API key": Kept(an_api_key("x"), api_keys.insert_api_key, api_keys.load_api_key),
    "application": Kept(
        an_application("x", labels={"team": "cart", "": "ü\U0001f6a2"}, description="\x00"),
        applications.insert_application,
        applications.load_application,
    ),
    "deployment": Kept(
        a_deployment(id="x", stages=(a_stage(metadata={"a": "\x00"}),), completed_at=minutes(2)),
        deployments.insert_deployment,
        deployments.load_deployment,
    ),
    "command": Kept(a_command("x"), commands.insert_command, commands.load_command),
    "event": Kept(an_event("x", contexts={"a": "b"}), events.insert_event, events.load_event),
    "chain": Kept(a_chain("x"), chains.insert_chain, chains.load_chain),
}
each_noun = pytest.mark.parametrize("kept", [pytest.param(kept, id=noun) for noun, kept in KEPT.items()])


@each_noun
async def test_a_noun_comes_back_as_it_was_stored(store: Store, kept: Kept) -> None:
    await store.write(lambda connection: kept.insert(connection, kept.noun))

    assert await store.read(lambda connection: kept.load(connection, "x")) == kept.noun


@each_noun
async def test_a_taken_id_is_refused_and_the_work_may_go_on(store: Store, kept: Kept) -> None:
    await store.write(lambda connection: kept.insert(connection, kept.noun))

    def insert_again(connection: sa.Connection) -> Any:
        with pytest.raises(AlreadyExists, match="'x' exists already"):
            kept.insert(connection, kept.noun)
        return kept.load(connection, "x")

    assert await store.write(insert_again) == kept.noun


@each_noun
async def test_an_unknown_id_is_not_found(store: Store, kept: Kept) -> None:
    with pytest.raises(NotFound, match="'; DROP TABLE projects"):
        await store.read(lambda connection: kept.load(connection, "'; DROP TABLE projects"))
