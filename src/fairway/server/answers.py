"""Answers on their way: nobody fills the server's memory by asking and not listening.

gRPC holds an answer until the caller has taken it, however long that takes, and offers no way to give it up. So a call
that may have a large answer is let in only where there is room for one (see `room`); and where others find none, we
hang up on those who take nothing.
"""

from typing import Any

import structlog

from fairway.server.hanging_up import hang_up
from fairway.server.interceptors import AroundCalls, Work
from fairway.server.peers import peer_address
from fairway.server.room import Limits, Room
from fairway.server.status_codes import TooManyRequests, abort_for

#: How much memory answers may take.
LIMITS = Limits(
    each=32 * 1024 * 1024,
    crowded=64 * 1024 * 1024,
    everybody=256 * 1024 * 1024,
    unsized=8,
    unsized_of_all=32,
    refusal="too many answers to this caller are on their way; take those that were asked for, then ask again",
)
#: An answer is in memory as a message, as bytes, and as gRPC's own copy of them.
_COPIES = 3
#: Calls whose answers grow with what is stored or sent, beside all that get or list something.
_LARGE = frozenset({"Encrypt", "ReportApplicationLiveStateEvents", "RequestPlanPreview"})

_log = structlog.get_logger()


class BoundAnswers(AroundCalls):
    """Lets calls with large answers in where there is room. Streams are left alone: they send one message at a time."""

    def __init__(self, room: Room) -> None:
        self._room = room

    def around_call(self, method: str, work: Work) -> Work:
        """The work, which waits for its place; as it is where the answer is small."""

        async def bounded(request: Any, context: Any) -> Any:
            try:
                place = await self._room.place(_caller(context))
            except TooManyRequests as error:
                await abort_for(error, context)
            context.add_done_callback(lambda _: place.clear())
            size, peer = 0, context.peer()
            try:
                answer = await work(request, context)
                size = _COPIES * answer.ByteSize()
            finally:
                place.fill(size, lambda: _drop(peer))
            return answer

        return bounded if may_be_large(method) else work


def may_be_large(method: str) -> bool:
    """Whether the answer of a method such as `/package.Service/Method` may be large."""
    name = method.rpartition("/")[2]
    return name.startswith(("Get", "List")) or name in _LARGE


def _drop(peer: str) -> None:
    if hang_up(peer):
        _log.warning("a caller who did not take an answer was hung up on", address=peer_address(peer))


def _caller(context: Any) -> str:
    """Whose share it is: the holder of a key, over however many connections; the key itself is not kept."""
    shown = next((value for key, value in context.invocation_metadata() or () if key == "authorization"), "")
    return str(hash(shown))
