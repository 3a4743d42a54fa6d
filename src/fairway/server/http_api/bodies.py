"""Bodies of requests on their way in: each has its place (see `room`) from its first byte until the answer is sent.

A place is taken when somebody asks for the body, which is after the guard has seen who calls; what nobody asks for is
not read. A body is then read as a whole, in its time, and handed over from memory. Deliveries of webhooks are larger
and come from outside; `webhooks.reception` bounds them itself.
"""

from litestar.types import ASGIApp, Receive, ReceiveMessage, Scope, Send

from fairway.server.callers import Caller
from fairway.server.http_api.body import MOST_BYTES
from fairway.server.room import Limits, Place, Room

#: How much memory bodies may take. While one waits, its connection has read 64 KiB or somewhat more of it.
LIMITS = Limits(
    each=16 * 1024 * 1024,
    crowded=32 * 1024 * 1024,
    everybody=64 * 1024 * 1024,
    unsized=8,
    unsized_of_all=32,
    waiting=100,
    waiting_of_all=400,
    refusal="too much is being sent at once; wait for the answers to what was sent, then go on",
)
#: A body is in memory in pieces, as a whole, and as what is read from it, which may be larger than its text.
_COPIES = 6
#: Their bodies are bounded elsewhere.
_APART = "/webhooks/"


def bounded_bodies(inner: ASGIApp, room: Room) -> ASGIApp:
    """The application, which gets bodies where there is room for them."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if not _has_body(scope) or str(scope.get("path", "")).startswith(_APART):
            await inner(scope, receive, send)
            return
        body = _Body(room, scope, receive)
        try:
            await inner(scope, body.next, send)
        finally:
            body.clear()

    return app


class _Body:
    """The body of one request."""

    def __init__(self, room: Room, scope: Scope, receive: Receive) -> None:
        self._room = room
        self._scope = scope
        self._receive = receive
        self._place: Place | None = None
        self._read: list[ReceiveMessage] = []

    async def next(self) -> ReceiveMessage:
        """What comes next; TooManyRequests or TooSlow where it cannot."""
        if self._place is None:
            self._place = await self._room.place(share_of(self._scope))
            await self._read_all(self._place)
        # After the body there is only the end of the connection to be heard of.
        return self._read.pop(0) if self._read else await self._receive()

    def clear(self) -> None:
        """The request was answered."""
        if self._place is not None:
            self._place.clear()

    async def _read_all(self, place: Place) -> None:
        """The whole body, or as much as shows that it is too long."""
        length, more = 0, True
        try:
            async with self._room.in_time(place):
                while more and length <= MOST_BYTES:
                    message = await self._receive()
                    self._read.append(message)
                    more = message["type"] == "http.request" and message["more_body"]
                    length += len(message["body"]) if message["type"] == "http.request" else 0
        finally:
            place.fill(_COPIES * length)


def _has_body(scope: Scope) -> bool:
    """Whether there is anything to read. HTTP says so by one of two headers."""
    headers = dict(scope["headers"])
    return headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers


def share_of(scope: Scope) -> str:
    """Whose share it is: that of who is known, or of where the request comes from."""
    if isinstance(known := scope.get("auth"), Caller):
        return f"{known.kind.value} {known.name}"
    client = scope.get("client")
    return client[0] if client else ""
