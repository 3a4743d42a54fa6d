"""Room for what callers send and take: nobody fills the server's memory, by however many calls at once.

How large something is shows only when it is there: an answer once it was made, a request once it was read. So whoever
is about to make or read one takes a place first. Each caller has a share, all together have a limit, and few things
whose size is not known yet are under way at once. Who finds no room waits a while and is then refused; callers are let
in by turns, and the calls of each in the order in which they came.

When much is under way, a caller who has nothing yet still gets a place: what some do not finish is no loss to others.
And where nobody else could be let in, those who take their time to send get less of it, and those who do not take what
was made for them lose it.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import msgspec

from fairway.errors import TemporaryError
from fairway.server.status_codes import TooManyRequests

#: From one thing that is dropped to the next, so that the first has time to go.
_NEXT_SECONDS = 0.1


class TooSlow(TemporaryError):
    """Something that did not come in time."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How much memory may be taken, in bytes, and by how many."""

    #: For one caller. What is larger by itself goes alone.
    each: int
    #: From here on a caller has one thing at a time.
    crowded: int
    #: For all callers together.
    everybody: int
    #: Things of one caller at once whose size is not known yet.
    unsized: int
    #: The same for all callers. From half of it on, each has one.
    unsized_of_all: int
    #: Calls of one caller that wait.
    waiting: int = 2_000
    #: The same for all callers.
    waiting_of_all: int = 5_000
    patience_seconds: float = 30.0
    #: How long it may take until the size of something is known, and how long where others wait for that.
    slow_seconds: float = 30.0
    hurried_seconds: float = 3.0
    #: How long something that can be dropped may stay where others wait for its room.
    untaken_seconds: float = 5.0
    #: What who is refused is told.
    refusal: str = "too many calls of this caller are under way; wait for their answers, then go on"


class Room:
    """Who has how much under way. It belongs to one event loop."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._held = 0
        self._unsized = 0
        self._waiting = 0
        self._shares: dict[str, _Share] = {}
        #: Those who wait, who is next being the first.
        self._queue: dict[str, _Share] = {}
        #: Since when things are on their way to us, and how long they may take.
        self._coming: dict[Place, tuple[float, asyncio.Timeout]] = {}
        #: Since when things are there that can be dropped, and how; the oldest first.
        self._untaken: dict[Place, tuple[float, Callable[[], object]]] = {}
        #: The next look at these.
        self._look: asyncio.TimerHandle | None = None

    @property
    def held(self) -> int:
        """How many bytes are under way."""
        return self._held

    @property
    def callers(self) -> int:
        """How many have something under way, or wait."""
        return len(self._shares)

    async def place(self, caller: str) -> "Place":
        """A place for one thing of the caller, once there is one; raises TooManyRequests where none comes free."""
        share = self._shares.setdefault(caller, _Share())
        try:
            if share.waiting or not self._has_room(share):
                await self._wait(caller, share)
            else:
                self._enter(share)
        finally:
            self._forget_idle(caller)
        return Place(self, caller)

    @asynccontextmanager
    async def in_time(self, place: "Place") -> AsyncIterator[None]:
        """Raise TooSlow when what has the place does not come within the block's time."""
        try:
            async with asyncio.timeout(self._limits.slow_seconds) as limit:
                self._coming[place] = (asyncio.get_running_loop().time(), limit)
                try:
                    self._hurry()
                    yield
                finally:
                    del self._coming[place]
        except TimeoutError as error:
            raise TooSlow("the call did not bring its request in time; send all of it at once") from error

    def sized(self, place: "Place", drop: Callable[[], object] | None) -> None:
        """What has the place is there."""
        share = self._shares[place.caller]
        share.unsized -= 1
        share.held += place.size
        self._unsized -= 1
        self._held += place.size
        if drop is not None:
            self._untaken[place] = (asyncio.get_running_loop().time(), drop)
        self._let_in()
        self._make_room()

    def gone(self, place: "Place") -> None:
        """What has the place is needed no longer."""
        share = self._shares[place.caller]
        share.things -= 1
        share.held -= place.size
        self._held -= place.size
        self._untaken.pop(place, None)
        self._let_in()
        self._forget_idle(place.caller)

    async def _wait(self, caller: str, share: "_Share") -> None:
        if len(share.waiting) >= self._limits.waiting or self._waiting >= self._limits.waiting_of_all:
            raise self._refused()
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        share.waiting.append(turn)
        self._queue[caller] = share
        self._waiting += 1
        self._hurry()
        self._make_room()
        try:
            async with asyncio.timeout(self._limits.patience_seconds):
                await turn
        except BaseException as error:
            if turn in share.waiting:
                share.waiting.remove(turn)
                if not share.waiting:
                    del self._queue[caller]
            elif not turn.cancelled():
                # It was let in at the moment at which it gave up.
                share.things -= 1
                share.unsized -= 1
                self._unsized -= 1
                self._let_in()
            if isinstance(error, TimeoutError):
                raise self._refused() from error
            raise
        finally:
            self._waiting -= 1

    def _refused(self) -> TooManyRequests:
        return TooManyRequests(self._limits.refusal, retry_after_seconds=1)

    def _forget_idle(self, caller: str) -> None:
        share = self._shares.get(caller)
        if share is not None and not share.things and not share.waiting:
            del self._shares[caller]

    def _hurry(self) -> None:
        """Where somebody waits for those who have not brought all of what they send, these have less time for it."""
        if not self._queue or self._unsized < self._limits.unsized_of_all:
            return
        for since, limit in self._coming.values():
            soon = since + self._limits.hurried_seconds
            if (when := limit.when()) is not None and soon < when:
                limit.reschedule(soon)

    def _make_room(self) -> None:
        """Where somebody waits and all room is taken, one thing after another that is not taken is dropped."""
        if self._look is not None or not self._queue or self._held < self._limits.everybody or not self._untaken:
            return
        loop, latest = asyncio.get_running_loop(), self._limits.untaken_seconds
        overdue = [place for place, (since, _) in self._untaken.items() if since + latest <= loop.time()]
        if overdue:
            most = max(overdue, key=lambda place: self._shares[place.caller].held)
            _, drop = self._untaken.pop(most)
            drop()
            self._look = loop.call_later(_NEXT_SECONDS, self._look_again)
        else:
            oldest, _ = next(iter(self._untaken.values()))
            self._look = loop.call_at(oldest + latest, self._look_again)

    def _look_again(self) -> None:
        self._look = None
        self._make_room()

    def _let_in(self) -> None:
        while self._queue and not self._is_full():
            caller = next((caller for caller, share in self._queue.items() if self._has_room(share)), None)
            if caller is None:
                return
            share = self._queue.pop(caller)
            turn = share.waiting.popleft()
            if share.waiting:
                self._queue[caller] = share
            if not turn.done():
                self._enter(share)
                turn.set_result(None)

    def _enter(self, share: "_Share") -> None:
        share.things += 1
        share.unsized += 1
        self._unsized += 1

    def _is_full(self) -> bool:
        return self._unsized >= self._limits.unsized_of_all or self._held >= self._limits.everybody

    def _has_room(self, share: "_Share") -> bool:
        limits = self._limits
        if self._is_full() or share.unsized >= limits.unsized or share.held >= limits.each:
            return False
        if share.unsized and self._unsized * 2 >= limits.unsized_of_all:
            return False
        return not share.things or self._held < limits.crowded


class _Share(msgspec.Struct):
    """What one caller has under way."""

    things: int = 0
    #: How many of them are so large as nobody knows yet.
    unsized: int = 0
    held: int = 0
    waiting: deque[asyncio.Future[None]] = msgspec.field(default_factory=deque)


class Place:
    """The place of one thing, from before its size is known until it is needed no longer."""

    __slots__ = ("_room", "caller", "size")

    def __init__(self, room: Room, caller: str) -> None:
        self._room = room
        self.caller = caller
        #: 0 as long as it is not known.
        self.size = 0

    def fill(self, size: int, drop: Callable[[], object] | None = None) -> None:
        """It is there; 0 where it came to nothing. `drop` has it cleared where nobody takes it and others need room."""
        self.size = size
        self._room.sized(self, drop)

    def clear(self) -> None:
        """It is gone."""
        self._room.gone(self)
