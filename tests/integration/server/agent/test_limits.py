"""What agents may store, and what they are sent of what was stored before there were limits."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from grpc import aio

from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.limits import LOG_TEXT, NOTE_BYTES, PLAN_BYTES, REASON, SHOWN_TEXT, cut
from fairway.model.notes import LEFT_OUT
from fairway.model.stage import StageStatus
from fairway.rpc.agent_api import messages as m
from fairway.rpc.convert.deployment import from_wire_deployment, to_wire_deployment
from fairway.server.agent_service import quotas, shared_objects
from fairway.server.agent_service.quotas import Quotas
from fairway.server.logs import StageLogKey
from fairway.server.store import applications, deployments
from fairway.server.store.page import PAGE_BYTES
from tests.integration.server.agent.serving import CallingAgent, Serving, serving
from tests.unit.model.builders import a_commit, a_deployment, a_stage, a_trigger

_MIB = 1024 * 1024
RUNNING: dict[str, Any] = {
    "status": DeploymentStatus.RUNNING,
    "stages": (a_stage("s", status=StageStatus.RUNNING),),
}


async def refusal(agent: CallingAgent, method: str, request: Any) -> tuple[str, str]:
    """The status and the words with which a call is refused."""
    with pytest.raises(aio.AioRpcError) as refused:
        await agent.call(method, request)
    return refused.value.code().name, refused.value.details() or ""


async def listed(agent: CallingAgent) -> tuple[list[Deployment], int]:
    """The open deployments, and how many pages they took."""
    found: list[Deployment] = []
    cursor, pages = "", 0
    while True:
        answer = await agent.call("ListNotCompletedDeployments", m.ListNotCompletedDeploymentsRequest(cursor=cursor))
        found += map(from_wire_deployment, answer.deployments)
        cursor, pages = answer.cursor, pages + 1
        if not cursor:
            return found, pages


async def a_server_with_an_application(server: Serving) -> CallingAgent:
    await server.add_agent()
    await server.add_application()
    return server.agent()


async def test_a_note_that_is_too_large_is_refused_with_its_size_and_the_limit(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        agent = await a_server_with_an_application(server)
        await server.add_deployment(**RUNNING)
        large, of = {"big": "x" * 4_000_000}, {"deployment_id": "d-1"}
        refused = [
            await refusal(agent, "SaveStageMetadata", m.SaveStageMetadataRequest(**of, stage_id="s", metadata=large)),
            await refusal(agent, "SaveDeploymentMetadata", m.SaveDeploymentMetadataRequest(**of, metadata=large)),
            await refusal(
                agent, "SaveDeploymentSharedMetadata", m.SaveDeploymentSharedMetadataRequest(**of, metadata=large)
            ),
            await refusal(
                agent,
                "SaveDeploymentPluginMetadata",
                m.SaveDeploymentPluginMetadataRequest(**of, plugin_name="greet", metadata=large),
            ),
        ]
        words = f"the note 'big' has 4000003 bytes; a note has at most {NOTE_BYTES} bytes"
        assert refused == [("INVALID_ARGUMENT", words)] * 4


async def test_notes_that_are_too_large_together_are_refused_and_the_agent_goes_on(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        agent = await a_server_with_an_application(server)
        await server.add_deployment(**RUNNING)

        def noted(number: int) -> m.SaveDeploymentPluginMetadataRequest:
            notes = {str(number): "x" * 500_000}
            return m.SaveDeploymentPluginMetadataRequest(deployment_id="d-1", plugin_name="greet", metadata=notes)

        for number in range(4):
            await agent.call("SaveDeploymentPluginMetadata", noted(number))
        code, words = await refusal(agent, "SaveDeploymentPluginMetadata", noted(4))
        assert (code, "the notes of deployment d-1 would have 2500005 bytes" in words) == ("INVALID_ARGUMENT", True)
        own = m.SaveDeploymentSharedMetadataRequest(deployment_id="d-1", metadata={"fairway/started-at": "now"})
        await agent.call("SaveDeploymentSharedMetadata", own)
        ended = m.ReportStageStatusChangedRequest(
            deployment_id="d-1", stage_id="s", status="STAGE_FAILURE", status_reason="x" * 3_000_000, completed_at=1
        )
        await agent.call("ReportStageStatusChanged", ended)
        found = await server.load(deployments.load_deployment, "d-1")
        assert found.stages[0].status_reason == cut("x" * 3_000_000, REASON)


async def test_open_deployments_come_in_pages_of_limited_bytes(tmp_path: Path, database: str) -> None:
    async with serving(tmp_path, database) as server:
        agent = await a_server_with_an_application(server)
        notes = {str(each): "x" * 500_000 for each in range(3)}
        for number in range(12):
            await server.add_deployment(**RUNNING | {"id": f"d-{number:02}", "plugin_metadata": {"greet": notes}})
        found, pages = await listed(agent)
        assert [each.id for each in found] == [f"d-{number:02}" for number in range(12)]
        assert all(each.plugin_metadata == {"greet": notes} for each in found)
        assert pages == 6
        assert 2 * 1_500_000 < PAGE_BYTES < 3 * 1_500_000


async def test_an_agent_is_sent_what_was_stored_before_there_were_limits(tmp_path: Path, database: str) -> None:
    async with serving(tmp_path, database) as server:
        agent = await a_server_with_an_application(server)
        notes = {f"note {each}": "x" * 4_000_000 for each in range(4)}
        fat = {"plugin_metadata": {"greet": notes | {"started-0": "_"}}, "status_reason": "y" * 5 * _MIB}
        await server.add_deployment(**RUNNING | fat)
        await server.add_deployment(**RUNNING | {"id": "d-2"})

        (first, second), _ = await listed(agent)
        left_out = {LEFT_OUT: "4 notes with 16000024 bytes were left out: they exceed the limits"}
        reason = cut("y" * 5 * _MIB, REASON)
        thin = a_deployment(
            **RUNNING, plugin_metadata={"greet": {"started-0": "_"}}, shared_metadata=left_out, status_reason=reason
        )
        assert to_wire_deployment(first) == to_wire_deployment(thin)
        assert second.id == "d-2"
        one = await agent.call("GetDeployment", m.GetDeploymentRequest(id="d-1"))
        assert one.deployment == to_wire_deployment(thin)

        # Its agent goes on with it, and the row is small from then on.
        noted = m.SaveStageMetadataRequest(deployment_id="d-1", stage_id="s", metadata={"a": "b"})
        await agent.call("SaveStageMetadata", noted)
        found = await server.load(deployments.load_deployment, "d-1")
        assert (found.stages[0].metadata, found.plugin_metadata) == ({"a": "b"}, {"greet": {"started-0": "_"}})


async def test_a_deployment_and_a_plan_have_limits(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        agent = await a_server_with_an_application(server)
        large = a_deployment(labels={"large": "x" * 4_000_000})
        made = m.CreateDeploymentRequest(deployment=to_wire_deployment(large))
        code, words = await refusal(agent, "CreateDeployment", made)
        assert (code, f"; it has at most {PLAN_BYTES} bytes" in words) == ("INVALID_ARGUMENT", True)

        wordy = a_deployment(trigger=a_trigger(commit=a_commit(message="x" * _MIB)))
        await agent.call("CreateDeployment", m.CreateDeploymentRequest(deployment=to_wire_deployment(wordy)))
        found = await server.load(deployments.load_deployment, "d-1")
        assert found.trigger.commit.message == cut("x" * _MIB, SHOWN_TEXT)
        application = await server.load(applications.load_application, "a-1")
        assert application.last_triggered.trigger.commit.message == cut("x" * _MIB, SHOWN_TEXT)

        stages = [m.ReportDeploymentPlannedRequest().stages.add(id="s", name="WAIT", desc="x" * 4_000_000)]
        planned = m.ReportDeploymentPlannedRequest(deployment_id="d-1", stages=stages)
        assert (await refusal(agent, "ReportDeploymentPlanned", planned))[0] == "INVALID_ARGUMENT"


async def test_an_agent_has_a_limited_number_of_open_deployments(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quotas, "OPEN_DEPLOYMENTS", 2)
    async with serving(tmp_path, database) as server:
        agent = await a_server_with_an_application(server)
        for number in range(3):
            request = m.CreateDeploymentRequest(deployment=to_wire_deployment(a_deployment(id=f"d-{number}")))
            if number < 2:
                await agent.call("CreateDeployment", request)
        words = "agent agent-1 has 2 deployments that have not ended, which is its limit"
        assert await refusal(agent, "CreateDeployment", request) == ("FAILED_PRECONDITION", words)
        ended = m.ReportDeploymentCompletedRequest(deployment_id="d-0", status="DEPLOYMENT_FAILURE", completed_at=1)
        await agent.call("ReportDeploymentCompleted", ended)
        await agent.call("CreateDeployment", request)


async def test_objects_of_an_application_have_limits(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_objects, "APPLICATION_OBJECTS_BYTES", 1_000)
    async with serving(tmp_path, database) as server:
        agent = await a_server_with_an_application(server)

        def put(key: str, size: int) -> m.PutApplicationSharedObjectRequest:
            return m.PutApplicationSharedObjectRequest(
                application_id="a-1", plugin_name="greet", key=key, object=b"x" * size
            )

        await agent.call("PutApplicationSharedObject", put("a", 600))
        await agent.call("PutApplicationSharedObject", put("a", 700))
        words = "the objects of application a-1 would have 1100 bytes; they have at most 1000 bytes"
        assert await refusal(agent, "PutApplicationSharedObject", put("b", 400)) == ("INVALID_ARGUMENT", words)
        got = m.GetApplicationSharedObjectRequest(application_id="a-1", plugin_name="greet", key="b")
        assert await agent.refused("GetApplicationSharedObject", got) == "NOT_FOUND"


async def test_long_texts_of_other_agents_are_cut(tmp_path: Path) -> None:
    long = "x" * 3_000_000
    async with serving(tmp_path) as server:
        agent = await a_server_with_an_application(server)
        await server.add_deployment(**RUNNING)
        state = m.ReportApplicationSyncStateRequest(application_id="a-1")
        state.state.CopyFrom(type(state.state)(status="OUT_OF_SYNC", short_reason=long, reason=long, timestamp=1))
        await agent.call("ReportApplicationSyncState", state)
        found = (await server.load(applications.load_application, "a-1")).sync_state
        assert (found.short_reason, found.reason) == (cut(long, REASON), cut(long, SHOWN_TEXT))
        answer = await agent.call("ListApplications", m.ListApplicationsRequest())
        assert (answer.applications[0].sync_state.reason, answer.applications[0].sync_state.status) == (
            "",
            state.state.status,
        )

        logged = m.ReportStageLogsRequest(deployment_id="d-1", stage_id="s")
        logged.blocks.add(index=1, log=long, created_at=1)
        logged.blocks.add(index=2, log=long[:LOG_TEXT], created_at=1)
        await agent.call("ReportStageLogs", logged)
        log = await server.logs.read(StageLogKey("d-1", "s", 0))
        assert [block.log for block in log.blocks] == [cut(long, LOG_TEXT), long[:LOG_TEXT]]


async def test_output_beyond_the_log_limit_of_a_stage_is_dropped_after_a_line_that_says_so(tmp_path: Path) -> None:
    async with serving(tmp_path, quotas=Quotas(stage_log_bytes=1_000)) as server:
        agent = await a_server_with_an_application(server)
        await server.add_deployment(**RUNNING)

        async def log(index: int, size: int, completed: bool = False) -> None:
            request = m.ReportStageLogsFromLastCheckpointRequest(deployment_id="d-1", stage_id="s", completed=completed)
            request.blocks.add(index=index, log="x" * size, created_at=1)
            request.blocks.add(index=index + 1, log="y" * size, created_at=1)
            await agent.call("ReportStageLogsFromLastCheckpoint", request)

        for index, size in ((1, 300), (3, 250), (5, 10)):
            await log(index, size)
        await log(7, 10, completed=True)
        found = await server.logs.read(StageLogKey("d-1", "s", 0))
        said = (
            "the log limit of 1000 bytes for one stage (--stage-log-mib) is reached; "
            "further output of this stage is dropped\n"
        )
        assert [block.log for block in found.blocks] == ["x" * 300, "y" * 300, "x" * 250, said]
        assert found.completed


async def test_the_size_of_a_log_is_known_after_a_restart(tmp_path: Path) -> None:
    key = StageLogKey("d-1", "s", 0)
    for index in (1, 2):
        async with serving(tmp_path, quotas=Quotas(stage_log_bytes=1_000)) as server:
            if index == 1:
                await a_server_with_an_application(server)
                await server.add_deployment(**RUNNING)
            request = m.ReportStageLogsRequest(deployment_id="d-1", stage_id="s")
            request.blocks.add(index=index, log="x" * 800, created_at=1)
            await server.agent().call("ReportStageLogs", request)
            found = await server.logs.read(key)
    assert [len(block.log) for block in found.blocks] == [800, len(found.blocks[1].log)]
    assert "further output of this stage is dropped" in found.blocks[1].log


async def test_an_agent_adds_a_limited_number_of_bytes_in_a_day(tmp_path: Path) -> None:
    async with serving(tmp_path, quotas=Quotas(agent_day_bytes=2_000)) as server:
        agent = await a_server_with_an_application(server)
        await server.add_deployment(**RUNNING)
        request = m.ReportStageLogsRequest(deployment_id="d-1", stage_id="s")
        request.blocks.add(index=1, log="x" * 3_000, created_at=1)
        await agent.call("ReportStageLogs", request)
        request.blocks[0].index = 2
        await agent.call("ReportStageLogs", request)
        found = await server.logs.read(StageLogKey("d-1", "s", 0))
        words = (
            "agent agent-1 has reached its limit of 2000 bytes a day (--agent-daily-gib), which ends at midnight UTC"
        )
        assert [block.log for block in found.blocks] == [f"{words}; further output of this stage is dropped\n"]

        made = m.CreateDeploymentRequest(deployment=to_wire_deployment(a_deployment(id="d-2")))
        put = m.PutApplicationSharedObjectRequest(application_id="a-1", plugin_name="greet", key="a", object=b"x")
        assert await refusal(agent, "CreateDeployment", made) == ("FAILED_PRECONDITION", words)
        assert await refusal(agent, "PutApplicationSharedObject", put) == ("FAILED_PRECONDITION", words)
        # What has begun can end.
        ended = m.ReportStageStatusChangedRequest(
            deployment_id="d-1", stage_id="s", status="STAGE_FAILURE", completed_at=1
        )
        await agent.call("ReportStageStatusChanged", ended)
        server.clock.advance(timedelta(days=1))
        await agent.call("CreateDeployment", made)
