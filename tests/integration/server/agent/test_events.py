from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import Connection

from fairway.model.event import Event, EventStatus, event_key
from fairway.rpc.agent_api import messages as m
from fairway.rpc.convert.event import to_wire_event
from fairway.server.store import events
from tests.integration.server.agent.serving import Serving, serving
from tests.unit.model.builders import NOW

SECONDS = int(NOW.timestamp())


def an_event(id: str, minute: int = 0, **fields: Any) -> Event:
    at = NOW + timedelta(minutes=minute)
    known: dict[str, Any] = {"id": id, "name": "image", "data": "v1", "project_id": "shop", "labels": {"app": "cart"}}
    key = event_key("image", known["labels"])
    return Event(**{**known, "key": key, "created_at": at, "updated_at": at, **fields})


async def add(server: Serving, *found: Event) -> None:
    await server.add_agent()

    def insert(connection: Connection) -> None:
        for event in found:
            events.insert_event(connection, event)

    await server.store.write(insert)


@pytest.mark.parametrize(
    ("asked", "ids"),
    [
        pytest.param({}, ["e-1", "e-2", "e-3"], id="all"),
        pytest.param({"order": "DESC"}, ["e-3", "e-2", "e-1"], id="newest first"),
        pytest.param({"status": "NOT_HANDLED"}, ["e-1", "e-3"], id="those that wait"),
        pytest.param({"status": "OUTDATED"}, ["e-2"], id="those that are outdated"),
        pytest.param({"from": SECONDS + 60}, ["e-2", "e-3"], id="from a moment"),
        pytest.param({"to": SECONDS + 60}, ["e-1"], id="up to a moment"),
    ],
)
async def test_events_of_the_project_are_listed(tmp_path: Path, asked: dict[str, Any], ids: list[str]) -> None:
    async with serving(tmp_path) as server:
        outdated = an_event("e-2", 1, status=EventStatus.OUTDATED)
        await add(server, an_event("e-1"), outdated, an_event("e-3", 2), an_event("e-4", project_id="other"))

        found = await server.agent().call("ListEvents", m.ListEventsRequest(**asked))

        assert [event.id for event in found.events] == ids


async def test_the_newest_event_of_a_name_and_labels_is_found(tmp_path: Path) -> None:
    newest = an_event("e-2", 1)
    async with serving(tmp_path) as server:
        await add(server, an_event("e-1"), newest, an_event("e-3", 2, project_id="other"))
        asked = m.GetLatestEventRequest(name="image", labels={"app": "cart"})

        found = await server.agent().call("GetLatestEvent", asked)
        nothing = await server.agent().refused("GetLatestEvent", m.GetLatestEventRequest(name="image"))

        assert (found.event, nothing) == (to_wire_event(newest), "NOT_FOUND")


async def test_the_first_result_of_an_event_stays(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        await add(server, an_event("e-1"))

        for status in ("EVENT_SUCCESS", "EVENT_FAILURE", "EVENT_NOT_HANDLED"):
            request = m.ReportEventStatusesRequest()
            request.events.add(id="e-1", status=status, status_description=status)
            await server.agent().call("ReportEventStatuses", request)

        assert await server.load(events.load_event, "e-1") == msgspec.structs.replace(
            an_event("e-1"),
            status=EventStatus.SUCCEEDED,
            status_description="EVENT_SUCCESS",
            handled_at=NOW,
        )
