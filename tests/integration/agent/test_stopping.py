"""A stage is ended before anything is undone: one that is just being begun, and one that another agent has begun."""

from pathlib import Path

import msgspec
import pytest

from fairway.agent import deploying
from fairway.agent.outbox import Outbox
from fairway.agent.reports import Report
from fairway.agent.running import Cancelling, DeploymentRun, Running
from fairway.model.command import CancelDeployment
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.stage import StageStatus
from tests.integration.agent.running import a_world, an_agent_at_work, an_application_file, script
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
