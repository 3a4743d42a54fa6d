"""What belongs to another agent, or to another project, is denied in every call that names it."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from fairway.model.application import ApplicationKind, DiscoveredApplication, SyncState, SyncStatus
from fairway.model.command import Command, RestartAgent
from fairway.model.event import Event
from fairway.model.live_state import LiveState, LiveStateVersion, Resource, ResourceChange, ResourceEvent
from fairway.rpc.agent_api import messages as m
from fairway.rpc.convert.application import (
    to_wire_deployment_reference,
    to_wire_discovered_application,
    to_wire_sync_state,
)
from fairway.rpc.convert.deployment import to_wire_deployment
from fairway.rpc.convert.live_state import to_wire_live_state, to_wire_resource_event
from fairway.server.agent_service.references import reference_to
from fairway.server.store import applications, commands, deployments, events
from tests.integration.server.agent.serving import Serving, serving
from tests.unit.model.builders import NOW, a_deployment, a_stage

SECONDS = int(NOW.timestamp())
VERSION = LiveStateVersion(at=NOW)
INFO = DiscoveredApplication(
    id="a-1",
    name="n",
    agent_id="agent-1",
    repository_id="r",
    path="apps/x",
    config_filename="f",
    kind=ApplicationKind.KUBERNETES,
)
STATE = LiveState(application_id="a-1", agent_id="agent-1", project_id="shop", version=VERSION)
POD = Resource(id="pod", name="pod", api_version="v1", type="Pod", created_at=NOW, updated_at=NOW)
CHANGE = ResourceEvent(
    id="e",
    application_id="a-1",
    change=ResourceChange.DELETED,
    resource=POD,
    snapshot_version=VERSION,
    created_at=NOW,
)
DEPLOYMENT = to_wire_deployment(a_deployment(id="d-new"))
REFERENCE = to_wire_deployment_reference(reference_to(a_deployment()))
SYNCED = to_wire_sync_state(SyncState(status=SyncStatus.SYNCED, at=NOW))
APP: dict[str, Any] = {"application_id": "a-1"}
DEPLOY: dict[str, Any] = {"deployment_id": "d-1"}
STAGE: dict[str, Any] = {"deployment_id": "d-1", "stage_id": "stage-0"}
OBJECT: dict[str, Any] = {"application_id": "a-1", "plugin_name": "p", "key": "k"}

#: Call → a request in order about something of agent-1.
REQUESTS: dict[str, Any] = {
    "ReportApplicationSyncState": m.ReportApplicationSyncStateRequest(**APP, state=SYNCED),
    "ReportApplicationDeployingStatus": m.ReportApplicationDeployingStatusRequest(**APP, deploying=True),
    "ReportApplicationMostRecentDeployment": m.ReportApplicationMostRecentDeploymentRequest(
        **APP, deployment=REFERENCE
    ),
    "GetApplicationMostRecentDeployment": m.GetApplicationMostRecentDeploymentRequest(**APP),
    "GetDeployment": m.GetDeploymentRequest(id="d-1"),
    "CreateDeployment": m.CreateDeploymentRequest(deployment=DEPLOYMENT),
    "CreateDeploymentChain": m.CreateDeploymentChainRequest(first_deployment=DEPLOYMENT),
    "ReportDeploymentPlanned": m.ReportDeploymentPlannedRequest(**DEPLOY),
    "ReportDeploymentStatusChanged": m.ReportDeploymentStatusChangedRequest(**DEPLOY, status="DEPLOYMENT_RUNNING"),
    "ReportDeploymentCompleted": m.ReportDeploymentCompletedRequest(
        **DEPLOY, status="DEPLOYMENT_FAILURE", completed_at=SECONDS
    ),
    "SaveDeploymentMetadata": m.SaveDeploymentMetadataRequest(**DEPLOY, metadata={"k": "v"}),
    "SaveDeploymentSharedMetadata": m.SaveDeploymentSharedMetadataRequest(**DEPLOY, metadata={"k": "v"}),
    "SaveDeploymentPluginMetadata": m.SaveDeploymentPluginMetadataRequest(**DEPLOY, plugin_name="p"),
    "SaveStageMetadata": m.SaveStageMetadataRequest(**STAGE, metadata={"k": "v"}),
    "ReportStageLogs": m.ReportStageLogsRequest(**STAGE),
    "ReportStageLogsFromLastCheckpoint": m.ReportStageLogsFromLastCheckpointRequest(**STAGE, completed=True),
    "ReportStageStatusChanged": m.ReportStageStatusChangedRequest(
        **STAGE, status="STAGE_RUNNING", completed_at=SECONDS
    ),
    "ReportCommandHandled": m.ReportCommandHandledRequest(
        command_id="c-1", status="COMMAND_SUCCEEDED", handled_at=SECONDS
    ),
    "ReportApplicationLiveState": m.ReportApplicationLiveStateRequest(snapshot=to_wire_live_state(STATE)),
    "ReportApplicationLiveStateEvents": m.ReportApplicationLiveStateEventsRequest(
        kubernetes_events=[to_wire_resource_event(CHANGE)]
    ),
    "GetLatestAnalysisResult": m.GetLatestAnalysisResultRequest(**APP),
    "PutLatestAnalysisResult": m.PutLatestAnalysisResultRequest(**APP, analysis_result={"start_time": SECONDS}),
    "UpdateApplicationConfigurations": m.UpdateApplicationConfigurationsRequest(
        applications=[to_wire_discovered_application(INFO)]
    ),
    "InChainDeploymentPlannable": m.InChainDeploymentPlannableRequest(**DEPLOY, deployment_chain_id="c"),
    "GetApplicationSharedObject": m.GetApplicationSharedObjectRequest(**OBJECT),
    "PutApplicationSharedObject": m.PutApplicationSharedObjectRequest(**OBJECT, object=b"x"),
}

#: Calls about the agent itself, or about what all agents of the project share.
ABOUT_NOTHING_OWNED = {
    "ReportStat",
    "ReportPipedMeta",
    "ListApplications",
    "ListNotCompletedDeployments",
    "ListUnhandledCommands",
    "GetLatestEvent",
    "ListEvents",
    "ReportEventStatuses",
    "GetDesiredVersion",
    "ReportUnregisteredApplicationConfigurations",
}


async def belongings_of_agent_1(server: Serving) -> None:
    await server.add_agent("agent-1")
    await server.add_agent("agent-2")
    await server.add_agent("agent-3", project="other")
    await server.add_application()
    await server.add_deployment(stages=(a_stage(),))
    command = Command(
        id="c-1",
        agent_id="agent-1",
        project_id="shop",
        payload=RestartAgent(agent_id="agent-1"),
        created_at=NOW,
        updated_at=NOW,
    )
    await server.store.write(lambda connection: commands.insert_command(connection, command))


async def everything(server: Serving) -> list[object]:
    loads: list[tuple[Any, str]] = [
        (applications.load_application, "a-1"),
        (deployments.load_deployment, "d-1"),
        (commands.load_command, "c-1"),
    ]
    return [await server.load(load, id) for load, id in loads] + [await server.logs.list_stages("d-1")]


def test_every_call_is_either_about_something_owned_or_known_not_to_be() -> None:
    calls = {method.name for method in m.DESCRIPTOR.services_by_name["PipedService"].methods}

    assert calls == REQUESTS.keys() | ABOUT_NOTHING_OWNED


@pytest.mark.parametrize("call", REQUESTS)
async def test_another_agent_is_denied_and_changes_nothing(tmp_path: Path, call: str) -> None:
    async with serving(tmp_path) as server:
        await belongings_of_agent_1(server)
        before = await everything(server)

        neighbour = await server.agent("agent-2").refused(call, REQUESTS[call])
        stranger = await server.agent("agent-3", project="other").refused(call, REQUESTS[call])

        assert (neighbour, stranger) == ("PERMISSION_DENIED", "PERMISSION_DENIED")
        assert await everything(server) == before


async def test_an_application_that_moves_is_the_other_agents_with_the_next_call(tmp_path: Path) -> None:
    request = m.ReportApplicationDeployingStatusRequest(application_id="a-1", deploying=True)
    async with serving(tmp_path) as server:
        await belongings_of_agent_1(server)
        await server.agent("agent-1").call("ReportApplicationDeployingStatus", request)

        await server.store.write(
            lambda connection: applications.update_application(
                connection, "a-1", lambda found: msgspec.structs.replace(found, agent_id="agent-2")
            )
        )

        answers = [
            await server.agent(id).refused("ReportApplicationDeployingStatus", request) for id in ("agent-1", "agent-2")
        ]
        assert answers == ["PERMISSION_DENIED", "OK"]


async def test_the_agent_that_began_a_deployment_can_finish_it_after_the_application_moved(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        await belongings_of_agent_1(server)
        await server.store.write(
            lambda connection: applications.update_application(
                connection, "a-1", lambda found: msgspec.structs.replace(found, agent_id="agent-2")
            )
        )

        call = "ReportDeploymentCompleted"
        answers = [await server.agent(id).refused(call, REQUESTS[call]) for id in ("agent-2", "agent-1")]

        assert answers == ["PERMISSION_DENIED", "OK"]


async def test_an_event_of_another_project_is_denied(tmp_path: Path) -> None:
    event = Event(id="e-1", name="n", data="d", project_id="other", key="k", created_at=NOW, updated_at=NOW)
    request = m.ReportEventStatusesRequest()
    request.events.add(id="e-1", status="EVENT_SUCCESS", status_description="done")
    async with serving(tmp_path) as server:
        await server.add_agent()
        await server.store.write(lambda connection: events.insert_event(connection, event))

        answer = await server.agent().refused("ReportEventStatuses", request)

        assert (answer, await server.load(events.load_event, "e-1")) == ("PERMISSION_DENIED", event)
