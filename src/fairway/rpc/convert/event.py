"""Events: wire ⇄ model."""

from fairway.model.event import Event, EventStatus
from fairway.rpc.convert.wire_enum import WireEnum
from fairway.rpc.convert.wire_time import from_wire_time, from_wire_time_or_none, to_wire_time
from fairway.rpc.gen.pipecd.model import event_pb2

EVENT_STATUSES = WireEnum(
    "event status",
    {
        EventStatus.WAITING: event_pb2.EVENT_NOT_HANDLED,
        EventStatus.SUCCEEDED: event_pb2.EVENT_SUCCESS,
        EventStatus.FAILED: event_pb2.EVENT_FAILURE,
        EventStatus.OUTDATED: event_pb2.EVENT_OUTDATED,
    },
)


def to_wire_event(event: Event) -> event_pb2.Event:
    return event_pb2.Event(
        id=event.id,
        name=event.name,
        data=event.data,
        project_id=event.project_id,
        labels=event.labels,
        event_key=event.key,
        status=EVENT_STATUSES.to_wire(event.status),
        status_description=event.status_description,
        contexts=event.contexts,
        trigger_commit_hash=event.trigger_commit_hash,
        handled_at=to_wire_time(event.handled_at),
        created_at=to_wire_time(event.created_at),
        updated_at=to_wire_time(event.updated_at),
    )


def from_wire_event(wire: event_pb2.Event) -> Event:
    return Event(
        id=wire.id,
        name=wire.name,
        data=wire.data,
        project_id=wire.project_id,
        labels=dict(wire.labels),
        key=wire.event_key,
        status=EVENT_STATUSES.from_wire(wire.status),
        status_description=wire.status_description,
        contexts=dict(wire.contexts),
        trigger_commit_hash=wire.trigger_commit_hash,
        handled_at=from_wire_time_or_none(wire.handled_at),
        created_at=from_wire_time(wire.created_at),
        updated_at=from_wire_time(wire.updated_at),
    )
