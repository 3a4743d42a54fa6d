"""Reports that come late, early or about nothing: which status they get, and that they change nothing."""

from pathlib import Path
from typing import Any

import pytest

from fairway.model.deployment import DeploymentStatus
from fairway.model.log_block import LogBlock
from fairway.model.stage import StageStatus
from fairway.rpc.agent_api import messages as m
from fairway.rpc.convert.deployment import to_wire_deployment
from fairway.rpc.convert.log_block import to_wire_log_block
from fairway.server.logs import StageLogKey
from fairway.server.store import applications, deployments
from tests.integration.server.agent.serving import serving
from tests.unit.model.builders import NOW, a_deployment, a_stage, an_application

SECONDS = int(NOW.timestamp())


def status_changed(status: str) -> Any:
    return m.ReportDeploymentStatusChangedRequest(deployment_id="d-1", status=status)


def completed(status: str) -> Any:
    return m.ReportDeploymentCompletedRequest(deployment_id="d-1", status=status, completed_at=SECONDS)


def stage_changed(status: str, **fields: Any) -> Any:
    named = {"deployment_id": "d-1", "stage_id": "stage-0", "status": status, "completed_at": SECONDS, **fields}
    return m.ReportStageStatusChangedRequest(**named)


PLANNED = m.ReportDeploymentPlannedRequest(deployment_id="d-1", summary="another plan")
ENDED = DeploymentStatus.FAILED
RUNS = DeploymentStatus.RUNNING
NEW = DeploymentStatus.PENDING


@pytest.mark.parametrize(
    ("found", "request_", "answer"),
    [
        pytest.param(ENDED, PLANNED, "OK", id="a late plan"),
        pytest.param(RUNS, PLANNED, "OK", id="a plan while it runs"),
        pytest.param(ENDED, status_changed("DEPLOYMENT_RUNNING"), "OK", id="a late status"),
        pytest.param(RUNS, status_changed("DEPLOYMENT_RUNNING"), "OK", id="a repeated status"),
        pytest.param(NEW, status_changed("DEPLOYMENT_RUNNING"), "FAILED_PRECONDITION", id="a status before its plan"),
        pytest.param(NEW, status_changed("DEPLOYMENT_SUCCESS"), "INVALID_ARGUMENT", id="a final status as a change"),
        pytest.param(NEW, status_changed("DEPLOYMENT_PLANNED"), "INVALID_ARGUMENT", id="a plan as a change"),
        pytest.param(ENDED, completed("DEPLOYMENT_SUCCESS"), "OK", id="another end"),
        pytest.param(NEW, completed("DEPLOYMENT_SUCCESS"), "FAILED_PRECONDITION", id="a success of nothing"),
        pytest.param(RUNS, completed("DEPLOYMENT_RUNNING"), "INVALID_ARGUMENT", id="an end that is none"),
        pytest.param(ENDED, stage_changed("STAGE_RUNNING"), "OK", id="a stage after the end"),
        pytest.param(RUNS, stage_changed("STAGE_SUCCESS"), "FAILED_PRECONDITION", id="a stage that never started"),
        pytest.param(RUNS, stage_changed("STAGE_RUNNING", stage_id="?"), "NOT_FOUND", id="an unknown stage"),
        pytest.param(RUNS, stage_changed("STAGE_RUNNING", retried_count=-1), "INVALID_ARGUMENT", id="minus one try"),
        pytest.param(RUNS, stage_changed("STAGE_RUNNING", deployment_id="?"), "NOT_FOUND", id="an unknown deployment"),
    ],
)
async def test_a_report_that_does_not_fit_changes_nothing(
    tmp_path: Path, found: DeploymentStatus, request_: Any, answer: str
) -> None:
    known = a_deployment(status=found, stages=(a_stage(),))
    async with serving(tmp_path) as server:
        await server.add_agent()
        await server.add_application()
        await server.add_deployment(status=found, stages=(a_stage(),))

        call = type(request_).__name__.removesuffix("Request")
        given = await server.agent().refused(call, request_)

        assert (given, await server.load(deployments.load_deployment, "d-1")) == (answer, known)


async def test_notes_are_added_to_those_before_each_in_its_place(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        await server.add_agent()
        await server.add_deployment(stages=(a_stage(),), metadata={"old": "0"}, plugin_metadata={"q": {"q": "q"}})
        agent, named = server.agent(), {"deployment_id": "d-1"}

        for value in ({"a": "1", "b": "1"}, {"b": "2"}):
            requests: list[Any] = [
                m.SaveDeploymentMetadataRequest(**named, metadata=value),
                m.SaveDeploymentSharedMetadataRequest(**named, metadata=value),
                m.SaveDeploymentPluginMetadataRequest(**named, plugin_name="p", metadata=value),
                m.SaveStageMetadataRequest(**named, stage_id="stage-0", metadata=value),
            ]
            for request in requests:
                await agent.call(type(request).__name__.removesuffix("Request"), request)

        both = {"a": "1", "b": "2"}
        assert await server.load(deployments.load_deployment, "d-1") == a_deployment(
            stages=(a_stage(metadata=both),),
            metadata={"old": "0", **both},
            shared_metadata=both,
            plugin_metadata={"q": {"q": "q"}, "p": both},
        )


async def test_logs_of_a_stage_that_starts_again_after_its_end_are_added(tmp_path: Path) -> None:
    lines = [LogBlock(index=index, log=f"line {index}\n" * 20_000, created_at=NOW) for index in (1, 2)]
    named: dict[str, Any] = {"deployment_id": "d-1", "stage_id": "stage-0"}
    async with serving(tmp_path) as server:
        await server.add_agent()
        await server.add_deployment(status=DeploymentStatus.SUCCEEDED, stages=(a_stage(status=StageStatus.SUCCEEDED),))
        for line, completed in zip(lines, (True, False), strict=True):
            sent = m.ReportStageLogsFromLastCheckpointRequest(**named, completed=completed)
            sent.blocks.append(to_wire_log_block(line))
            await server.agent().call("ReportStageLogsFromLastCheckpoint", sent)

        log = await server.logs.read(StageLogKey("d-1", "stage-0", 0))

        assert (list(log.blocks), log.completed) == (lines, True)


@pytest.mark.parametrize("make", [m.ReportStageLogsRequest, m.ReportStageLogsFromLastCheckpointRequest])
@pytest.mark.parametrize(
    ("fields", "answer"),
    [
        pytest.param({"stage_id": "../other"}, "NOT_FOUND", id="an unknown stage"),
        pytest.param({"deployment_id": "../d-1"}, "NOT_FOUND", id="an unknown deployment"),
        pytest.param({"retried_count": -1}, "INVALID_ARGUMENT", id="minus one try"),
    ],
)
async def test_logs_of_nothing_that_exists_are_refused(
    tmp_path: Path, make: Any, fields: dict[str, Any], answer: str
) -> None:
    async with serving(tmp_path) as server:
        await server.add_agent()
        await server.add_deployment(stages=(a_stage(),))

        request = make(**{"deployment_id": "d-1", "stage_id": "stage-0", **fields})
        given = await server.agent().refused(make.__name__.removesuffix("Request"), request)

        assert (given, await server.logs.list_stages("d-1")) == (answer, ())


@pytest.mark.parametrize(
    ("fields", "request_fields", "answer"),
    [
        pytest.param({"disabled": True}, {}, "FAILED_PRECONDITION", id="a disabled application"),
        pytest.param({"deleted_at": NOW}, {}, "FAILED_PRECONDITION", id="a deleted application"),
        pytest.param({}, {"status": RUNS}, "INVALID_ARGUMENT", id="a deployment that runs already"),
        pytest.param({}, {"chain_id": "c-9"}, "NOT_FOUND", id="a chain that does not exist"),
        pytest.param({}, {"application_id": "a-9"}, "NOT_FOUND", id="an unknown application"),
    ],
)
async def test_a_deployment_that_cannot_be_is_not_created(
    tmp_path: Path, fields: dict[str, Any], request_fields: dict[str, Any], answer: str
) -> None:
    async with serving(tmp_path) as server:
        await server.add_agent()
        await server.add_application(**fields)

        request = m.CreateDeploymentRequest(deployment=to_wire_deployment(a_deployment(**request_fields)))
        given = await server.agent().refused("CreateDeployment", request)

        listed = await server.agent().call("ListNotCompletedDeployments", m.ListNotCompletedDeploymentsRequest())
        assert (given, list(listed.deployments)) == (answer, [])
        assert await server.load(applications.load_application, "a-1") == an_application(**fields)


async def test_open_deployments_come_page_by_page_and_the_last_cursor_is_empty(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        await server.add_agent()
        for number in range(120):
            await server.add_deployment(id=f"d-{number:03}")

        cursor, sizes = "", list[int]()
        ids = set[str]()
        while not sizes or cursor:
            request = m.ListNotCompletedDeploymentsRequest(cursor=cursor)
            page = await server.agent().call("ListNotCompletedDeployments", request)
            sizes.append(len(page.deployments))
            ids |= {found.id for found in page.deployments}
            cursor = page.cursor

        assert (sizes, len(ids)) == ([50, 50, 20], 120)
