"""The server's ports: opened together, two of them or one, and closed without cutting anybody off.

Who decides where traffic goes asks /readyz. So a server that is asked to stop first says there that it is not to be
asked any more, for as long as it was told that such news takes to get round; then nobody new is let in, what is under
way is finished, and what never ends by itself (streams) has been told before.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
from grpc import aio
from litestar.types import ASGIApp, Receive, Scope, Send

from fairway.errors import UserError
from fairway.server.certificates import CertificateFiles, server_credentials
from fairway.server.http_api.errors import ErrorAnswer, Problem
from fairway.server.http_api.listener import listening
from fairway.server.single_port import http_behind, single_port

#: How long calls that are under way may go on when the server is asked to stop.
GRACE_SECONDS = 10.0

_STOPPING = msgspec.json.encode(ErrorAnswer(Problem("unavailable", "the server is stopping; ask another one")))


class AddressInUse(UserError):
    """The server cannot listen where it was told to."""


class Doors(msgspec.Struct, frozen=True, kw_only=True):
    """Where the server is reached."""

    #: gRPC, and with `single_port` HTTP as well; host:port.
    listen: str
    #: HTTP; host:port.
    http_listen: str
    #: None: without TLS.
    certificate: CertificateFiles | None = None
    single_port: bool = False


class Ports(msgspec.Struct, frozen=True):
    """The ports, once the system has chosen those that were 0."""

    grpc: int
    http: int


@asynccontextmanager
async def open_doors(doors: Doors, server: aio.Server, web: ASGIApp) -> AsyncIterator[Ports]:
    """Answer calls and requests during the block; at its end, those under way are finished."""
    if doors.single_port:
        async with _one_door(doors, server, web) as ports:
            yield ports
        return
    port = _listen(server, doors)
    async with listening(web, doors.http_listen, GRACE_SECONDS, doors.certificate) as http_port:
        await server.start()
        try:
            yield Ports(port, http_port)
        finally:
            await server.stop(GRACE_SECONDS)


@asynccontextmanager
async def _one_door(doors: Doors, server: aio.Server, web: ASGIApp) -> AsyncIterator[Ports]:
    async with single_port(doors.listen, doors.certificate) as (door, context):
        server.add_insecure_port(f"unix:{door.grpc_socket}")
        async with http_behind(web, door, GRACE_SECONDS, context):
            await server.start()
            await door.start(context)
            try:
                yield Ports(door.port, door.port)
            finally:
                door.stop_accepting()
                await server.stop(GRACE_SECONDS)


def unready_when(stopping: asyncio.Event, inner: ASGIApp) -> ASGIApp:
    """The application, whose /readyz says no once the server is stopping."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if not (stopping.is_set() and scope.get("path") == "/readyz"):
            await inner(scope, receive, send)
            return
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(_STOPPING)).encode())]
        await send({"type": "http.response.start", "status": 503, "headers": headers})
        await send({"type": "http.response.body", "body": _STOPPING, "more_body": False})

    return app


def _listen(server: aio.Server, doors: Doors) -> int:
    try:
        if doors.certificate is None:
            return server.add_insecure_port(doors.listen)
        return server.add_secure_port(doors.listen, server_credentials(doors.certificate))
    except RuntimeError as error:
        raise AddressInUse(
            f"cannot listen on {doors.listen}: it is in use, or not an address of this machine"
        ) from error
