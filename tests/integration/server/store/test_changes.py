"""A change is judged and stored while its row is locked: nothing refused is written, nothing at once is lost."""

import asyncio
import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
import sqlalchemy as sa

from fairway.model.agent import Agent
from fairway.model.command import Command, CommandStatus
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.event import Event, EventStatus
from fairway.model.transitions import InvalidTransition
from fairway.server.store import agents, api_keys, applications, chains, commands, deployments, events, live_states
from fairway.server.store.errors import NotFound
from fairway.server.store.store import Store
from tests.integration.server.store.nouns import (
    a_chain,
    a_command,
    a_live_state,
    an_agent,
    an_api_key,
    an_event,
    keep,
    minutes,
)
from tests.unit.model.builders import LATER, a_deployment, an_application


@contextlib.contextmanager
def seen_statements(connection: sa.Connection) -> Iterator[list[str]]:
    """The statements that the database is given meanwhile, whoever gives them."""
    statements: list[str] = []
    driver = connection.connection.driver_connection
    if isinstance(driver, sqlite3.Connection):
        driver.set_trace_callback(statements.append)
        yield statements
        driver.set_trace_callback(None)
    else:
        sa.event.listen(connection, "before_cursor_execute", lambda *call: statements.append(call[2]))
        yield statements


class Changed(msgspec.Struct, frozen=True):
    """A noun, how it is kept, and one field that is changed."""

    noun: Any
    insert: Callable[[sa.Connection, Any], None]
    update: Callable[[sa.Connection, str, Callable[[Any], Any]], Any]
    load: Callable[[sa.Connection, str], Any]
    change: dict[str, Any]


CHANGED = [
    Changed(an_agent("x"), agents.insert_agent, agents.update_agent, agents.load_agent, {"disabled": True}),
    Changed(
        an_api_key("x"),
        api_keys.insert_api_key,
        api_keys.update_api_key,
        api_keys.load_api_key,
        {"last_used_at": LATER},
    ),
    Changed(
        an_application("x", labels={"team": "cart"}),
        applications.insert_application,
        applications.update_application,
        applications.load_application,
        {"labels": {"team": "basket"}},
    ),
    Changed(
        a_deployment(id="x"),
        deployments.insert_deployment,
        deployments.update_deployment,
        deployments.load_deployment,
        {"metadata": {"a": "b"}},
    ),
    Changed(
        a_command("x"),
        commands.insert_command,
        commands.update_command,
        commands.load_command,
        {"status": CommandStatus.FAILED},
    ),
    Changed(an_event("x"), events.insert_event, events.update_event, events.load_event, {"data": "v3"}),
    Changed(a_chain("x"), chains.insert_chain, chains.update_chain, chains.load_chain, {"updated_at": LATER}),
    Changed(
        a_live_state("x"),
        live_states.save_live_state,
        live_states.update_live_state,
        live_states.load_live_state,
        {"resources": ()},
    ),
]
each_noun = pytest.mark.parametrize("case", [pytest.param(case, id=type(case.noun).__name__) for case in CHANGED])


@each_noun
async def test_a_changed_noun_is_stored(store: Store, case: Changed) -> None:
    wanted = msgspec.structs.replace(case.noun, **case.change)
    await store.write(lambda connection: case.insert(connection, case.noun))

    returned = await store.write(lambda connection: case.update(connection, "x", lambda found: wanted))

    assert returned == wanted
    assert await store.read(lambda connection: case.load(connection, "x")) == wanted


@each_noun
async def test_what_is_not_there_cannot_be_changed(store: Store, case: Changed) -> None:
    with pytest.raises(NotFound, match="'x'"):
        await store.write(lambda connection: case.update(connection, "x", lambda found: found))


@each_noun
async def test_a_change_that_changes_nothing_writes_nothing(store: Store, case: Changed) -> None:
    await store.write(lambda connection: case.insert(connection, case.noun))

    def repeat(connection: sa.Connection) -> list[str]:
        with seen_statements(connection) as statements:
            case.update(connection, "x", lambda found: found)
        return [statement.split()[0] for statement in statements]

    assert await store.write(repeat) == ["SELECT"]


async def test_a_refused_report_leaves_the_deployment_as_it_was(store: Store) -> None:
    ended = a_deployment(status=DeploymentStatus.SUCCEEDED)
    await store.write(lambda connection: deployments.insert_deployment(connection, ended))

    def reopen(found: Deployment) -> Deployment:
        return found.advance(DeploymentStatus.RUNNING, "late", LATER)

    with pytest.raises(InvalidTransition):
        await store.write(lambda connection: deployments.update_deployment(connection, "d-1", reopen))

    assert await store.read(lambda connection: deployments.load_deployment(connection, "d-1")) == ended


async def test_of_many_changes_at_once_none_is_lost(store: Store) -> None:
    await store.write(lambda connection: deployments.insert_deployment(connection, a_deployment()))

    def add(number: int) -> Callable[[Deployment], Deployment]:
        return lambda found: msgspec.structs.replace(found, metadata={**found.metadata, str(number): "was here"})

    def write(number: int) -> Callable[[sa.Connection], Deployment]:
        return lambda connection: deployments.update_deployment(connection, "d-1", add(number))

    await asyncio.gather(*(store.write(write(number)) for number in range(50)))

    found = await store.read(lambda connection: deployments.load_deployment(connection, "d-1"))
    assert found.metadata == {str(number): "was here" for number in range(50)}


async def test_a_heartbeat_leaves_the_agent_alone_and_never_goes_back(store: Store) -> None:
    await store.write(lambda connection: agents.insert_agent(connection, an_agent()))
    before = await store.read(lambda connection: agents.last_seen(connection, "agent-1"))

    await store.write(lambda connection: agents.touch_agent(connection, "agent-1", minutes(2)))
    await store.write(lambda connection: agents.touch_agent(connection, "agent-1", minutes(1)))

    assert before is None
    assert await store.read(lambda connection: agents.last_seen(connection, "agent-1")) == minutes(2)
    assert await store.read(lambda connection: agents.load_agent(connection, "agent-1")) == an_agent()


async def test_a_change_of_an_agent_keeps_its_heartbeat(store: Store) -> None:
    def renamed(found: Agent) -> Agent:
        return msgspec.structs.replace(found, name="far")

    await store.write(lambda connection: agents.insert_agent(connection, an_agent()))
    await store.write(lambda connection: agents.touch_agent(connection, "agent-1", minutes(1)))

    await store.write(lambda connection: agents.update_agent(connection, "agent-1", renamed))

    assert await store.read(lambda connection: agents.last_seen(connection, "agent-1")) == minutes(1)


async def test_nobody_has_seen_an_unknown_agent(store: Store) -> None:
    with pytest.raises(NotFound, match="agent 'nobody'"):
        await store.read(lambda connection: agents.last_seen(connection, "nobody"))


async def test_an_answered_command_waits_no_longer(store: Store) -> None:
    def answered(found: Command) -> Command:
        return msgspec.structs.replace(found, status=CommandStatus.SUCCEEDED, handled_at=LATER)

    waiting = [a_command(f"c-{minute}", created_at=minutes(minute)) for minute in (2, 3, 1)]
    await keep(store, commands.insert_command, *waiting, a_command("other", agent_id="agent-2"))

    await store.write(lambda connection: commands.update_command(connection, "c-2", answered))

    found = await store.read(lambda connection: commands.list_unhandled_commands(connection, "agent-1"))
    assert [command.id for command in found] == ["c-1", "c-3"]


async def test_the_status_of_an_event_is_what_it_is_found_by(store: Store) -> None:
    def outdated(found: Event) -> Event:
        return msgspec.structs.replace(found, status=EventStatus.OUTDATED)

    await store.write(lambda connection: events.insert_event(connection, an_event()))
    changed = await store.write(lambda connection: events.update_event(connection, "e-1", outdated))

    def found(connection: sa.Connection) -> tuple[Event, ...]:
        return events.list_events(connection, "shop", None, None, EventStatus.OUTDATED, newest_first=True)

    assert await store.read(found) == (changed,)
