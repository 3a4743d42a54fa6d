"""Facts from outside: every agent of a project may read them all, and says what became of those it acted on."""

from datetime import datetime

import msgspec
from sqlalchemy import Connection

from fairway.model.event import Event, EventStatus, event_key
from fairway.rpc.agent_api import messages as m
from fairway.rpc.convert.event import EVENT_STATUSES, to_wire_event
from fairway.rpc.convert.wire_time import from_wire_time_or_none
from fairway.server.agent_auth import AgentIdentity
from fairway.server.agent_service.desk import AgentDesk
from fairway.server.status_codes import Forbidden
from fairway.server.store import events
from fairway.server.store.errors import NotFound

#: The request counts from 1, so that 0 can mean all.
_ALL = 0


async def get_latest_event(
    desk: AgentDesk, caller: AgentIdentity, request: m.GetLatestEventRequest
) -> m.GetLatestEventResponse:
    """The newest event of a name and labels; NOT_FOUND when there is none."""
    key = event_key(request.name, request.labels)
    found = await desk.store.read(lambda connection: events.latest_event(connection, caller.project_id, key))
    if found is None:
        raise NotFound("event", request.name)
    return m.GetLatestEventResponse(event=to_wire_event(found))


async def list_events(desk: AgentDesk, caller: AgentIdentity, request: m.ListEventsRequest) -> m.ListEventsResponse:
    """The project's events of a span of time. An agent does not start without this answer."""
    since = from_wire_time_or_none(getattr(request, "from"))  # The field's name is a word of Python's own.
    until = from_wire_time_or_none(request.to)
    status = None if request.status == _ALL else EVENT_STATUSES.from_wire(request.status - 1)
    newest_first = request.order == m.DESC
    found = await desk.store.read(
        lambda connection: events.list_events(connection, caller.project_id, since, until, status, newest_first)
    )
    return m.ListEventsResponse(events=[to_wire_event(event) for event in found])


async def report_statuses(
    desk: AgentDesk, caller: AgentIdentity, request: m.ReportEventStatusesRequest
) -> m.ReportEventStatusesResponse:
    """What became of events; all of them or, when one is not of the agent's project, none."""
    now = desk.clock.now()
    results = [(event.id, EVENT_STATUSES.from_wire(event.status), event.status_description) for event in request.events]

    def record(connection: Connection) -> None:
        # In one order for everybody, so that two transactions never wait for each other's rows.
        for id, status, description in sorted(results, key=lambda result: result[0]):
            result = _Result(caller.project_id, status, description, now)
            events.update_event(connection, id, result.apply)

    await desk.store.write(record)
    return m.ReportEventStatusesResponse()


class _Result(msgspec.Struct, frozen=True):
    """What became of one event."""

    project_id: str
    status: EventStatus
    description: str
    at: datetime

    def apply(self, event: Event) -> Event:
        """The event with its result; the first one stays, as it is in Git by now."""
        if event.project_id != self.project_id:
            raise Forbidden(f"event {event.id} does not belong to the agent's project; list the events again")
        if event.status is not EventStatus.WAITING or self.status is EventStatus.WAITING:
            return event
        return msgspec.structs.replace(
            event, status=self.status, status_description=self.description, handled_at=self.at, updated_at=self.at
        )
