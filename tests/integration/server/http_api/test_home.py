"""How everything stands, in one answer."""

from datetime import timedelta
from pathlib import Path
from typing import Any

from fairway.model.application import SyncState, SyncStatus
from fairway.model.deployment import DeploymentStatus
from fairway.model.live_state import Health
from fairway.model.stage import ManualOperation, StageStatus
from fairway.server.store.agents import touch_agent
from fairway.server.store.live_states import update_live_state
from tests.integration.server.http_api.serving import serving
from tests.integration.server.store.nouns import a_live_state, an_agent, minutes
from tests.unit.model.builders import NOW, a_deployment, a_stage, an_application

ZERO = {"unknown": 0, "synced": 0, "deploying": 0, "out_of_sync": 0, "invalid_config": 0}


def in_short(id: str, at: str, status: str, waiting_for: str) -> dict[str, Any]:
    application = {"application_id": "a-1", "application_name": "cart"}
    times = {"created_at": "2026-01-01T12:00:00Z", "updated_at": at}
    return {"id": id, **application, "status": status, "waiting_for": waiting_for, **times}


async def test_an_empty_project_has_nothing_to_show(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        answer = await served.get("/api/v1/home")

    assert answer.json() == {
        "applications": {
            "total": 0,
            "disabled": 0,
            "by_sync_status": ZERO,
            "by_health": {"unknown": 0, "healthy": 0, "other": 0, "unhealthy": 0},
        },
        "deployments": {"count": 0, "running": [], "awaiting_approval": []},
        "agents": {"online": 0, "offline": 0, "never_seen": 0},
    }


async def test_applications_are_counted_as_they_stand_now(tmp_path: Path) -> None:
    out_of_sync = SyncState(status=SyncStatus.OUT_OF_SYNC, at=NOW)
    async with serving(tmp_path) as served:
        await served.add(
            an_application("a-1", sync_state=out_of_sync),
            an_application("a-2", sync_state=out_of_sync, disabled=True),
            an_application("a-3"),
            an_application("a-4", deleted_at=NOW),
            an_application("a-5", project_id="other"),
            a_live_state("a-1", health=Health.HEALTHY),
            a_live_state("a-2", health=Health.UNHEALTHY),
            a_live_state("a-4", health=Health.HEALTHY),
        )
        await served.store.write(
            lambda connection: update_live_state(
                connection, "a-2", lambda _: a_live_state("a-2", health=Health.HEALTHY)
            )
        )

        counted = (await served.get("/api/v1/home")).json()["applications"]

    assert counted == {
        "total": 3,
        "disabled": 1,
        "by_sync_status": {**ZERO, "out_of_sync": 2, "unknown": 1},
        "by_health": {"unknown": 1, "healthy": 2, "other": 0, "unhealthy": 0},
    }


async def test_open_deployments_say_what_they_wait_for(tmp_path: Path) -> None:
    ask = a_stage("ask", status=StageStatus.RUNNING, available_operation=ManualOperation.APPROVE)
    async with serving(tmp_path) as served:
        await served.add(
            an_agent(),
            a_deployment(id="d-1", updated_at=minutes(1)),
            a_deployment(id="d-2", updated_at=minutes(2), status=DeploymentStatus.RUNNING, stages=(ask,)),
            a_deployment(id="d-3", status=DeploymentStatus.SUCCEEDED, completed_at=NOW),
            a_deployment(id="d-4", project_id="other"),
        )
        await served.store.write(lambda connection: touch_agent(connection, "agent-1", NOW))

        shown = (await served.get("/api/v1/home")).json()["deployments"]

    approval = "approval of stage 1 (WAIT): given by nobody, may approve: everybody with a role that allows it"
    waiting = in_short("d-2", "2026-01-01T12:02:00Z", "running", approval)
    planning = in_short(
        "d-1", "2026-01-01T12:01:00Z", "pending", "deployment d-2, which is running, to end, and agent near to plan it"
    )
    assert shown == {"count": 2, "running": [waiting, planning], "awaiting_approval": [waiting]}


async def test_agents_are_counted_by_when_they_were_heard(tmp_path: Path) -> None:
    heard = {"agent-1": NOW, "agent-2": NOW - timedelta(hours=1), "agent-3": NOW - timedelta(minutes=1)}
    async with serving(tmp_path) as served:
        await served.add(*(an_agent(id) for id in (*heard, "agent-4")), an_agent("agent-5", project_id="other"))
        for id, at in heard.items():
            await served.store.write(lambda connection, id=id, at=at: touch_agent(connection, id, at))  # type: ignore[misc]  # a lambda in a loop

        counted = (await served.get("/api/v1/home")).json()["agents"]

    assert counted == {"online": 2, "offline": 1, "never_seen": 1}
