"""What is told from outside, such as a new image; agents that watch for it write it into Git."""

import msgspec
from sqlalchemy import Connection

from fairway.model.event import Event, event_key
from fairway.model.role import Action, Resource
from fairway.server.actions.audit import differences, record
from fairway.server.actions.desk import ActionDesk
from fairway.server.actions.names import checked_name
from fairway.server.callers import Caller
from fairway.server.permissions import permit, scope
from fairway.server.store import events
from fairway.server.store.events import EventFilter
from fairway.server.store.page import Page, PageRequest


class NewEvent(msgspec.Struct, frozen=True, kw_only=True):
    """What is said of an event."""

    name: str
    data: str
    labels: dict[str, str] = {}
    #: Written as trailers into the commit that the event leads to.
    contexts: dict[str, str] = {}
    #: The commit, often of another repository, that caused the event.
    commit_hash: str = ""


async def register_event(desk: ActionDesk, caller: Caller, new: NewEvent) -> Event:
    """Tell of something new."""
    now = desk.clock.now()
    event = Event(
        id=desk.new_id(),
        name=checked_name(new.name),
        data=new.data,
        project_id=caller.project_id,
        key=event_key(new.name, new.labels),
        labels=new.labels,
        contexts=new.contexts,
        trigger_commit_hash=new.commit_hash,
        created_at=now,
        updated_at=now,
    )

    def register(connection: Connection) -> None:
        permit(caller, Resource.EVENT, Action.CREATE, caller.project_id, event.labels)
        events.insert_event(connection, event)
        _, after = differences(None, event)
        record(
            connection, caller, now, action="event.create", subject_id=event.id, subject_name=event.name, after=after
        )

    await desk.store.write(register)
    return event


async def get_event(desk: ActionDesk, caller: Caller, event_id: str) -> Event:
    """One event."""
    event = await desk.store.read(lambda connection: events.load_event(connection, event_id))
    permit(caller, Resource.EVENT, Action.READ, event.project_id, event.labels)
    return event


async def list_events(desk: ActionDesk, caller: Caller, wanted: EventFilter, page: PageRequest) -> Page[Event]:
    """One page of the events that fit and that the caller may see, newest first."""
    seen = msgspec.structs.replace(wanted, project_id=caller.project_id, scope=scope(caller, Resource.EVENT).any_of)
    return await desk.store.read(lambda connection: events.page_events(connection, seen, page))
