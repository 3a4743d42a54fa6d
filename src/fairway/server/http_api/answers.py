"""Answers over HTTP on their way out: nobody fills the server's memory by asking on many connections and not listening.

Each answer has its place (see `room`) from before it is made, once it is known who asks, until the caller has taken it;
that is when the connection has little left to send. Where others find no room, we hang up on those who take nothing.
Streams are left alone: what they have not sent yet is bounded by themselves.
"""

from collections.abc import MutableMapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from litestar.types import ASGIApp, Message, Receive, Scope, Send

from fairway.errors import TemporaryError
from fairway.server.room import Limits, Place, Room

#: How much memory answers may take.
LIMITS = Limits(
    each=32 * 1024 * 1024,
    crowded=64 * 1024 * 1024,
    everybody=128 * 1024 * 1024,
    unsized=8,
    unsized_of_all=32,
    refusal="too many answers to this caller are on their way; take those that were asked for, then ask again",
)
#: An answer is in memory as what it is made from, as text, and as what the connection has not sent.
_COPIES = 3
#: Never ends, and so never would leave its place.
_APART = "/api/v1/stream"
#: Under these names a request finds the place of its answer, and its connection.
_ANSWER, LINE = "fairway.answer", "fairway.line"


class CallerGone(TemporaryError):
    """Who asked has hung up; nobody hears of it."""


class Line(Protocol):
    """The connection of a request."""

    def there(self) -> AbstractAsyncContextManager[object]:
        """Raise TimeoutError in the block when the connection is gone."""

    async def drain(self) -> None:
        """Wait until little is left to send, or the connection is gone."""

    def abort(self) -> None:
        """Hang up."""


async def place_of_answer(scope: MutableMapping[str, Any], caller: str) -> None:
    """Wait until there is room for an answer to the caller; TooManyRequests where there is none."""
    if (answer := scope.get(_ANSWER)) is not None:
        await answer.begin(caller)


def bounded_answers(inner: ASGIApp, room: Room) -> ASGIApp:
    """The application, whose answers are made where there is room for them."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("path") == _APART:
            await inner(scope, receive, send)
            return
        line: Line | None = scope.get(LINE)  # type: ignore[assignment]  # a name of ours
        answer = _Answer(room, line)
        scope[_ANSWER] = answer  # type: ignore[literal-required]  # as above

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.body":
                answer.made(len(message["body"]))
            await send(message)

        try:
            await inner(scope, receive, sending)
            if line is not None:
                await line.drain()
        finally:
            answer.end()

    return app


class _Answer:
    """The answer to one request."""

    def __init__(self, room: Room, line: Line | None) -> None:
        self._room = room
        self._line = line
        self._place: Place | None = None
        self._is_made = False

    async def begin(self, caller: str) -> None:
        if self._line is None:
            self._place = await self._room.place(caller)
            return
        try:
            async with self._line.there():
                self._place = await self._room.place(caller)
        except TimeoutError as error:
            raise CallerGone("the caller hung up while there was no room for an answer") from error

    def made(self, size: int) -> None:
        """Its first piece is there, which mostly is all of it; of a longer one, no two are there at once."""
        if self._place is not None and not self._is_made:
            self._is_made = True
            self._place.fill(_COPIES * size, self._line.abort if self._line is not None else None)

    def end(self) -> None:
        self.made(0)
        if self._place is not None:
            self._place.clear()
