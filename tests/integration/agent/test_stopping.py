"""A stage is ended before anything is undone: one that is just being begun, and one that another agent has begun."""

from functools import partial
from pathlib import Path

import msgspec
import pytest

from fairway.agent import deploying
from fairway.agent.outbox import Outbox
from fairway.agent.reports import Report
from fairway.agent.run_context import Cancelling, Running
from fairway.agent.running import DeploymentRun
from fairway.model.command import CancelDeployment
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.stage import StageStatus
from fairway.server.logs import StageLogKey
from tests.integration.agent.running import World, a_world, an_agent_at_work, an_application_file, script, until
from tests.integration.agent.test_cancelling import appears, there
from tests.integration.agent.test_journal import is_dead
from tests.integration.git.repositories import an_origin


class CancelledAtTheStart(Outbox):
    """An outbox; while it tells that a stage runs, somebody cancels the deployment."""

    run: DeploymentRun

    def __init__(self, real: Outbox) -> None:
        self._real = real

    async def deliver(self, stream: str, *reports: Report) -> bool:
        told = await self._real.deliver(stream, *reports)
        if self.run.deployment.stages[0].status is StageStatus.RUNNING:
            self.run.cancel(Cancelling(CancelDeployment(deployment_id=stream), "ada"))
        return told


async def test_a_cancel_that_overtakes_the_stage_on_its_way_to_the_plugin_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def a_run(deployment: Deployment, running: Running, planned: Report | None) -> DeploymentRun:
        outbox = CancelledAtTheStart(running.outbox)
        outbox.run = DeploymentRun(deployment, msgspec.structs.replace(running, outbox=outbox), planned)
        return outbox.run

    monkeypatch.setattr(deploying, "DeploymentRun", a_run)
    file = an_application_file(script("sleep 1000"))
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            deployment = await world.ended()

    assert (deployment.status, deployment.stages[0].status) == (DeploymentStatus.CANCELLED, StageStatus.CANCELLED)


async def test_a_script_that_has_outlived_its_agent_is_ended_by_the_next_before_it_is_undone(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    run = f"echo $$ > {tmp_path}/new; mv {tmp_path}/new {pid}; sleep 1000"
    undo = f"touch {tmp_path}/undone; ! kill -0 $(cat {pid}) || touch {tmp_path}/beside-it"
    file = an_application_file(script(run, onRollback=undo))
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            await appears(pid)
        deployment = await there(world, 1)
        await world.command(CancelDeployment(deployment_id=deployment.id))
        async with an_agent_at_work(world):
            deployment = await world.ended()

    assert deployment.status is DeploymentStatus.CANCELLED
    assert ((tmp_path / "undone").exists(), (tmp_path / "beside-it").exists()) == (True, False)
    assert is_dead(pid.read_text().strip())


async def test_what_a_script_has_said_while_no_agent_was_there_is_in_its_log_though_it_is_given_up(
    tmp_path: Path,
) -> None:
    said, go = tmp_path / "said", tmp_path / "go"
    run = f"echo before; while [ ! -e {go} ]; do sleep 0.1; done; echo meanwhile; touch {said}; sleep 1000"
    file = an_application_file(script(run))
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            await until(partial(says, world, "before"))
        deployment = await there(world, 1)
        go.touch()
        await appears(said)
        await world.command(CancelDeployment(deployment_id=deployment.id))
        async with an_agent_at_work(world):
            deployment = await world.ended()
            log = await world.logs.read(StageLogKey(deployment.id, deployment.stages[0].id, 0))

    assert "\n".join(each.log for each in log.blocks).splitlines()[:2] == ["before", "meanwhile"]
    assert log.blocks[-1].log.startswith("Cancelled by ada: ended by signal")
    assert log.completed


async def says(world: World, words: str) -> bool:
    """Whether the log of the first stage has these words."""
    found = await world.deployments()
    return bool(found and found[0].stages) and words in await world.log(found[0], 0)
