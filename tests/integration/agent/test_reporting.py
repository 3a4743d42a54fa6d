"""What an agent tells the server of a deployment: together what comes together, and what follows when it is refused."""

from pathlib import Path

import msgspec
import pytest

from fairway.agent import reports
from fairway.agent.control_plane import ControlPlane
from fairway.agent.reports import Report
from fairway.agent.workspace import Workspace
from fairway.model.application import Application
from fairway.model.command import ApproveStage
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.plan import Plan
from fairway.model.stage import StageStatus
from fairway.rpc.agent_api import messages
from fairway.server.store import applications
from tests.integration.agent.running import World, a_world, an_agent_at_work, an_application_file, script, until
from tests.integration.git.repositories import an_origin

WAIT_APPROVAL = '{"name": "WAIT_APPROVAL", "with": {"approvers": ["ada"]}}'


async def test_what_happens_in_one_moment_is_told_in_one_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[list[str]] = []
    send = ControlPlane.send

    async def noted(server: ControlPlane, *sent: Report) -> None:
        told.append([report.method for report in sent])
        await send(server, *sent)

    monkeypatch.setattr(ControlPlane, "send", noted)
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file(script("true"), script("true"))})
    async with a_world(tmp_path, origin) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            await world.ended()

    started, stage = "SaveDeploymentSharedMetadata", "ReportStageStatusChanged"
    place, log = "SaveDeploymentPluginMetadata", ["ReportStageLogsFromLastCheckpoint"]
    newest, busy = "ReportApplicationMostRecentDeployment", "ReportApplicationDeployingStatus"
    assert told == [
        ["CreateDeployment", newest, busy],
        ["ReportDeploymentPlanned", started, "ReportDeploymentStatusChanged", place, stage],
        log,
        ["SaveStageMetadata", stage, place, stage],
        log,
        ["SaveStageMetadata", stage, "ReportDeploymentCompleted", newest, busy],
    ]


async def test_a_deployment_whose_plan_the_server_refuses_fails_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nobodys(_deployment: Deployment, _plan: Plan) -> Report:
        return Report("ReportDeploymentPlanned", messages.ReportDeploymentPlannedRequest())

    monkeypatch.setattr(reports, "planned", nobodys)
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file(script(f"touch {tmp_path}/ran"))})
    async with a_world(tmp_path, origin) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            ended = await world.ended()

        assert (ended.status, ended.stages) == (DeploymentStatus.FAILED, ())
        assert "the server refused ReportDeploymentPlanned" in ended.status_reason
        assert not (tmp_path / "ran").exists()


async def test_a_success_that_the_server_does_not_believe_starts_no_further_stage(tmp_path: Path) -> None:
    file = an_application_file(WAIT_APPROVAL, script(f"touch {tmp_path}/ran"))
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": file})
    async with a_world(tmp_path, origin) as world:
        await world.add_application()
        async with an_agent_at_work(world):

            async def waits() -> ApproveStage | None:
                found = await world.deployments()
                running = [each for each in found[0].stages if each.status is StageStatus.RUNNING] if found else []
                return ApproveStage(deployment_id=found[0].id, stage_id=running[0].id) if running else None

            # To the agent alone: the server has counted nobody's yes.
            await world.command(await until(waits))
            ended = await world.ended()

        assert [each.status for each in ended.stages] == [StageStatus.FAILED, StageStatus.NOT_STARTED]
        assert not (tmp_path / "ran").exists()


async def test_a_deployment_that_the_server_refuses_is_got_ready_for_nothing_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    removed: list[str] = []
    remove = Workspace.remove

    async def noted(workspace: Workspace, deployment_id: str) -> None:
        await remove(workspace, deployment_id)
        removed.append(deployment_id)

    monkeypatch.setattr(Workspace, "remove", noted)
    file = an_application_file(script(f"echo >> {tmp_path}/ran"))
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": file})
    async with a_world(tmp_path, origin) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            await until(lambda: _found(removed, 1))
            await disable(world, "a-web")
            origin.commit({"web/version": "2"})
            await until(lambda: _found(removed, 2))
            left = list((world.data / "work" / "deployments").iterdir())

        assert (len(await world.deployments()), left) == (1, [])
        assert (await world.application()).deploying is False
        assert (tmp_path / "ran").read_text() == "\n"


async def _found(removed: list[str], number: int) -> bool:
    return len(removed) >= number


async def disable(world: World, id: str) -> None:
    """As the server does it, but without a hint for the agent."""

    def change(found: Application) -> Application:
        return msgspec.structs.replace(found, disabled=True)

    await world.store.write(lambda connection: applications.update_application(connection, id, change))
