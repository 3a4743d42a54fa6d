"""One stream of server-sent events for everything live: a browser says by topic what it wants to hear of.

Each event is the noun as GET shows it now, so hearing one twice does no harm and missing some in between loses nothing.
Whoever comes back with the id of the last event is told what changed since; when that is not known any more, a
`reset` says to load everything again. Who may see what is asked for each thing and each watcher, and again when roles
change, keys are disabled or sessions end; whoever sees things by their labels loads again when those of one changed,
since nobody else knows what they show. A client that does not read holds up its own stream only, and loses it when it
takes nothing for a minute, or when others need the memory: it comes back with the id of the last event.

Blocks of a log are told once: the id of an event says which ones the client has. Only where a log has more gaps than
an id can tell of, some may be told again; none is ever left out.

    ready     the stream has begun; its id is where
    reset     something was missed: load again what you show
    goodbye   the stream ends here; connect again
"""

import asyncio
import itertools
from collections.abc import AsyncGenerator, Iterator, Mapping
from typing import Annotated

import msgspec
from litestar import get
from litestar.params import QueryParameter
from litestar.response import Stream

from fairway.errors import FairwayError
from fairway.model.role import Action
from fairway.server.callers import Caller
from fairway.server.feed import Feed, LogTopic, Subscription, Taken
from fairway.server.http_api.answers import LINE, Line
from fairway.server.http_api.caller import known_caller
from fairway.server.http_api.desk import ApiRequest, HttpDesk
from fairway.server.http_api.errors import REFUSALS
from fairway.server.http_api.stream_bounds import LIMITS, bounded, event
from fairway.server.http_api.stream_logs import SharedLogs, new_blocks, position_in
from fairway.server.http_api.stream_nouns import RESOURCES, ShownNoun, ShownNouns
from fairway.server.http_api.stream_position import LogPosition, StreamPosition, read_position, written
from fairway.server.http_api.stream_topics import MOST_TOPICS, WORDS, Wanted, wanted_topics
from fairway.server.permissions import may, permit, scope
from fairway.server.room import Room
from fairway.server.status_codes import TooManyRequests
from fairway.server.store.changes import Change, ChangeKind
from fairway.server.store.errors import NotFound

#: After so long without an event, a sign of life and another look at who is listening.
HEARTBEAT_SECONDS = 15.0
#: How long a client should wait before it connects again.
_RETRY = b"retry: 2000\n"
#: Streams of one caller at once, so that nobody takes all connections.
MOST_STREAMS = 100
#: What is read and sent at once.
_AT_ONCE = 64

TopicQuery = Annotated[
    list[str] | None,
    QueryParameter(
        description=f"May be repeated, up to {MOST_TOPICS} times: a list (applications, deployments …), one thing "
        "(application:ID …), or log:DEPLOYMENT/STAGE."
    ),
]


class Streams:
    """What all streams share."""

    def __init__(self, desk: HttpDesk) -> None:
        self.feed: Feed = desk.feed
        self.nouns = ShownNouns(desk.store, desk.clock, desk.feed)
        self.logs = SharedLogs(desk.logs, desk.feed)
        self.room = Room(LIMITS)


@get(
    "/stream",
    summary="Everything live.",
    tags=["stream"],
    responses=REFUSALS,
    media_type="text/event-stream",
)
async def stream(request: ApiRequest, topic: TopicQuery = None) -> Stream:
    """Server-sent events of the topics, from `Last-Event-ID` on; a single thing and a log begin with what is there."""
    wanted = wanted_topics(topic)
    streams: Streams = request.app.state.streams
    if streams.feed.count_of(request.auth.name) >= MOST_STREAMS:
        raise _too_many(request.auth.name)
    one = _OneStream(streams, request, wanted)
    first = await one.look()
    events = one.events([] if one.resumes else first)
    line: Line | None = request.scope.get(LINE)  # type: ignore[assignment]  # a name of ours
    return Stream(
        bounded(events, streams.room, request.auth.name, line),
        media_type="text/event-stream",
        # Proxies are asked not to collect events before they pass them on.
        headers={"cache-control": "no-store", "x-accel-buffering": "no"},
    )


class _OneStream:
    """One client's stream."""

    def __init__(self, streams: Streams, request: ApiRequest, wanted: Wanted) -> None:
        self._streams = streams
        self._request = request
        self._wanted = wanted
        said = request.headers.get("last-event-id", "")
        self._from = read_position(said, wanted.logs) if said else None
        #: Up to where the client has been told everything.
        self._place = self._from.feed if self._from else streams.feed.position
        self._logs: dict[LogTopic, LogPosition] = {}
        #: Logs of which another run has begun; they are told from the beginning.
        self._anew: set[LogTopic] = set()

    @property
    def resumes(self) -> bool:
        """Whether the client says that it has been here before."""
        return self._from is not None

    @property
    def _caller(self) -> Caller:
        return self._request.auth

    async def look(self) -> list[bytes]:
        """The single things that are asked for; NotFound or Forbidden when there is something not to be seen."""
        for topic in self._wanted.nouns:
            if not topic.id:
                scope(self._caller, RESOURCES[topic.kind])
        changes = {Change(topic.kind, topic.id, self._caller.project_id): 0 for topic in self._wanted.ones}
        found = await self._streams.nouns.after(dict.fromkeys(changes, self._streams.feed.number))
        for change in changes:
            if change not in found:
                raise NotFound(WORDS[change.kind], change.id)
            shown = found[change]
            permit(self._caller, shown.resource, Action.READ, shown.project_id, shown.labels)
        self._find_logs(found)
        return [shown.text for change, shown in found.items() if self._wanted.tells(change)]

    async def events(self, first: list[bytes]) -> AsyncGenerator[bytes]:
        """The stream itself, beginning with the events that are there."""
        feed = self._streams.feed
        subscription = Subscription(self._wanted.subscribed, self._caller.project_id, self._caller.name)
        try:
            # From where we stood when we began to look, so that nothing falls between the two.
            await feed.subscribe(subscription, self._place)
            if feed.count_of(self._caller.name) > MOST_STREAMS:
                # A crowd that came at once was let in together; only now it shows who was too many.
                raise _too_many(self._caller.name)
            yield _RETRY + b"".join(text + b"\n" for text in first)
            yield event("ready", {}, b"" if self.resumes else self._id())
            grown = dict.fromkeys(self._logs, 0)
            while not feed.closed:
                taken = await self._take(subscription)
                async for chunk in self._tell(taken, {**taken.grown, **grown}):
                    yield chunk
                grown = {}
                try:
                    async with asyncio.timeout(HEARTBEAT_SECONDS):
                        await subscription.wake.wait()
                except TimeoutError:
                    subscription.recheck = True
                    if not subscription.wake.is_set():
                        self._place = feed.position
                    # A comment for those in between, and the place to go on from, which is no event by itself.
                    yield b": \n" + self._id() + b"\n"
            yield event("goodbye", {"reason": "the server stops; connect again"})
        except FairwayError as error:
            yield event("goodbye", {"reason": str(error)})
        finally:
            feed.leave(subscription)

    async def _take(self, subscription: Subscription) -> Taken:
        """What is new, for who the caller is now."""
        taken = self._streams.feed.take(subscription)
        relabelled = any(change.kind is ChangeKind.LABELS for change in taken.changes)
        if subscription.recheck or taken.reset or relabelled:
            subscription.recheck = False
            await self._ask_again()
        if relabelled and self._sees_by_labels():
            return msgspec.structs.replace(taken, changes={}, reset=True)
        return taken

    def _sees_by_labels(self) -> bool:
        return any(not _sees_all(self._caller, kind) for kind in self._wanted.by_labels)

    async def _ask_again(self) -> None:
        """Who is it, and what may they see now? The request says who, as it did at the beginning."""
        await known_caller(self._request, self._request.route_handler)
        await self.look()

    async def _tell(self, taken: Taken, grown: Mapping[LogTopic, int]) -> AsyncGenerator[bytes]:
        """Events of what is new. The last of them has the new place: before that, not everything has been told."""
        last = event("reset", {}).removesuffix(b"\n") if taken.reset else b""
        nouns = {change: number for change, number in taken.changes.items() if change.kind in WORDS}
        for changes in _in_parts(nouns):
            found = await self._streams.nouns.after(changes)
            texts = [shown.text for change, shown in found.items() if self._may_tell(change, shown)]
            self._find_logs(found)
            for text in texts:
                if last:
                    yield last + b"\n"
                last = text
        self._place = taken.position
        if last:
            yield last + self._id() + b"\n"
        anew, self._anew = self._anew, set()
        for topic, index in {**grown, **dict.fromkeys(anew, 0)}.items():
            if topic in self._logs:
                async for added, position in new_blocks(self._streams.logs, topic, self._logs[topic], index):
                    self._logs[topic] = position
                    yield event("log", added, self._id())

    def _may_tell(self, change: Change, shown: ShownNoun) -> bool:
        seen = may(self._caller, shown.resource, Action.READ, shown.project_id, shown.labels)
        return seen and self._wanted.tells(change)

    def _find_logs(self, found: Mapping[Change, ShownNoun]) -> None:
        """Note which run of its stage each log is of, and which ones begin anew."""
        for topic in self._wanted.logs:
            shown = found.get(Change(ChangeKind.DEPLOYMENTS, topic.deployment_id, self._caller.project_id))
            if shown is None:
                continue
            permit(self._caller, shown.resource, Action.READ, shown.project_id, shown.labels)
            known = self._logs.get(topic) or (self._from.logs.get(topic) if self._from else None)
            position = position_in(shown.noun, topic, known)
            if position is None:
                raise NotFound("stage", topic.stage_id)
            if topic in self._logs and position is not known:
                self._anew.add(topic)
            self._logs[topic] = position

    def _id(self) -> bytes:
        return b"id: %b\n" % written(StreamPosition(self._place, self._logs)).encode()


def _sees_all(caller: Caller, kind: ChangeKind) -> bool:
    return not all(scope(caller, RESOURCES[kind]).any_of)


def _too_many(caller: str) -> TooManyRequests:
    return TooManyRequests(f"{caller} has {MOST_STREAMS} streams already; close some first", 10)


def _in_parts(changes: Mapping[Change, int]) -> Iterator[dict[Change, int]]:
    each = iter(changes.items())
    while part := dict(itertools.islice(each, _AT_ONCE)):
        yield part


ROUTES = (stream,)
