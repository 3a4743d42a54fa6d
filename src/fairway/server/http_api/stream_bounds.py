"""The memory of streams: each event has its place (see `room`) until the client has taken it.

A client that takes nothing for a minute is disconnected. Where all room is taken and another stream waits, the client
that holds most is disconnected after a few seconds. A client that comes back is told what it missed.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import msgspec
import structlog

from fairway.server.http_api.answers import Line
from fairway.server.room import Limits, Room
from fairway.server.status_codes import TooManyRequests

#: How much memory events may take that clients have not taken.
LIMITS = Limits(
    each=16 * 1024 * 1024,
    crowded=32 * 1024 * 1024,
    everybody=64 * 1024 * 1024,
    unsized=8,
    unsized_of_all=32,
    refusal="too many events to this caller are on their way; read the streams that are open, then connect again",
)
#: An event is in memory as what it is made from, and as what the connection has not sent.
_COPIES = 2
#: How long a client may take nothing.
UNTAKEN_SECONDS = 60.0

_log = structlog.get_logger()


def event(name: str, data: object, id: bytes = b"") -> bytes:
    """One event as it is sent."""
    return b"event: %b\ndata: %b\n%b\n" % (name.encode(), msgspec.json.encode(data), id)


async def bounded(
    events: AsyncGenerator[bytes], room: Room, caller: str, line: Line | None, untaken_seconds: float = UNTAKEN_SECONDS
) -> AsyncGenerator[bytes]:
    """The events, each made when the client has taken the one before and there is room for it."""
    async with aclosing(events):
        try:
            async for text in events:
                place = await room.place(caller)
                try:
                    place.fill(_COPIES * len(text), None if line is None else line.abort)
                    yield text
                    if line is not None and not await _taken(line, untaken_seconds):
                        _log.warning("a stream was ended: its client does not read", caller=caller)
                        return
                finally:
                    place.clear()
        except TooManyRequests as error:
            yield event("goodbye", {"reason": str(error)})


async def _taken(line: Line, seconds: float) -> bool:
    """Whether the client has taken what it was sent; otherwise its connection is ended."""
    try:
        async with asyncio.timeout(seconds):
            await line.drain()
    except TimeoutError:
        line.abort()
        return False
    return True
