"""An agent at a server that speaks PipeCD's service alone: no hints, no leases, one report at a time."""

from pathlib import Path

import pytest

from fairway.agent import server_watch
from fairway.model.command import CancelDeployment, SyncApplication
from fairway.model.deployment import DeploymentStatus
from tests.integration.agent.running import World, a_world, an_agent_at_work, an_application_file, script, until
from tests.integration.agent.test_cancelling import HOLDS, appears
from tests.integration.git.repositories import Origin, an_origin


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an agent ask often."""
    for name in ("CALM_SECONDS", "COMMAND_SECONDS", "DEPLOYMENT_SECONDS"):
        monkeypatch.setattr(server_watch, name, 0.05)


async def served_by_pipecd(world: World) -> None:
    await world.stop_serving()
    await world.serve(as_pipecd=True)


def an_origin_with(folder: Path, run: str) -> Origin:
    return an_origin(folder, {"web/app.pipecd.yaml": an_application_file(script(run)), "web/version": "1\n"})


async def test_what_the_server_has_new_is_found_by_asking(tmp_path: Path) -> None:
    origin = an_origin_with(tmp_path, "cat version")
    async with a_world(tmp_path, origin) as world:
        await served_by_pipecd(world)
        async with an_agent_at_work(world):
            # Nobody tells the agent of any of these.
            await world.add_application()
            first = await world.ended()
            origin.commit({"web/version": "2\n"})
            second = await world.ended(2)
            await world.answer(await world.command(SyncApplication(application_id="a-web")))
            third = await world.ended(3)
        outputs = [await world.output(each, 0) for each in (first, second, third)]

    assert outputs == ["1", "2", "2"]
    assert [each.status for each in (first, second, third)] == [DeploymentStatus.SUCCEEDED] * 3


async def test_a_cancel_is_found_by_asking_and_a_restarted_agent_goes_on(tmp_path: Path) -> None:
    async with a_world(tmp_path, an_origin_with(tmp_path, HOLDS.format(tmp_path))) as world:
        await served_by_pipecd(world)
        await world.add_application()
        async with an_agent_at_work(world):
            await appears(tmp_path / "mark")
        async with an_agent_at_work(world):
            (deployment,) = await until(world.deployments)
            await world.answer(await world.command(CancelDeployment(deployment_id=deployment.id)))
            ended = await world.ended()

    assert (ended.status, len(world.seen)) == (DeploymentStatus.CANCELLED, 1)
