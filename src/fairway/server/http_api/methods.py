"""HEAD and OPTIONS, answered alike at every path, by what the routes themselves take.

Litestar answers OPTIONS by one route of a path and leaves out the others, behind the guard of that route, and has no
HEAD. Here HEAD is a GET that ends with the head of its answer, also where the body would never end; OPTIONS is
answered by what a method that nobody takes is told.
"""

from collections.abc import Iterable

from litestar.types import (
    ASGIApp,
    HTTPReceiveMessage,
    Message,
    Receive,
    Scope,
    Send,
    WebSocketReceiveMessage,
)

#: A method that no route of ours takes.
_NOBODYS = "TRACE"


def allowed(methods: Iterable[str]) -> list[str]:
    """What a path takes whose routes take these methods, for the header `Allow`."""
    taken = {method.strip() for method in methods} - {""}
    return sorted(taken | {"OPTIONS"} | ({"HEAD"} if "GET" in taken else set()))


def every_method(inner: ASGIApp) -> ASGIApp:
    """The application, which answers HEAD and OPTIONS too."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        match scope.get("method"):
            case "HEAD":
                head = _Head(receive, send)
                await inner(_with_method(scope, "GET"), head.receive, head.send)
            case "OPTIONS":
                await inner(_with_method(scope, _NOBODYS), receive, _as_options(send))
            case _:
                await inner(scope, receive, send)

    return app


class _Head:
    """One answer without its body. Whoever makes a body that has no end is told that nobody listens any more."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._ended = False

    async def receive(self) -> HTTPReceiveMessage | WebSocketReceiveMessage:
        return {"type": "http.disconnect"} if self._ended else await self._receive()

    async def send(self, message: Message) -> None:
        if self._ended:
            return
        await self._send(message)
        if message["type"] == "http.response.start":
            self._ended = True
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})


def _as_options(send: Send) -> Send:
    """What nobody's method is told, as the answer to OPTIONS: the methods that are taken, and no words."""
    answered = False

    async def options(message: Message) -> None:
        nonlocal answered
        if message["type"] == "http.response.start" and message["status"] == 405:
            answered = True
            kept = [(name, value) for name, value in message["headers"] if name.lower() == b"allow"]
            await send({"type": "http.response.start", "status": 204, "headers": kept})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        elif not answered:
            await send(message)

    return options


def _with_method(scope: Scope, method: str) -> Scope:
    return {**scope, "method": method}  # type: ignore[return-value]  # a copy of the same kind
