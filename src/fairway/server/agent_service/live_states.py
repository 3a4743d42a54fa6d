"""What runs, as agents tell it: whole pictures and, from older agents, changes in between. The newer always stays."""

from collections import defaultdict
from collections.abc import Sequence

import msgspec
from sqlalchemy import Connection

from fairway.model.application import ApplicationKind
from fairway.model.live_state import LiveState, ResourceEvent
from fairway.rpc.agent_api import messages as m
from fairway.rpc.convert.live_state import from_wire_live_state, from_wire_resource_event
from fairway.server.agent_auth import AgentIdentity
from fairway.server.agent_service.desk import AgentDesk
from fairway.server.agent_service.live_state_events import apply_events
from fairway.server.agent_service.ownership import load_own_application
from fairway.server.store import live_states
from fairway.server.store.errors import NotFound


async def report_snapshot(
    desk: AgentDesk, caller: AgentIdentity, request: m.ReportApplicationLiveStateRequest
) -> m.ReportApplicationLiveStateResponse:
    """A whole picture, in place of an older one."""
    sent = from_wire_live_state(request.snapshot)
    state = msgspec.structs.replace(sent, agent_id=caller.agent_id, project_id=caller.project_id)

    def newer(known: LiveState) -> LiveState:
        # Two agents' clocks may differ, so versions are only compared with those of the same agent.
        return known if known.agent_id == state.agent_id and known.version > state.version else state

    def save(connection: Connection) -> None:
        load_own_application(connection, caller, state.application_id)
        try:
            live_states.update_live_state(connection, state.application_id, newer)
        except NotFound:
            live_states.save_live_state(connection, state)

    await desk.store.write(save)
    return m.ReportApplicationLiveStateResponse()


async def report_events(
    desk: AgentDesk, caller: AgentIdentity, request: m.ReportApplicationLiveStateEventsRequest
) -> m.ReportApplicationLiveStateEventsResponse:
    """Changes since the last picture; the answer names the applications whose picture must be sent again."""
    by_application: dict[str, list[ResourceEvent]] = defaultdict(list)
    for wire in request.kubernetes_events:
        event = from_wire_resource_event(wire)
        by_application[event.application_id].append(event)

    def draw(connection: Connection) -> list[str]:
        ids = sorted(by_application)
        return [id for id in ids if not _drawn(connection, caller, id, by_application[id])]

    failed = await desk.store.write(draw)
    return m.ReportApplicationLiveStateEventsResponse(failed_ids=failed)


def _drawn(
    connection: Connection, caller: AgentIdentity, application_id: str, changes: Sequence[ResourceEvent]
) -> bool:
    """Whether there was a picture of this agent's to draw the changes into."""
    load_own_application(connection, caller, application_id)
    fits: list[bool] = []

    def drawn(state: LiveState) -> LiveState:
        fits.append(state.agent_id == caller.agent_id and state.kind is ApplicationKind.KUBERNETES)
        return apply_events(state, changes) if fits[-1] else state

    try:
        live_states.update_live_state(connection, application_id, drawn)
    except NotFound:
        return False
    return fits == [True]
