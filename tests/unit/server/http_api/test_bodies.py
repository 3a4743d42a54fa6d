"""Bodies on their way in: one place each, from when somebody asks until the answer."""

import asyncio
from typing import Any

import msgspec
import pytest

from fairway.server.http_api.bodies import LIMITS, bounded_bodies
from fairway.server.http_api.body import MOST_BYTES
from fairway.server.room import Room, TooSlow


def a_scope(path: str = "/api/v1/events", length: int | None = 1, client: str = "192.0.2.1") -> Any:
    headers = [] if length is None else [(b"content-length", str(length).encode())]
    return {"type": "http", "path": path, "headers": headers, "client": (client, 1)}


def a_part(body: bytes, more: bool = False) -> Any:
    return {"type": "http.request", "body": body, "more_body": more}


async def ask(room: Room, scope: Any, parts: list[Any]) -> tuple[bytes, int]:
    """The body that the application got, and how many bytes had their place meanwhile."""
    got: list[bytes] = []

    async def receive() -> Any:
        return parts.pop(0) if parts else await asyncio.Event().wait()

    async def read(_scope: Any, receive: Any, _send: Any) -> None:
        more = True
        while more:
            message = await receive()
            got.append(message.get("body", b""))
            more = message.get("more_body", False)
        got.append(str(room.held).encode())

    await bounded_bodies(read, room)(scope, receive, lambda _: asyncio.sleep(0))
    *body, held = got
    return b"".join(body), int(held)


async def test_a_body_has_its_place_until_it_was_answered() -> None:
    room = Room(LIMITS)

    body, held = await ask(room, a_scope(), [a_part(b"one ", more=True), a_part(b"two")])

    assert (body, held) == (b"one two", 6 * 7)
    assert (room.held, room.callers) == (0, 0)


@pytest.mark.parametrize(
    "scope", [pytest.param(a_scope(length=None), id="no body"), pytest.param(a_scope("/webhooks/w"), id="a delivery")]
)
async def test_what_is_bounded_elsewhere_or_not_there_needs_no_place(scope: Any) -> None:
    assert await ask(Room(LIMITS), scope, [a_part(b"x")]) == (b"x", 0)


async def test_a_body_that_is_too_long_is_read_as_far_as_that_shows() -> None:
    room, half = Room(LIMITS), b"x" * (MOST_BYTES // 2)
    parts = [a_part(half, more=True) for _ in range(4)] + [a_part(b"")]

    body, held = await ask(room, a_scope(), parts)

    assert (len(body), held) == (4 * len(half), 6 * 3 * len(half))


async def test_a_body_that_does_not_come_in_time_leaves_its_place() -> None:
    room = Room(msgspec.structs.replace(LIMITS, slow_seconds=0.0))

    with pytest.raises(TooSlow):
        await ask(room, a_scope(), [a_part(b"x", more=True)])

    assert (room.held, room.callers) == (0, 0)


async def test_a_caller_who_leaves_is_heard_of() -> None:
    assert await ask(Room(LIMITS), a_scope(), [{"type": "http.disconnect"}]) == (b"", 0)
