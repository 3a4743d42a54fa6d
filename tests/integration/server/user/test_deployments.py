"""Deployments and their logs through APIService."""

from datetime import timedelta
from pathlib import Path

import grpc
import pytest

from fairway.model.application import ApplicationKind
from fairway.model.deployment import DeploymentStatus
from fairway.model.log_block import LogBlock
from fairway.rpc.convert.deployment import to_wire_deployment
from fairway.rpc.convert.log_block import to_wire_log_block
from fairway.rpc.user_api import messages as m
from fairway.server.logs import StageLogKey
from fairway.server.user_service.deployments import LOG_BYTES
from tests.integration.server.user.serving import Serving, code_of, serving
from tests.unit.model.builders import a_deployment, a_stage
from tests.unit.server.user.builders import NOW

GO_MESSAGE_BYTES = 4 * 1024 * 1024


def block(index: int, text: str) -> LogBlock:
    return LogBlock(index=index, log=text, created_at=NOW)


async def test_a_deployment_is_shown_whole(tmp_path: Path) -> None:
    deployment = a_deployment(project_id="acme", stages=(a_stage(),), labels={"env": "dev"})
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await served.add(deployment)

        shown = await client.GetDeployment(m.GetDeploymentRequest(deployment_id="d-1"))

        assert shown == m.GetDeploymentResponse(deployment=to_wire_deployment(deployment))


async def fill(served: Serving) -> None:
    """Six deployments of three applications; the later, the newer; and one of another project."""
    statuses = (DeploymentStatus.SUCCEEDED, DeploymentStatus.FAILED, DeploymentStatus.RUNNING)
    kinds = (ApplicationKind.KUBERNETES, ApplicationKind.ECS, ApplicationKind.LAMBDA)
    for number in range(6):
        which = number % 3
        await served.add(
            a_deployment(
                id=f"d-{number}",
                project_id="acme",
                application_id=f"app-{which}",
                application_name=f"name-{which}",
                kind=kinds[which],
                status=statuses[which],
                labels={"half": str(number // 3)},
                updated_at=NOW + timedelta(minutes=number),
            )
        )
    await served.add(a_deployment(id="foreign", project_id="other"))


@pytest.mark.parametrize(
    ("request_", "found"),
    [
        pytest.param(m.ListDeploymentsRequest(), "543210", id="all, newest first"),
        pytest.param(m.ListDeploymentsRequest(statuses=["SUCCESS", "DEPLOYMENT_FAILURE"]), "4310", id="two statuses"),
        pytest.param(m.ListDeploymentsRequest(kinds=["ECS", "LAMBDA"]), "5421", id="two kinds"),
        pytest.param(m.ListDeploymentsRequest(application_ids=["app-0", "app-2"]), "5320", id="two applications"),
        pytest.param(m.ListDeploymentsRequest(application_name="name-1"), "41", id="name"),
        pytest.param(m.ListDeploymentsRequest(labels={"half": "1"}), "543", id="label"),
        pytest.param(m.ListDeploymentsRequest(labels={"half": "1"}, kinds=["ECS"]), "4", id="label and kind"),
        pytest.param(m.ListDeploymentsRequest(application_ids=["nobody"]), "", id="nothing"),
    ],
)
async def test_everything_in_a_filter_counts(tmp_path: Path, request_: m.ListDeploymentsRequest, found: str) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await fill(served)

        answer = await client.ListDeployments(request_)

        assert [deployment.id for deployment in answer.deployments] == [f"d-{number}" for number in found]


async def test_pages_follow_each_other_and_the_last_has_no_cursor(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await fill(served)

        first = await client.ListDeployments(m.ListDeploymentsRequest(labels={"half": "0"}, limit=2))
        last = await client.ListDeployments(
            m.ListDeploymentsRequest(labels={"half": "0"}, limit=2, cursor=first.cursor)
        )

        assert [[found.id for found in page.deployments] for page in (first, last)] == [["d-2", "d-1"], ["d-0"]]
        assert (bool(first.cursor), last.cursor) == (True, "")


@pytest.mark.parametrize(
    "request_",
    [
        pytest.param(m.ListDeploymentsRequest(cursor="not a cursor"), id="cursor"),
        pytest.param(m.ListDeploymentsRequest(limit=-1), id="limit"),
        pytest.param(m.ListDeploymentsRequest(statuses=["DONE"]), id="status"),
    ],
)
async def test_a_list_that_cannot_be_meant_is_refused(tmp_path: Path, request_: m.ListDeploymentsRequest) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        assert await code_of(client.ListDeployments(request_)) is grpc.StatusCode.INVALID_ARGUMENT


async def test_deployments_of_another_project_and_their_logs_are_refused(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await served.add(a_deployment(project_id="other"))

        shown = await code_of(client.GetDeployment(m.GetDeploymentRequest(deployment_id="d-1")))
        logs = await code_of(client.ListStageLogs(m.ListStageLogsRequest(deployment_id="d-1")))

        assert (shown, logs) == (grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.PERMISSION_DENIED)


async def test_the_log_of_each_stage_is_that_of_its_latest_run(tmp_path: Path) -> None:
    stages = (a_stage("one", retried_count=1), a_stage("two"), a_stage("Rollback", name="ROLLBACK"))
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await served.add(a_deployment(project_id="acme", stages=stages))
        await served.logs.append(StageLogKey("d-1", "one", 0), [block(1, "first run\n")], completed=True)
        await served.logs.append(StageLogKey("d-1", "one", 1), [block(7, "second run\n")], completed=True)

        answer = await client.ListStageLogs(m.ListStageLogsRequest(deployment_id="d-1"))

        second = m.StageLog(blocks=[to_wire_log_block(block(7, "second run\n"))], completed=True)
        assert answer == m.ListStageLogsResponse(stage_logs={"one": second, "two": m.StageLog()})


async def test_the_log_of_a_rollback_that_ran_is_there(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await served.add(a_deployment(project_id="acme", stages=(a_stage("Rollback", name="ROLLBACK"),)))
        await served.logs.append(StageLogKey("d-1", "Rollback", 0), [block(1, "undone\n")])

        answer = await client.ListStageLogs(m.ListStageLogsRequest(deployment_id="d-1"))

        assert list(answer.stage_logs) == ["Rollback"]


async def test_logs_beyond_the_size_of_a_message_lose_their_beginning(tmp_path: Path) -> None:
    async with serving(tmp_path) as served, served.client(await served.new_key()) as client:
        await served.add(a_deployment(project_id="acme", stages=(a_stage("one"), a_stage("two"))))
        for stage in ("one", "two"):
            lines = [block(index, "x" * 100_000 + "\n") for index in range(1, LOG_BYTES // 100_000)]
            await served.logs.append(StageLogKey("d-1", stage, 0), lines, completed=True)

        answer = await client.ListStageLogs(m.ListStageLogsRequest(deployment_id="d-1"))

        assert answer.ByteSize() < GO_MESSAGE_BYTES
        for log in answer.stage_logs.values():
            assert "left out" in log.blocks[0].log
            assert (log.completed, log.blocks[-1].index) == (True, LOG_BYTES // 100_000 - 1)
