"""Room for answers on their way: nobody fills the server's memory by asking and not listening.

gRPC holds an answer until the caller has taken it, however long that takes, and offers no way to give it up. So a call
that may have a large answer is let in only where there is room for one: each caller has a share, all callers together
have a limit, and few answers of one caller are made at once, because how large they are is known only then. Who finds
no room waits a while, in the order in which they came, and is then told to take what they asked for.

When many answers are under way, a caller who has none yet still gets one: what some do not take is no loss to others.
"""

import asyncio
from collections import deque
from typing import Any

import msgspec

from fairway.server.interceptors import AroundCalls, Work
from fairway.server.status_codes import TooManyRequests, abort_for

#: An answer is in memory as a message, as bytes, and as gRPC's own copy of them.
_COPIES = 3
#: Calls whose answers grow with what is stored or sent, beside all that get or list something.
_LARGE = frozenset({"Encrypt", "ReportApplicationLiveStateEvents", "RequestPlanPreview"})


class AnswerLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How much memory answers may take."""

    #: For one caller, in bytes. An answer that is larger by itself goes out alone.
    each: int = 32 * 1024 * 1024
    #: From here on a caller has one answer at a time.
    crowded: int = 64 * 1024 * 1024
    #: For all callers together.
    everybody: int = 256 * 1024 * 1024
    #: Answers of one caller that are being made at once.
    making: int = 8
    #: Calls of one caller that wait.
    waiting: int = 2_000
    patience_seconds: float = 30.0


class AnswerRoom:
    """Who has how much on the way. It belongs to one event loop."""

    def __init__(self, limits: AnswerLimits = AnswerLimits()) -> None:
        self._limits = limits
        self._held = 0
        self._callers: dict[int, _Share] = {}

    @property
    def held(self) -> int:
        """How many bytes are on the way."""
        return self._held

    @property
    def callers(self) -> int:
        """How many have something on the way, or wait."""
        return len(self._callers)

    async def place(self, caller: int) -> "Place":
        """A place for one answer of the caller, once there is one; raises TooManyRequests where none comes free."""
        share = self._callers.setdefault(caller, _Share())
        try:
            if share.waiting or not self._has_room(share):
                await self._wait(share)
            else:
                share.enter()
        finally:
            self._forget_idle(caller)
        return Place(self, caller)

    def made(self, caller: int, size: int) -> None:
        """An answer has been made, and is so large."""
        share = self._callers[caller]
        share.making -= 1
        share.held += size
        self._held += size
        self._let_in()

    def gone(self, caller: int, size: int) -> None:
        """An answer was taken, or nobody wants it any more."""
        share = self._callers[caller]
        share.answers -= 1
        share.held -= size
        self._held -= size
        self._let_in()
        self._forget_idle(caller)

    async def _wait(self, share: "_Share") -> None:
        if len(share.waiting) >= self._limits.waiting:
            raise _too_many()
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        share.waiting.append(turn)
        try:
            async with asyncio.timeout(self._limits.patience_seconds):
                await turn
        except BaseException as error:
            if turn in share.waiting:
                share.waiting.remove(turn)
            elif not turn.cancelled():
                # It was let in at the moment at which it gave up.
                share.answers -= 1
                share.making -= 1
                self._let_in()
            if isinstance(error, TimeoutError):
                raise _too_many() from error
            raise

    def _forget_idle(self, caller: int) -> None:
        if self._callers.get(caller) == _Share():
            del self._callers[caller]

    def _let_in(self) -> None:
        for share in self._callers.values():
            while share.waiting and self._has_room(share):
                turn = share.waiting.popleft()
                if not turn.done():
                    share.enter()
                    turn.set_result(None)

    def _has_room(self, share: "_Share") -> bool:
        if share.making >= self._limits.making or share.held >= self._limits.each:
            return False
        if self._held >= self._limits.everybody:
            return False
        return self._held < self._limits.crowded or not share.answers


class _Share(msgspec.Struct):
    """What one caller has on the way."""

    answers: int = 0
    #: How many of them are being made, so that their size is not known yet.
    making: int = 0
    held: int = 0
    waiting: deque[asyncio.Future[None]] = msgspec.field(default_factory=deque)

    def enter(self) -> None:
        """One more answer is about to be made."""
        self.answers += 1
        self.making += 1


class Place:
    """The place of one answer, from before it is made until it is taken."""

    def __init__(self, room: AnswerRoom, caller: int) -> None:
        self._room = room
        self._caller = caller
        self._size = 0

    def fill(self, size: int) -> None:
        """The answer has been made; 0 where it came to nothing."""
        self._size = size
        self._room.made(self._caller, size)

    def clear(self) -> None:
        """The answer is gone."""
        self._room.gone(self._caller, self._size)


class BoundAnswers(AroundCalls):
    """Lets calls with large answers in where there is room. Streams are left alone: they send one message at a time."""

    def __init__(self, room: AnswerRoom) -> None:
        self._room = room

    def around_call(self, method: str, work: Work) -> Work:
        """The work, which waits for its place; as it is where the answer is small."""

        async def bounded(request: Any, context: Any) -> Any:
            try:
                place = await self._room.place(_caller(context))
            except TooManyRequests as error:
                await abort_for(error, context)
            context.add_done_callback(lambda _: place.clear())
            size = 0
            try:
                answer = await work(request, context)
                size = _COPIES * answer.ByteSize()
            finally:
                place.fill(size)
            return answer

        return bounded if may_be_large(method) else work


def may_be_large(method: str) -> bool:
    """Whether the answer of a method such as `/package.Service/Method` may be large."""
    name = method.rpartition("/")[2]
    return name.startswith(("Get", "List")) or name in _LARGE


def _caller(context: Any) -> int:
    """Whose share it is: the holder of a key, over however many connections. Without one, answers are small."""
    return hash(next((value for key, value in context.invocation_metadata() or () if key == "authorization"), ""))


def _too_many() -> TooManyRequests:
    return TooManyRequests(
        "too many answers to this caller are on their way; take those that were asked for, then ask again",
        retry_after_seconds=1,
    )
