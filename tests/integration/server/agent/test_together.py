"""Reports that come together: as if each had come by itself, and all or none of them."""

from pathlib import Path
from typing import Any

import pytest
from grpc import aio

from fairway.model.deployment import DeploymentStatus
from fairway.model.stage import StageStatus
from fairway.rpc.agent_api import ReportStub, report_messages
from fairway.rpc.agent_api import messages as m
from fairway.rpc.convert.deployment import to_wire_deployment
from fairway.rpc.convert.stage import STAGE_STATUSES, to_wire_stage
from fairway.server.agent_service.together import MOST_REPORTS
from fairway.server.hints import HintTopic
from fairway.server.store import applications, deployments
from tests.integration.server.agent.serving import Serving, serving
from tests.integration.server.agent.test_chains import begin, follow
from tests.unit.model.builders import NOW, a_deployment, a_stage

SECONDS = int(NOW.timestamp())
CREATED = m.CreateDeploymentRequest(deployment=to_wire_deployment(a_deployment(status=DeploymentStatus.PENDING)))
PLANNED = m.ReportDeploymentPlannedRequest(deployment_id="d-1", summary="a plan", stages=[to_wire_stage(a_stage())])
RUNS = m.ReportDeploymentStatusChangedRequest(deployment_id="d-1", status="DEPLOYMENT_RUNNING")
NOTED = m.SaveDeploymentSharedMetadataRequest(deployment_id="d-1", metadata={"a": "1"})
STARTED = m.ReportStageStatusChangedRequest(
    deployment_id="d-1", stage_id="stage-0", status="STAGE_RUNNING", completed_at=SECONDS
)
UNKNOWN = m.SaveDeploymentSharedMetadataRequest(deployment_id="?", metadata={"a": "1"})
ENDED = m.ReportDeploymentCompletedRequest(
    deployment_id="d-1",
    status="DEPLOYMENT_SUCCESS",
    completed_at=SECONDS,
    stage_statuses={"stage-0": STAGE_STATUSES.to_wire(StageStatus.SUCCEEDED)},
)


def a_report(request: Any) -> report_messages.Report:
    method = type(request).__name__.removesuffix("Request")
    return report_messages.Report(method=method, request=request.SerializeToString())


async def status_of(served: Serving, *reports: report_messages.Report) -> str:
    """The name of the status with which the call ends."""
    try:
        request = report_messages.ReportRequest(reports=reports)
        await ReportStub(served.channel).Report(request, metadata=served.agent().metadata)
    except aio.AioRpcError as error:
        return error.code().name
    return "OK"


async def stored(served: Serving) -> Any:
    found = await served.load(deployments.load_deployment, "d-1")
    application = await served.load(applications.load_application, "a-1")
    return found, application.last_triggered, application.last_succeeded


async def test_reports_together_leave_what_they_leave_one_by_one(tmp_path: Path, database: str) -> None:
    requests = (CREATED, PLANNED, NOTED, RUNS, STARTED, ENDED)
    left = []
    async with serving(tmp_path) as apart:
        await apart.add_agent()
        await apart.add_application()
        for request in requests:
            await apart.agent().call(type(request).__name__.removesuffix("Request"), request)
        left.append(await stored(apart))
    (tmp_path / "other").mkdir()
    async with serving(tmp_path / "other", database if "postgres" in database else "") as together:
        await together.add_agent()
        await together.add_application()

        assert await status_of(together, *map(a_report, requests)) == "OK"

        left.append(await stored(together))
    assert left[1] == left[0]
    assert left[1][0].status is DeploymentStatus.SUCCEEDED


async def test_of_reports_one_of_which_is_refused_none_is_kept(tmp_path: Path, database: str) -> None:
    async with serving(tmp_path, database) as served:
        await served.add_agent()
        await served.add_application()
        await served.add_deployment(status=DeploymentStatus.PENDING)
        before = await stored(served)

        early = m.ReportStageStatusChangedRequest(
            deployment_id="d-1", stage_id="stage-0", status="STAGE_SUCCESS", completed_at=SECONDS
        )
        given = await status_of(served, *map(a_report, (PLANNED, NOTED, early)))

        assert (given, await stored(served)) == ("FAILED_PRECONDITION", before)


async def test_hints_are_given_once_what_they_tell_of_is_stored(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        await begin(served)
        await follow(served)
        served.hints.published.clear()

        refused = await status_of(served, *map(a_report, (PLANNED, RUNS, ENDED, UNKNOWN)))
        early = list(served.hints.published)
        taken = await status_of(served, *map(a_report, (PLANNED, RUNS, ENDED)))

        told = [("agent-2", HintTopic.DEPLOYMENTS)]
        assert (refused, early, taken, served.hints.published) == ("NOT_FOUND", [], "OK", told)


@pytest.mark.parametrize(
    ("reports", "given"),
    [
        pytest.param([], "OK", id="none"),
        pytest.param([report_messages.Report(method="ReportStageLogs")], "INVALID_ARGUMENT", id="a log"),
        pytest.param([report_messages.Report(method="ListApplications")], "INVALID_ARGUMENT", id="a question"),
        pytest.param(
            [report_messages.Report(method="CreateDeployment", request=b"\xff")], "INVALID_ARGUMENT", id="garbage"
        ),
        pytest.param([a_report(m.CreateDeploymentRequest())], "INVALID_ARGUMENT", id="broken rules"),
        pytest.param([a_report(NOTED)] * (MOST_REPORTS + 1), "INVALID_ARGUMENT", id="too many"),
        pytest.param([a_report(RUNS)], "NOT_FOUND", id="about nothing"),
    ],
)
async def test_what_cannot_be_taken_together_is_refused(
    tmp_path: Path, reports: list[report_messages.Report], given: str
) -> None:
    async with serving(tmp_path) as served:
        await served.add_agent()

        assert await status_of(served, *reports) == given


async def test_a_stage_starts_and_its_deployment_ends_in_one_call(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        await served.add_agent()
        await served.add_application()
        await served.add_deployment(status=DeploymentStatus.RUNNING, stages=(a_stage(),))

        assert await status_of(served, a_report(STARTED), a_report(ENDED)) == "OK"

        found = await served.load(deployments.load_deployment, "d-1")
        assert [stage.status for stage in found.stages] == [StageStatus.SUCCEEDED]
