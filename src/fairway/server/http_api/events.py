"""Events: facts from outside, such as a new image, told and looked at."""

from typing import Annotated

import msgspec
from litestar import get, post
from litestar.di import NamedDependency, Provide
from litestar.params import FromPath, FromQuery, JSONBody
from msgspec import Meta

from fairway.model.event import Event, EventStatus
from fairway.server.actions import events as actions
from fairway.server.actions.events import NewEvent
from fairway.server.http_api.body import Body
from fairway.server.http_api.desk import ApiRequest, desk_of
from fairway.server.http_api.errors import CHANGE_REFUSALS, REFUSALS
from fairway.server.http_api.query import TimeQuery, a_moment, ordered_page, the_word
from fairway.server.store.events import EventFilter
from fairway.server.store.page import PageRequest


class EventPage(msgspec.Struct, frozen=True):
    """Some events, newest first."""

    items: tuple[Event, ...]
    #: For the next page; empty when this is the last.
    next_cursor: str


class EventToTell(Body, frozen=True, kw_only=True):
    """What is said of an event."""

    name: Annotated[str, Meta(min_length=1, max_length=200)]
    data: str
    labels: dict[str, str] = {}
    #: Written as trailers into the commit that the event leads to.
    contexts: dict[str, str] = {}
    #: The commit, often of another repository, that caused the event.
    commit_hash: str = ""


async def event_filter(
    request: ApiRequest,
    name: FromQuery[str] = "",
    status: FromQuery[str] = "",
    since: TimeQuery = None,
    until: TimeQuery = None,
) -> EventFilter:
    """Which events of the caller's project are asked for."""
    return EventFilter(
        project_id=request.auth.project_id,
        name=name,
        status=the_word("status", status, EventStatus),
        since=a_moment("since", since),
        until=a_moment("until", until),
    )


@get(
    "/events",
    summary="What was told from outside.",
    tags=["events"],
    responses=REFUSALS,
    dependencies={"wanted": Provide(event_filter), "asked": Provide(ordered_page)},
)
async def list_events(
    request: ApiRequest, wanted: NamedDependency[EventFilter], asked: NamedDependency[PageRequest]
) -> EventPage:
    """Newest first, from `since` on and before `until`."""
    found = await actions.list_events(desk_of(request).actions, request.auth, wanted, asked)
    return EventPage(found.items, found.cursor)


@get("/events/{event_id:str}", summary="One event.", tags=["events"], responses=REFUSALS)
async def get_event(request: ApiRequest, event_id: FromPath[str]) -> Event:
    """The event with this id."""
    return await actions.get_event(desk_of(request).actions, request.auth, event_id)


@post("/events", summary="Tell of something new.", tags=["events"], responses=CHANGE_REFUSALS)
async def register_event(request: ApiRequest, data: JSONBody[EventToTell]) -> Event:
    """The event. Agents that watch for its name and labels write its data into Git."""
    new = NewEvent(**msgspec.structs.asdict(data))
    return await actions.register_event(desk_of(request).actions, request.auth, new)


ROUTES = (list_events, get_event, register_event)
