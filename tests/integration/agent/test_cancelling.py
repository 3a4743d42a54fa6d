"""A cancel is heard in every state; timeouts end what takes too long; and of many pushes the newest may be enough."""

import asyncio
from pathlib import Path

import pytest

from fairway.model.command import CancelDeployment, CommandStatus
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.stage import StageStatus
from tests.integration.agent.running import (
    OwnTime,
    World,
    a_world,
    an_agent_at_work,
    an_application_file,
    script,
    until,
)
from tests.integration.agent.test_journal import is_dead
from tests.integration.git.repositories import an_origin

#: A script that says that it runs, and ends when it may.
HOLDS = "touch {0}/mark; while [ ! -e {0}/go ]; do sleep 0.02; done"


async def there(world: World, number: int) -> Deployment:
    """The deployment of that number, once there is one."""

    async def look() -> Deployment | None:
        found = await world.deployments()
        return found[number - 1] if len(found) >= number else None

    return await until(look)


async def appears(path: Path) -> None:
    async def look() -> bool:
        return await asyncio.to_thread(path.exists)

    await until(look)


async def test_one_that_waits_for_its_turn_is_cancelled_at_once(tmp_path: Path) -> None:
    file = an_application_file(script(HOLDS.format(tmp_path)))
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": file})
    async with a_world(tmp_path, origin) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            await appears(tmp_path / "mark")
            origin.commit({"web/version": "2"})
            second = await there(world, 2)
            reason = second.status_reason
            answer = await world.answer(await world.command(CancelDeployment(deployment_id=second.id)))
            second = await world.ended(2)
            before = (await world.deployments())[0].status
            (tmp_path / "go").touch()
            first = await world.ended()

    assert (second.status, second.status_reason) == (
        DeploymentStatus.CANCELLED,
        "Cancelled by ada while it waited for its turn",
    )
    assert reason.endswith("before it (newer commits wait for theirs after it)")
    assert answer.status is CommandStatus.SUCCEEDED
    assert (before, first.status) == (DeploymentStatus.RUNNING, DeploymentStatus.SUCCEEDED)


async def test_a_newer_commit_takes_the_place_of_those_that_wait_where_the_file_says_so(tmp_path: Path) -> None:
    file = an_application_file(script(HOLDS.format(tmp_path)), spec="  trigger:\n    waiting: newest\n")
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": file})
    async with a_world(tmp_path, origin) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            await appears(tmp_path / "mark")
            for version in (2, 3):
                newest = origin.commit({"web/version": str(version)})
                await there(world, version)
            superseded = await world.ended(2)
            (tmp_path / "go").touch()
            ends = [(await world.ended(number)).status for number in (1, 3)]

    assert (superseded.status, superseded.status_reason) == (
        DeploymentStatus.CANCELLED,
        f"Superseded while it waited for its turn: commit {newest[:7]} is newer",
    )
    assert ends == [DeploymentStatus.SUCCEEDED] * 2


async def test_a_rollback_is_given_up_by_force(tmp_path: Path) -> None:
    file = an_application_file(script("exit 1", onRollback=HOLDS.format(tmp_path)))
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            await appears(tmp_path / "mark")
            deployment = await there(world, 1)
            await world.command(CancelDeployment(deployment_id=deployment.id, force_no_rollback=True))
            deployment = await world.ended()

    assert deployment.status is DeploymentStatus.FAILED
    assert [stage.status for stage in deployment.stages] == [StageStatus.FAILED, StageStatus.CANCELLED]
    why = "The rollback ends here: whoever cancelled asked for no rollback"
    given_up = f"SCRIPT_RUN_ROLLBACK of stage 1 ({why})"
    assert deployment.status_reason.endswith(f"the rollback was given up, with {given_up} left to do")


async def test_a_script_that_takes_too_long_fails_and_is_undone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    time = OwnTime(monkeypatch)
    run = f"echo $$ > {tmp_path}/new; mv {tmp_path}/new {tmp_path}/pid; sleep 1000"
    slow = script(run, timeout="1s", onRollback=f"touch {tmp_path}/undone")
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file(slow)})) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            await appears(tmp_path / "pid")
            time.pass_by(2)
            deployment = await world.ended()

    assert deployment.status is DeploymentStatus.FAILED
    assert deployment.stages[0].status is StageStatus.FAILED
    assert deployment.stages[0].status_reason == "timed out after 1s"
    assert deployment.status_reason == "Stage SCRIPT_RUN failed: timed out after 1s; it was rolled back"
    assert (tmp_path / "undone").exists()
    assert is_dead((tmp_path / "pid").read_text().strip())


async def test_a_deployment_that_takes_too_long_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    time, mark = OwnTime(monkeypatch), tmp_path / "mark"
    file = an_application_file(script(f"touch {mark}; sleep 1000"), spec="  timeout: 1s\n")
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            await appears(mark)
            time.pass_by(2)
            deployment = await world.ended()

    assert deployment.status is DeploymentStatus.FAILED
    assert deployment.stages[0].status_reason == "The deployment timed out after 1s"
    assert (
        deployment.status_reason
        == "The deployment timed out after 1s; there is no rollback: its plan has no rollback stages"
    )


async def test_a_rollback_that_takes_too_long_ends_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    time, mark = OwnTime(monkeypatch), tmp_path / "mark"
    file = an_application_file(script("exit 1", timeout="1s", onRollback=f"touch {mark}; sleep 1000"))
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            await appears(mark)
            time.pass_by(2)
            deployment = await world.ended()

    assert deployment.status is DeploymentStatus.FAILED
    assert deployment.stages[1].status is StageStatus.FAILED
    assert deployment.stages[1].status_reason == "timed out after 1s"


async def test_a_script_that_fails_is_run_again_as_often_as_it_may(tmp_path: Path) -> None:
    count = f"echo try >> {tmp_path}/tries; echo attempt; [ $(wc -l < {tmp_path}/tries) -ge 3 ]"
    file = an_application_file(script(count, retry=5))
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            deployment = await world.ended()
        log = (await world.log(deployment, 0)).splitlines()

    assert deployment.status is DeploymentStatus.SUCCEEDED, deployment.status_reason
    assert deployment.stages[0].status_reason.endswith("(attempt 3)")
    assert [line.split(":")[0] for line in log] == ["attempt", "Attempt 1", "attempt", "Attempt 2", "attempt", log[-1]]
