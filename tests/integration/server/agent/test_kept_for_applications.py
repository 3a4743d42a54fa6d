"""Live states, shared objects and analysis results: what the server keeps for an application."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec

from fairway.model.application import ApplicationKind
from fairway.model.live_state import Health, LiveState, LiveStateVersion, Resource, ResourceChange, ResourceEvent
from fairway.rpc.agent_api import messages as m
from fairway.rpc.convert.live_state import to_wire_live_state, to_wire_resource_event
from fairway.server.store import live_states
from tests.integration.server.agent.serving import Serving, serving
from tests.unit.model.builders import NOW

POD = Resource(id="pod", name="pod", api_version="v1", type="Pod", health=Health.OTHER, created_at=NOW, updated_at=NOW)


def a_version(seconds: int) -> LiveStateVersion:
    return LiveStateVersion(at=NOW + timedelta(seconds=seconds))


def a_state(seconds: int, **fields: Any) -> LiveState:
    known: dict[str, Any] = {"application_id": "a-1", "agent_id": "agent-1", "project_id": "shop"}
    known |= {"kind": ApplicationKind.KUBERNETES, "health": Health.HEALTHY, "version": a_version(seconds)}
    return LiveState(**{**known, **fields})


async def report(server: Serving, state: LiveState) -> None:
    request = m.ReportApplicationLiveStateRequest(snapshot=to_wire_live_state(state))
    await server.agent().call("ReportApplicationLiveState", request)


async def report_pod(server: Serving, application_id: str = "a-1", seconds: int = 5) -> list[str]:
    event = ResourceEvent(
        id="e",
        application_id=application_id,
        change=ResourceChange.ADDED_OR_UPDATED,
        resource=POD,
        snapshot_version=a_version(seconds),
        created_at=NOW,
    )
    request = m.ReportApplicationLiveStateEventsRequest(kubernetes_events=[to_wire_resource_event(event)])
    return list((await server.agent().call("ReportApplicationLiveStateEvents", request)).failed_ids)


async def test_the_newer_picture_stays_whatever_comes_after_it(tmp_path: Path) -> None:
    newest = a_state(9, resources=(POD,), agent_id="somebody else")
    async with serving(tmp_path) as server:
        await server.add_agent()
        await server.add_application()

        for state in (a_state(1), newest, a_state(5)):
            await report(server, state)

        found = await server.load(live_states.load_live_state, "a-1")
        assert found == msgspec.structs.replace(newest, agent_id="agent-1")


async def test_a_newer_agent_tells_its_live_state_in_its_own_form(tmp_path: Path) -> None:
    thing = Resource(id="r", name="r", type="job", plugin_name="wait", created_at=NOW, updated_at=NOW)
    state = a_state(1, kind=None, resources=(thing,))
    async with serving(tmp_path) as server:
        await server.add_agent()
        await server.add_application()

        await report(server, state)

        assert await server.load(live_states.load_live_state, "a-1") == state


async def test_changes_are_drawn_into_the_picture(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        await server.add_agent()
        await server.add_application()
        await report(server, a_state(1))

        failed = await report_pod(server)

        assert (failed, await server.load(live_states.load_live_state, "a-1")) == (
            [],
            a_state(5, resources=(POD,), health=Health.OTHER),
        )


async def test_an_application_without_a_picture_is_asked_for_one(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        await server.add_agent()
        await server.add_application("a-1")
        await server.add_application("a-2")
        await report(server, a_state(1, application_id="a-2", kind=None))

        assert (await report_pod(server, "a-1"), await report_pod(server, "a-2")) == (["a-1"], ["a-2"])


async def test_a_plugin_finds_again_what_it_kept_and_nothing_else(tmp_path: Path) -> None:
    named = {"application_id": "a-1", "plugin_name": "p", "key": "k"}
    async with serving(tmp_path) as server:
        await server.add_agent()
        await server.add_application()
        agent = server.agent()
        before = await agent.refused("GetApplicationSharedObject", m.GetApplicationSharedObjectRequest(**named))

        for content in (b"old", b"new"):
            request = m.PutApplicationSharedObjectRequest(**named, object=content)
            await agent.call("PutApplicationSharedObject", request)

        found = await agent.call("GetApplicationSharedObject", m.GetApplicationSharedObjectRequest(**named))
        assert (before, found.object) == ("NOT_FOUND", b"new")


async def test_an_older_agent_finds_its_last_analysis_result_again(tmp_path: Path) -> None:
    asked = m.GetLatestAnalysisResultRequest(application_id="a-1")
    async with serving(tmp_path) as server:
        await server.add_agent()
        await server.add_application()
        agent = server.agent()
        before = await agent.refused("GetLatestAnalysisResult", asked)

        put = m.PutLatestAnalysisResultRequest(application_id="a-1", analysis_result={"start_time": 7})
        await agent.call("PutLatestAnalysisResult", put)

        found = await agent.call("GetLatestAnalysisResult", asked)
        assert (before, found.analysis_result.start_time) == ("NOT_FOUND", 7)
