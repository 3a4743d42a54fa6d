"""The stages that every agent has: waiting for time, and for people."""

from pathlib import Path

import pytest

from fairway.model.command import ApproveStage, CommandStatus
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.stage import ManualOperation, StageStatus
from fairway.plugins.customsync import DEPRECATED
from tests.integration.agent.running import World, a_world, an_agent_at_work, an_application_file, until
from tests.integration.git.repositories import an_origin


async def waiting(world: World) -> Deployment:
    """The first deployment, once its first stage runs."""

    async def look() -> Deployment | None:
        found = await world.deployments()
        return found[0] if found and found[0].stages and found[0].stages[0].status is StageStatus.RUNNING else None

    return await until(look)


async def test_a_wait_takes_its_time_and_says_so(tmp_path: Path) -> None:
    file = an_application_file("{name: WAIT, with: {duration: 100ms}}")
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            deployment = await world.ended()

        assert deployment.status is DeploymentStatus.SUCCEEDED, deployment.status_reason
        assert (await world.log(deployment, 0)).splitlines()[-1] == "Waited 100ms"
        assert float(deployment.stages[0].metadata["startTime"]) > 0


async def test_enough_people_approve_also_over_a_restart(tmp_path: Path) -> None:
    file = an_application_file("{name: WAIT_APPROVAL, with: {approvers: [ada, bob, cleo], minApproverNum: 2}}")
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            deployment = await waiting(world)
            approve = ApproveStage(deployment_id=deployment.id, stage_id=deployment.stages[0].id)
            first = await world.approve(approve, "ada")

            async def noted() -> bool:
                (now,) = await world.deployments()
                return now.stages[0].metadata.get("pipecd/stage-approved-users") == "ada"

            await until(noted)
        async with an_agent_at_work(world):
            second = await world.approve(approve, "bob")
            ended = await world.ended()
            answers = [await world.answer(command) for command in (first, second)]

        assert ended.status is DeploymentStatus.SUCCEEDED, ended.status_reason
        assert ended.stages[0].metadata["pipecd/stage-approved-users"] == "ada, bob"
        assert ended.stages[0].available_operation is ManualOperation.APPROVE
        assert (await world.log(ended, 0)).count("Waiting for 2 approvals of ada, bob, cleo") == 1
        assert [answer.status for answer in answers] == [CommandStatus.SUCCEEDED] * 2


@pytest.mark.parametrize(
    ("on_timeout", "status", "reason"),
    [
        pytest.param("fail", StageStatus.FAILED, "timed out after 1s", id="fails"),
        pytest.param(
            "approve",
            StageStatus.SUCCEEDED,
            "Counts as approved, because too few answered within 1s (0 of 1 approvals)",
            id="counts as approved, to the server too",
        ),
    ],
)
async def test_an_approval_that_nobody_gives_in_time(
    tmp_path: Path, on_timeout: str, status: StageStatus, reason: str
) -> None:
    file = an_application_file(f"{{name: WAIT_APPROVAL, timeout: 1s, with: {{onTimeout: {on_timeout}}}}}")
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            ended = await world.ended()

    assert (ended.stages[0].status, ended.stages[0].status_reason) == (status, reason)


async def test_options_that_make_no_sense_fail_the_plan_before_anything_runs(tmp_path: Path) -> None:
    file = an_application_file(
        "{name: CUSTOM_SYNC, with: {envs: {A: b}, run: 'echo synced with $A'}}", "{name: WAIT, with: {duration: 5s}}"
    )
    broken = file.replace("duration: 5s", "duration: soon")
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": broken})) as world:
        await world.add_application()
        async with an_agent_at_work(world):

            async def told() -> str | None:
                application = await world.application()
                return application.sync_state.reason if application.sync_state else None

            assert "duration" in await until(told)
            world.origin.commit({"web/app.pipecd.yaml": file.replace("5s", "50ms")})
            deployment = await world.ended()

        assert deployment.status is DeploymentStatus.SUCCEEDED, deployment.status_reason
        log = (await world.log(deployment, 0)).splitlines()
        assert [line.split(" after")[0] for line in log] == [DEPRECATED, "synced with b", "exit status 0"]
