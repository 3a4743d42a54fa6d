"""Plugins that are slow to start: a stage that runs waits for its plugin, and other work goes on."""

import asyncio
from functools import partial
from pathlib import Path

import pytest

from fairway.agent.plugins import supervisor
from fairway.agent.plugins.keeper import Patience
from fairway.agent.plugins.program import Hosted, Launched
from fairway.model.deployment import DeploymentStatus
from tests.integration.agent.running import World, a_world, an_agent_at_work, an_application_file, script, until
from tests.integration.agent.test_cancelling import appears
from tests.integration.git.repositories import an_origin


@pytest.fixture
def may_start(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Holds back the process of the built-in plugins; the agent does not wait for it."""
    launch, may = Hosted.launch, asyncio.Event()

    async def held_back(self: Hosted) -> Launched:
        await may.wait()
        return await launch(self)

    monkeypatch.setattr(Hosted, "launch", held_back)
    monkeypatch.setattr(supervisor, "Patience", partial(Patience, together=0.01))
    return may


@pytest.mark.parametrize("remembered", [True, False], ids=["stages stored", "stages not stored"])
async def test_a_stage_that_runs_waits_for_its_plugin_when_the_agent_is_started_again(
    tmp_path: Path, may_start: asyncio.Event, remembered: bool
) -> None:
    runs, go = tmp_path / "runs", tmp_path / "go"
    held = f"echo x >> {runs}; while [ ! -e {go} ]; do sleep 0.02; done"
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file(script(held))})
    async with a_world(tmp_path, origin) as world:
        await world.add_application()
        may_start.set()
        async with an_agent_at_work(world):
            await appears(runs)
        if not remembered:
            (world.data / "plugins" / "stages.json").unlink()
        may_start.clear()
        async with an_agent_at_work(world):
            go.touch()
            may_start.set()
            deployment = await world.ended()

    assert deployment.status is DeploymentStatus.SUCCEEDED, deployment.status_reason
    assert runs.read_text() == "x\n"


async def test_a_deployment_says_that_it_waits_for_a_plugin_to_start(tmp_path: Path, may_start: asyncio.Event) -> None:
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file(script("true"))})
    async with a_world(tmp_path, origin) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            waits = await until(partial(_waits_for, world))
            may_start.set()
            deployment = await world.ended()

    assert waits == "plugin host has not started yet"
    assert deployment.status is DeploymentStatus.SUCCEEDED, deployment.status_reason


async def _waits_for(world: World) -> str:
    found = await world.deployments()
    return found[0].shared_metadata.get("fairway/waits-for", "") if found else ""
