"""Keys of agents and of programs: shown once, at most two, and never more than their maker may."""

from datetime import timedelta

import msgspec
import pytest

from fairway.model.agent import ConnectionStatus
from fairway.model.api_key import APIKeyRole
from fairway.model.role import EDITOR, Action, Permission, Resource, Role
from fairway.server.actions.agents import (
    AgentChange,
    add_agent_key,
    disable_agent,
    drop_oldest_agent_key,
    get_agent,
    list_agents,
    register_agent,
    restart_agent,
    update_agent,
)
from fairway.server.actions.api_keys import create_api_key, disable_api_key, list_api_keys
from fairway.server.keys import matches
from fairway.server.status_codes import Forbidden, InvalidRequest, NotNow
from fairway.server.store import agents, api_keys
from tests.integration.server.actions.acting import Acting, a_caller, an_admin

#: Whoever makes keys, and otherwise what an editor may.
KEY_MAKER = Role(name="KeyMaker", permissions=(Permission(resources=(Resource.API_KEY,)), *EDITOR.permissions))


async def hashes(parts: Acting, agent_id: str) -> list[str]:
    agent = await parts.store.read(lambda connection: agents.load_agent(connection, agent_id))
    return [key.hash for key in agent.keys]


async def test_the_key_of_a_new_agent_is_the_one_that_is_stored(parts: Acting) -> None:
    made = await register_agent(parts.desk, an_admin(), "prod", "in Frankfurt")

    (stored,) = await hashes(parts, made.agent.id)
    assert matches(stored, made.key)
    assert made.key not in repr(made)


async def test_a_key_is_replaced_by_adding_one_and_dropping_the_oldest(parts: Acting) -> None:
    (first,) = await hashes(parts, "agent-1")
    parts.clock.advance(timedelta(days=1))

    added = await add_agent_key(parts.desk, an_admin(), "agent-1")
    left = await drop_oldest_agent_key(parts.desk, an_admin(), "agent-1")

    (stored,) = await hashes(parts, "agent-1")
    assert (matches(stored, added.key), stored != first, len(left.keys)) == (True, True, 1)
    assert parts.forgotten == ["agent-1"]


async def test_an_agent_has_at_most_two_keys_and_at_least_one(parts: Acting) -> None:
    with pytest.raises(NotNow, match="has 2 keys already"):
        await add_agent_key(parts.desk, an_admin(), "agent-2")
    with pytest.raises(NotNow, match="no second key"):
        await drop_oldest_agent_key(parts.desk, an_admin(), "agent-1")

    assert (await parts.audited(), parts.forgotten) == ((), [])


async def test_how_many_keys_there_are_is_recorded_and_nothing_more(parts: Acting) -> None:
    await add_agent_key(parts.desk, an_admin(), "agent-1")

    (record,) = await parts.audited()
    assert (record.before, record.after) == ({"key_count": 1}, {"key_count": 2})


async def test_a_disabled_agent_is_forgotten_at_once_and_told_nothing(parts: Acting) -> None:
    await disable_agent(parts.desk, an_admin(), "agent-1")

    assert parts.forgotten == ["agent-1"]
    with pytest.raises(NotNow, match="enable it first"):
        await restart_agent(parts.desk, an_admin(), "agent-1")


async def test_an_agent_is_shown_with_its_status_and_without_hashes(parts: Acting) -> None:
    await parts.store.write(lambda connection: agents.touch_agent(connection, "agent-1", parts.clock.now()))

    seen = await get_agent(parts.desk, an_admin(), "agent-1")
    listed = await list_agents(parts.desk, an_admin())

    assert (seen.agent.status, seen.last_seen_at) == (ConnectionStatus.ONLINE, parts.clock.now())
    assert ([each.agent.id for each in listed], listed[0]) == (["agent-1", "agent-2", "agent-off"], seen)
    assert b"sha256" not in msgspec.json.encode(listed)


async def test_an_agent_keeps_its_name_when_only_the_version_changes(parts: Acting) -> None:
    changed = await update_agent(parts.desk, an_admin(), "agent-1", AgentChange(desired_version="v2"))

    assert (changed.name, changed.desired_version) == ("dev", "v2")
    with pytest.raises(InvalidRequest, match="name is ''"):
        await update_agent(parts.desk, an_admin(), "agent-1", AgentChange(name=""))


async def test_a_new_key_is_stored_as_a_hash_and_listed_without_it(parts: Acting) -> None:
    made = await create_api_key(parts.desk, an_admin(), "ci", APIKeyRole.READ_WRITE)

    stored = await parts.store.read(lambda connection: api_keys.load_api_key(connection, made.api_key.id))
    assert (matches(stored.key_hash, made.key), stored.creator, stored.role) == (True, "ada", APIKeyRole.READ_WRITE)
    assert made.key.startswith(f"{made.api_key.id}.")
    listed = await list_api_keys(parts.desk, an_admin())
    assert ([key.id for key in listed], {key.key_hash for key in listed}) == (["key-1", made.api_key.id], {""})


@pytest.mark.parametrize(
    ("role", "allowed"),
    [
        pytest.param(APIKeyRole.READ_ONLY, True, id="what the maker may too"),
        pytest.param(APIKeyRole.READ_WRITE, False, id="agents, which the maker may only see"),
        pytest.param(APIKeyRole.ADMIN, False, id="everything"),
    ],
)
async def test_a_key_may_do_no_more_than_its_maker(parts: Acting, role: APIKeyRole, allowed: bool) -> None:
    maker = a_caller(KEY_MAKER)

    if allowed:
        await create_api_key(parts.desk, maker, "ci", role)
    else:
        with pytest.raises(Forbidden, match="cannot give"):
            await create_api_key(parts.desk, maker, "ci", role)


async def test_a_disabled_key_is_forgotten_at_once(parts: Acting) -> None:
    first = await disable_api_key(parts.desk, an_admin(), "key-1")
    again = await disable_api_key(parts.desk, an_admin(), "key-1")

    assert (first.disabled, again, parts.forgotten) == (True, first, ["key-1", "key-1"])
    assert [record.action for record in await parts.audited()] == ["api_key.disable"]


async def test_who_may_see_agents_of_no_labels_sees_none(parts: Acting) -> None:
    labelled = Role(name="Some", permissions=(Permission(actions=(Action.READ,), labels={"env": "dev"}),))

    with pytest.raises(Forbidden):
        await list_agents(parts.desk, a_caller(labelled))
