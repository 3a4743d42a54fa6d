"""What replicas of a server tell each other, so that it does not matter which one somebody is connected to.

On SQLite there is one process: what it stores goes to its own watchers, and that is all. On PostgreSQL what any replica
stored is read from the table of changes, by the one that stored it too, so that all see the same in the same way. That
it is worth while to look, hints for agents and the growth of logs are told through `channel`. Nothing that is told
there is the truth: it may be lost, and after a loss everybody looks again, agents ask again, and no key is trusted from
memory. A key that was withdrawn is a change like any other, so each replica forgets it within milliseconds.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress

import msgspec
import structlog

from fairway.errors import TemporaryError
from fairway.server.feed import Feed
from fairway.server.hints import HintBoard
from fairway.server.logs import LogStore
from fairway.server.messages import Outbox, opened, packed
from fairway.server.store.changes import Change, ChangeKind, ChangesSince, changes_since
from fairway.server.store.errors import UnusableInput
from fairway.server.store.store import Store

#: However much is stored, the table is not read more often.
PACE_SECONDS = 0.01
#: However much there is to tell, it is told together.
TELLING_PACE_SECONDS = 0.002
#: Without being told, it is read as often.
SAFETY_SECONDS = 10.0
#: After which changes the streams of one caller, or of all, ask again who may see what.
_OF_ONE = {ChangeKind.USERS, ChangeKind.API_KEYS}
_OF_ALL = {ChangeKind.ROLES, ChangeKind.SETTINGS}

_log = structlog.get_logger()


class Memories(msgspec.Struct, frozen=True, kw_only=True):
    """What this process remembers of callers, and how it is made to look again."""

    #: With the id of what changed.
    forget: Mapping[ChangeKind, Callable[[str], None]]
    forget_all: Callable[[], None]


class Live(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a server that tell of something, and those that want to hear."""

    store: Store
    logs: LogStore
    hints: HintBoard
    feed: Feed
    memories: Memories


@asynccontextmanager
async def connected(live: Live) -> AsyncIterator[None]:
    """Bring what happens in this and in other replicas to everybody who watches here, as long as the block lasts."""
    live.logs.listen(live.feed.publish_growth)
    if not live.store.shared_url:
        live.store.listen(lambda changes: deliver(live, changes))
        yield
        return
    replica = Replica(live)
    await replica.begin()
    tasks = [asyncio.create_task(work) for work in (replica.follow(), replica.tell(), replica.hear())]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError):
                await task


def deliver(live: Live, changes: Sequence[Change], position: str = "") -> None:
    """Forget what is no longer true, then tell who watches."""
    for change in changes:
        if forget := live.memories.forget.get(change.kind):
            forget(change.id)
    live.feed.publish(changes, position)
    for owner in {change.id for change in changes if change.kind in _OF_ONE}:
        live.feed.recheck(owner)
    if any(change.kind in _OF_ALL for change in changes):
        live.feed.recheck()


class Replica:
    """One of several on the same database."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._outbox = Outbox()
        self._position = ""
        self._look = asyncio.Event()
        self._looking = asyncio.Lock()

    async def begin(self) -> None:
        """Find out where we stand, and note from now on what others should be told."""
        self._position = (await self._since("")).position
        self._live.feed.publish((), self._position)
        self._live.feed.history = self
        self._live.store.listen(self._stored)
        self._live.logs.listen(self._outbox.add_growth)
        self._live.hints.relay = self._outbox.add_hint

    async def follow(self) -> None:
        """Deliver what any replica stored, until cancelled."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(SAFETY_SECONDS):
                    await self._look.wait()
            self._look.clear()
            try:
                await self.catch_up()
            except TemporaryError as error:
                _log.warning("what other replicas stored cannot be read now", reason=str(error))
                self._look.set()
                await asyncio.sleep(1)
            await asyncio.sleep(PACE_SECONDS)

    async def tell(self) -> None:
        """Tell the others what they should know, until cancelled."""
        from fairway.server.channel import RETRY_SECONDS, Teller  # its driver takes memory that SQLite can spare

        teller = Teller(self._live.store.shared_url)
        try:
            while True:
                await self._outbox.waiting.wait()
                message = self._outbox.take()
                if not await teller.tell(packed(message)):
                    self._outbox.put_back(message)
                    await asyncio.sleep(RETRY_SECONDS)
                await asyncio.sleep(TELLING_PACE_SECONDS)
        finally:
            await teller.close()

    async def hear(self) -> None:
        """Act on what the others tell, until cancelled."""
        from fairway.server.channel import hear  # as above

        await hear(self._live.store.shared_url, self._heard, self._lost)

    async def catch_up(self) -> None:
        """Deliver what is stored by now."""
        async with self._looking:
            try:
                found = await self._since(self._position)
            except UnusableInput:
                # So much was under way at once, in whichever database of the server, that no position can tell of it.
                found = ChangesSince((await self._since("")).position, None)
            self._deliver(found)

    async def since(self, position: str) -> Sequence[Change] | None:
        """What was stored since a position, for a watcher who comes from another replica."""
        try:
            return (await self._since(position)).changes if position else None
        except UnusableInput:
            return None  # a position of something else

    def _stored(self, _: Sequence[Change]) -> None:
        self._look.set()
        self._outbox.add_stored()

    def _heard(self, text: str) -> None:
        message = opened(text)
        if message is None or message.sender == self._outbox.sender:
            return
        if message.stored:
            self._look.set()
        for agent_id, topic in message.hints:
            self._live.hints.hear(agent_id, topic)
        for growth in message.grown:
            self._live.feed.publish_growth(growth)

    def _lost(self) -> None:
        """We may not have been told something: look everywhere, and trust nobody from memory."""
        self._live.memories.forget_all()
        self._live.hints.lose()
        self._live.feed.recheck()
        self._live.feed.look_into_logs()
        self._look.set()

    def _deliver(self, found: ChangesSince) -> None:
        self._position = found.position
        if found.changes is None:
            self._live.memories.forget_all()
            self._live.feed.reset(found.position)
            self._live.feed.recheck()
        else:
            deliver(self._live, found.changes, found.position)

    async def _since(self, position: str) -> ChangesSince:
        return await self._live.store.read(lambda connection: changes_since(connection, position))
