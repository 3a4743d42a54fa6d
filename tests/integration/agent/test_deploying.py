"""From a push to the end of a deployment, through real processes; and what is undone when it goes wrong."""

import asyncio
import os
import posixpath
import signal
from pathlib import Path

import pytest

from fairway.model.command import CancelDeployment, CommandStatus, SyncApplication
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.stage import StageStatus
from tests.integration.agent.running import World, a_world, an_agent_at_work, an_application_file, script, until
from tests.integration.git.repositories import an_origin

Ended = tuple[DeploymentStatus, list[tuple[str, StageStatus]]]


def how_it_ended(deployment: Deployment) -> Ended:
    return deployment.status, [(stage.name, stage.status) for stage in deployment.stages]


async def begun(world: World, mark: Path) -> Deployment:
    """The first deployment, once its script has made the mark."""

    async def look() -> Deployment | None:
        found = await world.deployments()
        return found[0] if found and await exists(mark) else None

    return await until(look)


async def test_a_commit_runs_its_script(tmp_path: Path) -> None:
    run = "echo hello from $SR_APPLICATION_NAME"
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file(script(run))})
    async with a_world(tmp_path, origin) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            deployment = await world.ended()
            await until(lambda: nothing_kept(world, deployment))

        assert deployment.status is DeploymentStatus.SUCCEEDED, deployment.status_reason
        assert await world.output(deployment, 0) == "hello from web"


@pytest.mark.parametrize("directory", [pytest.param(".", id="the root"), pytest.param("a", id="one letter")])
async def test_an_application_may_lie_at_the_root_or_in_a_directory_of_one_letter(
    tmp_path: Path, directory: str
) -> None:
    file = posixpath.normpath(f"{directory}/app.pipecd.yaml")
    async with a_world(tmp_path, an_origin(tmp_path, {file: an_application_file(script("echo here"))})) as world:
        await world.add_application(directory)
        async with an_agent_at_work(world):
            deployment = await world.ended()

        assert deployment.status is DeploymentStatus.SUCCEEDED, deployment.status_reason
        assert await world.output(deployment, 0) == "here"


async def test_the_next_push_is_deployed_and_one_beside_the_application_is_not(tmp_path: Path) -> None:
    origin = an_origin(
        tmp_path, {"web/app.pipecd.yaml": an_application_file(script("cat version")), "web/version": "1\n"}
    )
    async with a_world(tmp_path, origin) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            await world.ended()
            origin.commit({"other/README": "nothing of web's"})
            origin.commit({"web/version": "2\n"})
            second = await world.ended(2)

        assert await world.output(second, 0) == "2"
        assert second.running_commit_hash == (await world.deployments())[0].trigger.commit.hash
        assert len(await world.deployments()) == 2


async def test_a_failed_script_undoes_those_that_were_started(tmp_path: Path) -> None:
    undone = tmp_path / "undone"
    file = an_application_file(
        script("echo one", onRollback=f"echo one >> {undone}"),
        script("echo two >&2; exit 3", onRollback=f"echo two >> {undone}"),
        script("echo three", onRollback=f"echo three >> {undone}"),
    )
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            deployment = await world.ended()

    assert how_it_ended(deployment) == (
        DeploymentStatus.FAILED,
        [
            ("SCRIPT_RUN", StageStatus.SUCCEEDED),
            ("SCRIPT_RUN", StageStatus.FAILED),
            ("SCRIPT_RUN", StageStatus.NOT_STARTED),
            ("SCRIPT_RUN_ROLLBACK", StageStatus.SUCCEEDED),
            ("SCRIPT_RUN_ROLLBACK", StageStatus.SUCCEEDED),
            ("SCRIPT_RUN_ROLLBACK", StageStatus.NOT_STARTED),
        ],
    )
    assert undone.read_text() == "one\ntwo\n"
    assert deployment.stages[1].status_reason.startswith("exit status 3 after ")


async def test_a_cancel_ends_the_script_before_it_is_undone(tmp_path: Path) -> None:
    mark, undone = tmp_path / "mark", tmp_path / "undone"
    # The child would outlive its shell, if only that were ended.
    run = f"(sleep 1000 & echo $! > {tmp_path}/child; touch {mark}; wait)"
    lives = f"grep -qs '^State:.[^ZX]' /proc/$(cat {tmp_path}/child)/status"
    undo = f"{lives} && echo alive > {undone} || echo gone > {undone}"
    file = an_application_file(script(run, onRollback=undo))
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            running = await begun(world, mark)
            command = await world.command(CancelDeployment(deployment_id=running.id))
            deployment = await world.ended()
            answer = await world.answer(command)

    assert how_it_ended(deployment) == (
        DeploymentStatus.CANCELLED,
        [("SCRIPT_RUN", StageStatus.CANCELLED), ("SCRIPT_RUN_ROLLBACK", StageStatus.SUCCEEDED)],
    )
    assert undone.read_text() == "gone\n"
    assert deployment.status_reason.startswith("Cancelled by ada")
    assert answer.status is CommandStatus.SUCCEEDED


async def test_a_script_goes_on_while_its_agent_is_replaced(tmp_path: Path) -> None:
    mark, go, ran = tmp_path / "mark", tmp_path / "go", tmp_path / "ran"
    run = f"echo before; echo once >> {ran}; touch {mark}; while [ ! -e {go} ]; do sleep 0.05; done; echo after"
    file = an_application_file(script(run))
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            await begun(world, mark)
        go.touch()
        async with an_agent_at_work(world):
            deployment = await world.ended()

        assert deployment.status is DeploymentStatus.SUCCEEDED, deployment.status_reason
        assert await world.output(deployment, 0) == "before\nafter"
        assert ran.read_text() == "once\n"


async def test_killed_plugins_are_started_again_and_the_script_is_taken_up(tmp_path: Path) -> None:
    mark, go, ran = tmp_path / "mark", tmp_path / "go", tmp_path / "ran"
    run = f"echo $PPID > {tmp_path}/keeper; echo once >> {ran}; touch {mark}; while [ ! -e {go} ]; do sleep 0.05; done"
    file = an_application_file(script(run))
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            await begun(world, mark)
            os.kill(parent_of((tmp_path / "keeper").read_text().strip()), signal.SIGKILL)
            go.touch()
            deployment = await world.ended()

    assert deployment.status is DeploymentStatus.SUCCEEDED, deployment.status_reason
    assert ran.read_text() == "once\n"


async def test_work_goes_on_while_the_server_is_away(tmp_path: Path) -> None:
    mark, go = tmp_path / "mark", tmp_path / "go"
    file = an_application_file(
        script(f"touch {mark}; while [ ! -e {go} ]; do sleep 0.05; done; echo one"), script(f"touch {tmp_path}/second")
    )
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            await begun(world, mark)
            port = int(world.address.rpartition(":")[2])
            await world.stop_serving()
            go.touch()
            await until(lambda: exists(tmp_path / "second"))
            await world.serve(port)
            deployment = await world.ended()

        assert deployment.status is DeploymentStatus.SUCCEEDED, deployment.status_reason
        assert await world.output(deployment, 0) == "one"


async def test_somebody_asks_for_a_deployment(tmp_path: Path) -> None:
    file = an_application_file(script("true"))
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            await world.ended()
            command = await world.answer(await world.command(SyncApplication(application_id="a-web")))
            deployment = await world.ended(2)

    assert command.metadata == {"TriggeredDeploymentID": deployment.id}
    assert deployment.trigger.commander == "ada"


async def nothing_kept(world: World, deployment: Deployment) -> bool:
    """Whether the agent has removed all that it kept of a deployment."""
    # Not `rglob`, which stumbles over what is removed under it.
    return not any(deployment.id in directories for _, directories, _ in os.walk(world.data))


async def exists(path: Path) -> bool:
    return await asyncio.to_thread(path.exists)


def parent_of(pid: str) -> int:
    """The process that started another."""
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2]
    return int(after_name.split()[1])
