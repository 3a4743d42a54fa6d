"""Answers on their way out: one place each, from before they are made until they are taken."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from fairway.server.http_api.answers import LIMITS, LINE, CallerGone, bounded_answers, place_of_answer
from fairway.server.room import Limits, Room
from fairway.server.status_codes import TooManyRequests


class FakeLine:
    """A connection that has sent everything once it was drained, or is gone."""

    def __init__(self, drained: bool = True) -> None:
        self.limit = asyncio.timeout(None)
        self._sent = asyncio.Event()
        if drained:
            self._sent.set()

    @asynccontextmanager
    async def there(self) -> AsyncIterator[None]:
        async with asyncio.timeout(None) as self.limit:
            yield

    async def drain(self) -> None:
        await self._sent.wait()

    def abort(self) -> None:
        self._sent.set()


async def ask(room: Room, line: FakeLine, caller: str = "a", path: str = "/api/v1/agents") -> list[int]:
    """One request with an answer of two pieces; how much was held after each."""
    held: list[int] = []

    async def send(_: Any) -> None:
        held.append(room.held)

    async def inner(scope: Any, _receive: Any, send: Any) -> None:
        await place_of_answer(scope, caller)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x" * 10, "more_body": True})
        await send({"type": "http.response.body", "body": b"x" * 10, "more_body": False})

    scope: Any = {"type": "http", "path": path, LINE: line}
    nothing: Any = None
    await bounded_answers(inner, room)(scope, nothing, send)
    return held


async def test_an_answer_has_its_place_until_it_was_taken() -> None:
    room, line = Room(LIMITS), FakeLine(drained=False)
    asking = asyncio.create_task(ask(room, line))
    for _ in range(5):
        await asyncio.sleep(0)
    untaken = room.held

    line.abort()

    assert (await asking, untaken) == ([0, 30, 30], 30)
    assert (room.held, room.callers) == (0, 0)


async def test_a_stream_has_no_place() -> None:
    assert await ask(Room(LIMITS), FakeLine(), path="/api/v1/stream") == [0, 0, 0]


async def test_who_takes_nothing_is_hung_up_on_where_somebody_else_waits() -> None:
    limits = Limits(each=30, crowded=30, everybody=30, unsized=8, unsized_of_all=32, untaken_seconds=0.0)
    room = Room(limits)
    deaf = asyncio.create_task(ask(room, FakeLine(drained=False), "deaf"))
    for _ in range(5):
        await asyncio.sleep(0)

    assert await ask(room, FakeLine(), "modest") == [0, 30, 30]
    await deaf
    assert (room.held, room.callers) == (0, 0)


async def test_who_finds_no_room_is_refused_and_leaves_nothing() -> None:
    room = Room(msgspec.structs.replace(LIMITS, each=30, patience_seconds=0.0))
    line = FakeLine(drained=False)
    deaf = asyncio.create_task(ask(room, line, "deaf"))
    for _ in range(5):
        await asyncio.sleep(0)

    with pytest.raises(TooManyRequests, match="take those that were asked for"):
        await ask(room, FakeLine(), "deaf")

    line.abort()
    await deaf
    assert (room.held, room.callers) == (0, 0)


async def test_who_hangs_up_while_waiting_waits_no_longer() -> None:
    room, line, gone = Room(msgspec.structs.replace(LIMITS, each=30)), FakeLine(drained=False), FakeLine()
    asking = [asyncio.create_task(ask(room, each, "deaf")) for each in (line, gone)]
    for _ in range(5):
        await asyncio.sleep(0)

    gone.limit.reschedule(0)

    with pytest.raises(CallerGone):
        await asking[1]
    line.abort()
    await asking[0]
    assert (room.held, room.callers) == (0, 0)
