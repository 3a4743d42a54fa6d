"""Whole deployments in the order in which unmodified agents of both generations make their calls."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from fairway.model.application import ApplicationKind
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.log_block import LogBlock
from fairway.model.plan import Plan
from fairway.model.stage import StageStatus
from fairway.model.trigger import SyncStrategy
from fairway.rpc.agent_api import messages as m
from fairway.rpc.convert.application import to_wire_deployment_reference
from fairway.rpc.convert.deployment import DEPLOYMENT_STATUSES, to_wire_deployment, to_wire_planned
from fairway.rpc.convert.log_block import to_wire_log_block
from fairway.rpc.convert.stage import STAGE_STATUSES
from fairway.server.agent_service.references import reference_to
from fairway.server.logs import StageLogKey
from fairway.server.store import applications, deployments
from tests.integration.server.agent.serving import CallingAgent, Serving, serving
from tests.unit.model.builders import NOW, a_deployment, a_stage, a_trigger

SECONDS = int(NOW.timestamp())
PENDING, RUNNING, SUCCESS, FAILURE = map(
    DEPLOYMENT_STATUSES.to_wire,
    (DeploymentStatus.PENDING, DeploymentStatus.RUNNING, DeploymentStatus.SUCCEEDED, DeploymentStatus.FAILED),
)
STAGE_RUNNING, STAGE_SUCCESS = map(STAGE_STATUSES.to_wire, (StageStatus.RUNNING, StageStatus.SUCCEEDED))

V0 = a_deployment(kind=ApplicationKind.KUBERNETES, platform_provider="kubernetes-default")
V1 = a_deployment(deploy_targets_by_plugin={"wait": ("default",)}, shared_metadata={"by": "trigger"})
BOTH = pytest.mark.parametrize("begun", [pytest.param(V0, id="v0"), pytest.param(V1, id="v1")])


def block(index: int, log: str) -> LogBlock:
    return LogBlock(index=index, log=log, created_at=NOW)


async def start(agent: CallingAgent) -> None:
    await agent.call("ReportPipedMeta", m.ReportPipedMetaRequest(version="v0.57.1", config="kind: Piped"))
    await agent.call("ListApplications", m.ListApplicationsRequest())
    await agent.call(
        "ListEvents", m.ListEventsRequest(**{"from": SECONDS - 86_400}, order=m.DESC, status="NOT_HANDLED")
    )
    await agent.call(
        "ReportUnregisteredApplicationConfigurations", m.ReportUnregisteredApplicationConfigurationsRequest()
    )
    await agent.call("ListUnhandledCommands", m.ListUnhandledCommandsRequest())
    await agent.call("ReportStat", m.ReportStatRequest(piped_stats=b"up 1"))


async def trigger(agent: CallingAgent, begun: Deployment) -> None:
    none = m.GetApplicationMostRecentDeploymentRequest(application_id="a-1", status=PENDING)
    assert await agent.refused("GetApplicationMostRecentDeployment", none) == "NOT_FOUND"
    await agent.call("CreateDeployment", m.CreateDeploymentRequest(deployment=to_wire_deployment(begun)))
    await report_most_recent(agent, begun, PENDING)


async def plan(agent: CallingAgent, begun: Deployment) -> None:
    await report_deploying(agent, True)
    made = Plan(sync_strategy=SyncStrategy.QUICK_SYNC, summary="one stage", stages=(a_stage(),))
    await agent.call("ReportDeploymentPlanned", to_wire_planned(begun, made))
    running = m.ReportDeploymentStatusChangedRequest(deployment_id="d-1", status=RUNNING)
    await agent.call("ReportDeploymentStatusChanged", running)


async def begin_stage(agent: CallingAgent, begun: Deployment) -> None:
    await report_stage(agent, STAGE_RUNNING)
    if begun.kind is None:
        plugin = m.SaveDeploymentPluginMetadataRequest(deployment_id="d-1", plugin_name="wait", metadata={"k": "v"})
        await agent.call("SaveDeploymentPluginMetadata", plugin)
    note = m.SaveStageMetadataRequest(deployment_id="d-1", stage_id="stage-0", metadata={"started": "now"})
    await agent.call("SaveStageMetadata", note)
    logs = m.ReportStageLogsRequest(
        deployment_id="d-1", stage_id="stage-0", blocks=[to_wire_log_block(block(1, "one"))]
    )
    await agent.call("ReportStageLogs", logs)


async def finish(agent: CallingAgent, begun: Deployment) -> None:
    last = m.ReportStageLogsFromLastCheckpointRequest(deployment_id="d-1", stage_id="stage-0", completed=True)
    last.blocks.extend(to_wire_log_block(block(index, log)) for index, log in ((1, "one"), (2, "two")))
    await agent.call("ReportStageLogsFromLastCheckpoint", last)
    await report_stage(agent, STAGE_SUCCESS)
    done = m.ReportDeploymentCompletedRequest(deployment_id="d-1", status=SUCCESS, completed_at=SECONDS)
    done.stage_statuses["stage-0"] = STAGE_SUCCESS
    await agent.call("ReportDeploymentCompleted", done)
    await report_most_recent(agent, begun, SUCCESS)
    await report_deploying(agent, False)


async def report_stage(agent: CallingAgent, status: Any) -> None:
    report = m.ReportStageStatusChangedRequest(deployment_id="d-1", stage_id="stage-0", status=status)
    report.completed_at, report.visible = SECONDS, True
    await agent.call("ReportStageStatusChanged", report)


async def report_deploying(agent: CallingAgent, deploying: bool) -> None:
    report = m.ReportApplicationDeployingStatusRequest(application_id="a-1", deploying=deploying)
    await agent.call("ReportApplicationDeployingStatus", report)


async def report_most_recent(agent: CallingAgent, begun: Deployment, status: Any) -> None:
    report = m.ReportApplicationMostRecentDeploymentRequest(application_id="a-1", status=status)
    report.deployment.CopyFrom(to_wire_deployment_reference(reference_to(begun)))
    await agent.call("ReportApplicationMostRecentDeployment", report)


async def outcome(server: Serving) -> tuple[object, ...]:
    found = await server.load(deployments.load_deployment, "d-1")
    application = await server.load(applications.load_application, "a-1")
    log = await server.logs.read(StageLogKey("d-1", "stage-0", 0))
    open_ones = await server.agent().call("ListNotCompletedDeployments", m.ListNotCompletedDeploymentsRequest())
    return (
        found.status,
        found.trigger.sync_strategy,
        [(stage.status, stage.metadata) for stage in found.stages],
        (application.last_triggered.deployment_id, application.last_succeeded.deployment_id, application.deploying),
        ([found.log for found in log.blocks], log.completed),
        (list(open_ones.deployments), open_ones.cursor),
    )


DONE: tuple[object, ...] = (
    DeploymentStatus.SUCCEEDED,
    SyncStrategy.QUICK_SYNC,
    [(StageStatus.SUCCEEDED, {"started": "now"})],
    ("d-1", "d-1", False),
    (["one", "two"], True),
    ([], ""),
)


@BOTH
async def test_a_deployment_goes_from_its_trigger_to_its_end(tmp_path: Path, database: str, begun: Deployment) -> None:
    async with serving(tmp_path, database) as server:
        await server.add_agent()
        await server.add_application(kind=begun.kind)
        agent = server.agent()

        await start(agent)
        for step in (trigger, plan, begin_stage, finish):
            await step(agent, begun)

        assert await outcome(server) == DONE


@BOTH
async def test_a_deployment_goes_on_where_it_was_when_the_server_starts_again(
    tmp_path: Path, database: str, begun: Deployment
) -> None:
    async with serving(tmp_path, database) as server:
        await server.add_agent()
        await server.add_application(kind=begun.kind)
        for step in (trigger, plan, begin_stage):
            await step(server.agent(), begun)

    async with serving(tmp_path, database) as server:
        listed = await server.agent().call("ListNotCompletedDeployments", m.ListNotCompletedDeploymentsRequest())
        await begin_stage(server.agent(), begun)
        await finish(server.agent(), begun)

        assert ([found.status for found in listed.deployments], listed.cursor) == ([RUNNING], "")
        assert await outcome(server) == DONE


@BOTH
async def test_every_report_may_come_twice(tmp_path: Path, database: str, begun: Deployment) -> None:
    async with serving(tmp_path, database) as server:
        await server.add_agent()
        await server.add_application(kind=begun.kind)
        agent = server.agent()
        await trigger(agent, begun)
        create = m.CreateDeploymentRequest(deployment=to_wire_deployment(begun))

        for step in (plan, begin_stage, finish):
            await step(agent, begun)
            await step(agent, begun)
            await agent.call("CreateDeployment", create)

        # The repeat of the last step says "not deploying" as well, so nothing tells that it came twice.
        assert await outcome(server) == DONE


async def test_what_succeeded_last_is_known_even_when_the_agent_dies_before_it_says_so(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        await server.add_agent()
        await server.add_application()
        agent = server.agent()
        await trigger(agent, V1)
        await plan(agent, V1)
        done = m.ReportDeploymentCompletedRequest(deployment_id="d-1", status=SUCCESS, completed_at=SECONDS)
        await agent.call("ReportDeploymentCompleted", done)

        asked = m.GetApplicationMostRecentDeploymentRequest(application_id="a-1", status=SUCCESS)
        found = await agent.call("GetApplicationMostRecentDeployment", asked)

        assert (found.deployment.deployment_id, found.deployment.trigger.commit.hash) == (
            "d-1",
            a_trigger().commit.hash,
        )


@pytest.mark.parametrize("status", [SUCCESS, FAILURE])
async def test_nothing_is_under_way_any_more_even_when_the_agent_dies_before_it_says_so(
    tmp_path: Path, status: Any
) -> None:
    async with serving(tmp_path) as server:
        await server.add_agent()
        await server.add_application()
        agent = server.agent()
        await trigger(agent, V1)
        await plan(agent, V1)
        done = m.ReportDeploymentCompletedRequest(deployment_id="d-1", status=status, completed_at=SECONDS)
        await agent.call("ReportDeploymentCompleted", done)

        found = await server.store.read(lambda connection: applications.load_application(connection, "a-1"))

    assert not found.deploying


async def test_what_the_agent_said_of_its_success_outlasts_a_repeated_report_of_the_end(tmp_path: Path) -> None:
    told = msgspec.structs.replace(reference_to(V1), config_filename="told by the agent", completed_at=NOW)
    async with serving(tmp_path) as server:
        await server.add_agent()
        await server.add_application()
        await trigger(server.agent(), V1)
        await plan(server.agent(), V1)
        done = m.ReportDeploymentCompletedRequest(deployment_id="d-1", status=SUCCESS, completed_at=SECONDS)
        await server.agent().call("ReportDeploymentCompleted", done)
        report = m.ReportApplicationMostRecentDeploymentRequest(application_id="a-1", status=SUCCESS)
        report.deployment.CopyFrom(to_wire_deployment_reference(told))
        await server.agent().call("ReportApplicationMostRecentDeployment", report)

        await server.agent().call("ReportDeploymentCompleted", done)

        assert (await server.load(applications.load_application, "a-1")).last_succeeded == told


async def test_an_agent_of_old_calls_the_same_service_under_its_older_name(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        await server.add_agent()
        legacy = server.channel.unary_unary(
            "/pipe.api.service.pipedservice.PipedService/ReportPipedMeta",
            request_serializer=m.ReportPipedMetaRequest.SerializeToString,
            response_deserializer=m.ReportPipedMetaResponse.FromString,
        )

        answer = await legacy(m.ReportPipedMetaRequest(), metadata=server.agent().metadata)

        assert answer == m.ReportPipedMetaResponse(name="agent-1", web_base_url="https://fairway.example.com")
