"""A stream gives an event when the one before was taken, and ends for a client that takes nothing."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from fairway.server.http_api.stream_bounds import LIMITS, bounded
from fairway.server.room import Room


class Line:
    """A connection whose client takes what it is sent when it is told to."""

    def __init__(self) -> None:
        self.takes = asyncio.Event()
        self.aborted = False

    @asynccontextmanager
    async def there(self) -> AsyncIterator[None]:
        yield

    async def drain(self) -> None:
        await self.takes.wait()

    def abort(self) -> None:
        self.aborted = True
        self.takes.set()


async def events(count: int = 3, size: int = 1_000) -> AsyncGenerator[bytes]:
    for number in range(count):
        yield str(number).encode() * size


async def test_an_event_has_its_place_until_it_is_taken() -> None:
    room, line = Room(LIMITS), Line()
    stream = bounded(events(), room, "ada", line)
    assert await anext(stream) == b"0" * 1_000
    following = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0)
    assert (room.held, following.done()) == (2_000, False)
    line.takes.set()
    assert await following == b"1" * 1_000
    assert await anext(stream) == b"2" * 1_000
    assert [each async for each in stream] == []
    assert (room.held, room.callers) == (0, 0)


async def test_a_client_that_takes_nothing_is_disconnected() -> None:
    room, line = Room(LIMITS), Line()
    given = [each async for each in bounded(events(), room, "ada", line, untaken_seconds=0)]
    assert (given, line.aborted) == ([b"0" * 1_000], True)
    assert (room.held, room.callers) == (0, 0)


async def test_a_stream_for_which_there_is_no_room_says_goodbye() -> None:
    room = Room(msgspec.structs.replace(LIMITS, each=10, everybody=10, patience_seconds=0, untaken_seconds=100))
    deaf, line = bounded(events(), room, "ada", Line()), Line()
    await anext(deaf)
    given = [each async for each in bounded(events(), room, "ada", line)]
    assert given == [b'event: goodbye\ndata: {"reason":"%b"}\n\n' % LIMITS.refusal.encode()]
    await deaf.aclose()
    assert room.held == 0


async def test_where_there_is_no_room_a_client_that_does_not_read_is_disconnected() -> None:
    room = Room(msgspec.structs.replace(LIMITS, everybody=10, untaken_seconds=0))
    line, hung_up = Line(), Line()
    deaf = bounded(events(), room, "ada", hung_up)
    await anext(deaf)
    rest = asyncio.ensure_future(_all(deaf))
    line.takes.set()
    assert len(await _all(bounded(events(), room, "bob", line))) == 3
    assert hung_up.aborted
    await rest


async def _all(stream: AsyncGenerator[bytes]) -> list[bytes]:
    return [each async for each in stream]
