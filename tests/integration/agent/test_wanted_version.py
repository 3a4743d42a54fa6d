"""An agent hears at once that somebody wants another version of it, and says why it does not follow."""

from pathlib import Path

import msgspec
import pytest

from fairway.agent.launcher import upgrading
from fairway.model.agent import Agent
from fairway.server.hints import HintTopic
from fairway.server.store import agents
from tests.integration.agent.running import World, a_world, an_agent_at_work, until
from tests.integration.git.repositories import an_origin


async def shown(world: World) -> Agent:
    return await world.store.read(lambda connection: agents.load_agent(connection, "agent-1"))


async def test_a_wish_reaches_an_agent_by_a_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upgrading, "ASK_SECONDS", 10_000.0)
    async with a_world(tmp_path, an_origin(tmp_path, {"README": ""})) as world, an_agent_at_work(world):

        def want(agent: Agent) -> Agent:
            return msgspec.structs.replace(agent, desired_version="7.0")

        async def refused() -> bool:
            return "(7.0 is wanted, but this agent has no launcher" in (await shown(world)).profile.version

        await world.store.write(lambda connection: agents.update_agent(connection, "agent-1", want))
        world.hints.publish("agent-1", HintTopic.COMMANDS)

        assert await until(refused)
