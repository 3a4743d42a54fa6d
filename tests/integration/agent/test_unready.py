"""A deployment that was begun, and whose files cannot be had when an agent takes it up again: what is only away is
waited for, and what runs of it is ended before the deployment is."""

import asyncio
import shutil
from functools import partial
from pathlib import Path

import msgspec
import pytest

from fairway.agent import at_work, deploying
from fairway.agent.deploying import DeployingDesk
from fairway.agent.plugins import program
from fairway.agent.running import DeploymentRun
from fairway.config.plugin_source import BadPlugin
from fairway.git.retry import Retry
from fairway.model.command import CancelDeployment
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.stage import StageStatus
from fairway.server.logs import StageLogKey
from tests.integration.agent.running import World, a_world, an_agent_at_work, an_application_file, script, until
from tests.integration.agent.test_cancelling import appears, there
from tests.integration.agent.test_faults import told_to_the_server, waits_for
from tests.integration.agent.test_journal import is_dead
from tests.integration.agent.test_planning import Left, insert
from tests.integration.git.repositories import an_origin
from tests.integration.git.web_server import a_web_server
from tests.unit.model.builders import a_stage


def held(folder: Path) -> str:
    """A script that says who it is, and ends when it may."""
    return f"echo $$ > {folder}/new; mv {folder}/new {folder}/pid; while [ ! -e {folder}/go ]; do sleep 0.02; done"


def how(deployment: Deployment) -> tuple[DeploymentStatus, StageStatus]:
    return deployment.status, deployment.stages[0].status


def impatient(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Let an agent try once, and wait no longer than that for what somebody wants to be undone."""
    monkeypatch.setattr(at_work, "DeployingDesk", partial(DeployingDesk, patience=Retry(attempts=1, seconds=seconds)))


async def test_what_runs_is_ended_before_a_deployment_that_cannot_be_gone_on_with(tmp_path: Path) -> None:
    pid, beside = tmp_path / "pid", tmp_path / "beside"
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file(script(held(tmp_path)))})
    next_one = an_application_file(script(f"! kill -0 $(cat {pid}) || touch {beside}"))
    async with a_world(tmp_path, origin) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            await appears(pid)
        # Somebody has written the history anew, and the commit is nowhere any more.
        world.origin = an_origin(tmp_path / "anew", {"web/app.pipecd.yaml": next_one})
        shutil.rmtree(world.data / "mirrors")
        async with an_agent_at_work(world):
            first, second = await world.ended(), await world.ended(2)
            log = await world.logs.read(StageLogKey(first.id, first.stages[0].id, 0))

    assert (how(first), how(second)) == (
        (DeploymentStatus.FAILED, StageStatus.FAILED),
        (DeploymentStatus.SUCCEEDED, StageStatus.SUCCEEDED),
    )
    assert first.stages[0].status_reason == first.status_reason
    assert "not rolled back" in first.status_reason
    assert (log.blocks[-1].log, log.completed) == (first.status_reason, True)
    assert (is_dead(pid.read_text().strip()), beside.exists()) == (True, False)


async def test_a_deployment_that_runs_waits_for_its_remote_as_long_as_it_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    impatient(monkeypatch, 0.0)
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file(script(held(tmp_path)))})
    with a_web_server(tmp_path, "ada", "pw") as web:
        async with a_world(tmp_path, origin) as world:
            world.remote = f"{web.origin.replace('//', '//ada:pw@')}/{origin.bare.name}"
            await begun_and_left(world, tmp_path)
            web.failures += [503] * 1000
            async with an_agent_at_work(world):
                trouble = await until(lambda: waits_for(world))
                web.failures.clear()
                (tmp_path / "go").touch()
                deployment = await world.ended()

    assert "503" in trouble
    assert how(deployment) == (DeploymentStatus.SUCCEEDED, StageStatus.SUCCEEDED), deployment.status_reason


@pytest.mark.parametrize("undone", [False, True], ids=["its script runs", "its script is being undone"])
async def test_a_deployment_that_runs_waits_for_a_plugin_host_that_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, undone: bool
) -> None:
    impatient(monkeypatch, 0.0)
    stage = script("exit 1", onRollback=held(tmp_path)) if undone else script(held(tmp_path))
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file(stage)})
    starts = asyncio.Event()
    launch = program.Hosted.launch

    async def when_allowed(self: program.Hosted) -> program.Launched:
        if not starts.is_set():
            raise BadPlugin("killed at its start")
        return await launch(self)

    async with a_world(tmp_path, origin) as world:
        await begun_and_left(world, tmp_path)
        monkeypatch.setattr(program.Hosted, "launch", when_allowed)
        async with an_agent_at_work(world):
            trouble = await until(lambda: told_to_the_server(world))
            starts.set()
            (tmp_path / "go").touch()
            deployment = await world.ended()

    ends = [StageStatus.FAILED, StageStatus.SUCCEEDED] if undone else [StageStatus.SUCCEEDED]
    assert "killed at its start" in trouble
    assert [each.status for each in deployment.stages] == ends, deployment.status_reason


@pytest.mark.parametrize(
    ("seconds", "forced"),
    [
        pytest.param(0.0, False, id="and nothing can be undone in time"),
        pytest.param(1e6, True, id="and nothing is to be undone"),
    ],
)
async def test_a_deployment_that_waits_for_its_remote_is_cancelled_and_what_runs_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, forced: bool
) -> None:
    impatient(monkeypatch, seconds)
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file(script(held(tmp_path)))})
    with a_web_server(tmp_path, "ada", "pw") as web:
        async with a_world(tmp_path, origin) as world:
            world.remote = f"{web.origin.replace('//', '//ada:pw@')}/{origin.bare.name}"
            await begun_and_left(world, tmp_path)
            web.failures += [503] * 1000
            async with an_agent_at_work(world):
                await until(lambda: waits_for(world))
                cancel = CancelDeployment(deployment_id=(await there(world, 1)).id, force_no_rollback=forced)
                await world.answer(await world.command(cancel))
                deployment = await world.ended()

    assert how(deployment) == (DeploymentStatus.CANCELLED, StageStatus.CANCELLED)
    assert deployment.status_reason.startswith("Cancelled by ada; it was not rolled back: ")
    assert is_dead((tmp_path / "pid").read_text().strip())


async def test_a_deployment_that_was_only_planned_is_cancelled_at_once_while_its_remote_is_away(tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file(script("true"))})
    planned = msgspec.structs.replace(
        Left().made("d-1", origin.head()), status=DeploymentStatus.PLANNED, stages=(a_stage(name="SCRIPT_RUN"),)
    )
    with a_web_server(tmp_path, "ada", "pw") as web:
        async with a_world(tmp_path, origin) as world:
            world.remote = f"{web.origin.replace('//', '//ada:pw@')}/{origin.bare.name}"
            await world.add_application()
            await world.store.write(partial(insert, planned))
            web.failures += [503] * 1000
            async with an_agent_at_work(world):
                await until(lambda: waits_for(world))
                await world.answer(await world.command(CancelDeployment(deployment_id="d-1")))
                deployment = await world.ended()

    assert how(deployment) == (DeploymentStatus.CANCELLED, StageStatus.NOT_STARTED)
    assert deployment.status_reason == "Cancelled by ada before any stage had started"


async def test_what_runs_is_ended_when_a_defect_of_the_agent_ends_its_deployment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Defective(DeploymentRun):
        async def run(self) -> Deployment:
            working = asyncio.create_task(super().run())
            await appears(tmp_path / "pid")
            working.cancel()
            await asyncio.wait({working})
            raise RuntimeError("odd")

    monkeypatch.setattr(deploying, "DeploymentRun", Defective)
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file(script(held(tmp_path)))})
    async with a_world(tmp_path, origin) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            deployment = await world.ended()
            await until(lambda: is_free(world))

    assert how(deployment) == (DeploymentStatus.FAILED, StageStatus.FAILED)
    assert deployment.status_reason == "A defect of the agent: RuntimeError: odd"
    assert is_dead((tmp_path / "pid").read_text().strip())


async def is_free(world: World) -> bool:
    """Whether the application is not called under deployment."""
    return not (await world.application()).deploying


async def begun_and_left(world: World, folder: Path) -> None:
    """A deployment whose script runs, and of whose repository the next agent has nothing."""
    await world.add_application()
    async with an_agent_at_work(world):
        await appears(folder / "pid")
    shutil.rmtree(world.data / "mirrors")
