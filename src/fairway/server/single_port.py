"""gRPC and HTTP on one port: each new connection is looked at, then passed on to the one it speaks.

gRPC opens with the preface of HTTP/2, and nothing that speaks HTTP/1 begins like it. With TLS the handshake says it
before the first byte: a client that takes both, as browsers do, gets HTTP/1; one that takes only h2, as gRPC does, gets
gRPC; to one that says nothing the first bytes are looked at. Behind the port both listen on sockets in a directory that
only this user can enter. The end of each connection to them is named after the caller's address, which is how it
gets into the audit: nothing that a caller sends is believed for that.

Bytes are passed on as they come, never faster than the other side takes them. Whoever does not say within seconds what
they speak is hung up on. Everything else (keepalive, timeouts, limits) is the business of the two behind.
"""

import asyncio
import itertools
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import structlog
from litestar.types import ASGIApp

from fairway.server.certificates import CertificateFiles
from fairway.server.http_api.connection import Connection
from fairway.server.http_api.listener import answering, bind, following_context
from fairway.server.open_files import allow_many_files
from fairway.server.passed_connection import CallerSide, ServiceSide, Side
from fairway.server.peers import MARK, socket_name_address
from fairway.temporary_directory import temporary_directory

#: The order is ours to choose from: whoever can speak HTTP/1 shall.
ALPN = ("http/1.1", "h2")
#: How long a caller may take for a handshake, and then to say what it speaks.
PATIENCE_SECONDS = 10.0
#: How long a busy service behind may take to accept.
_ACCEPT_SECONDS = 5.0

_log = structlog.get_logger()


class SinglePort:
    """One port with two services behind it. They listen where it says, then it is started."""

    def __init__(self, directory: Path, bound: socket.socket, patience_seconds: float) -> None:
        self._directory = directory
        self._bound = bound
        self._patience_seconds = patience_seconds
        self._numbers = itertools.count(1)
        self._server: asyncio.Server | None = None
        self._open: set[Side] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def port(self) -> int:
        """The port, once the system has chosen one for 0."""
        return int(self._bound.getsockname()[1])

    @property
    def grpc_socket(self) -> Path:
        """Where gRPC has to listen."""
        return self._directory / "grpc"

    @property
    def http_socket(self) -> Path:
        """Where HTTP has to listen."""
        return self._directory / "http"

    @property
    def connection_count(self) -> int:
        """How many callers are connected."""
        return len(self._open)

    async def start(self, context: ssl.SSLContext | None) -> None:
        """Accept callers."""
        self._server = await asyncio.get_running_loop().create_server(
            lambda: CallerSide(self._patience_seconds, self._passed_on, self._open),
            sock=self._bound,
            ssl=context,
            ssl_handshake_timeout=self._patience_seconds if context else None,
            backlog=2048,
        )

    def stop_accepting(self) -> None:
        """Let nobody else in; who is in stays."""
        if self._server is not None:
            self._server.close()
        self._bound.close()

    def close(self) -> None:
        """End whatever is left."""
        self.stop_accepting()
        for task in self._tasks:
            task.cancel()
        for side in tuple(self._open):
            side.abort()

    def _passed_on(self, caller: CallerSide, is_grpc: bool) -> None:
        task = asyncio.create_task(self._connect(caller, self.grpc_socket if is_grpc else self.http_socket))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _connect(self, caller: CallerSide, service: Path) -> None:
        name = self._directory / f"{next(self._numbers):x}{MARK}{caller.address}"
        end: socket.socket | None = None
        try:
            end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            end.setblocking(False)
            end.bind(str(name))
            # The name stays with the connection when its file is gone.
            name.unlink()
            async with asyncio.timeout(_ACCEPT_SECONDS):
                await _connect_patiently(end, service)
            await asyncio.get_running_loop().create_unix_connection(lambda: ServiceSide(caller), sock=end)
        except (OSError, TimeoutError) as error:
            _log.warning("a caller could not be passed on", service=service.name, reason=str(error))
            if end is not None:
                end.close()
            caller.abort()


@asynccontextmanager
async def single_port(
    address: str, certificate: CertificateFiles | None = None, patience_seconds: float = PATIENCE_SECONDS
) -> AsyncIterator[tuple[SinglePort, ssl.SSLContext | None]]:
    """A port that is bound, and what it is to be started with; at the end of the block nothing of it is left."""
    context = None if certificate is None else following_context(certificate, ALPN)
    bound = bind(address)
    with temporary_directory() as directory:
        door = SinglePort(directory, bound, patience_seconds)
        # Each caller takes three.
        allow_many_files()
        try:
            yield door, context
        finally:
            door.close()


async def _connect_patiently(end: socket.socket, service: Path) -> None:
    """Connect; when the queue of the service is full, Linux says so at once instead of waiting."""
    while True:
        try:
            end.connect(str(service))
        except BlockingIOError:
            await asyncio.sleep(0.01)
        else:
            return


@asynccontextmanager
async def http_behind(
    app: ASGIApp, door: SinglePort, grace_seconds: float, context: ssl.SSLContext | None
) -> AsyncIterator[None]:
    """Answer HTTP that comes through the port, during the block."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(door.http_socket))
    listener.listen(2048)
    protocol = _SecurePassedHttp if context is not None else _PassedHttp
    async with answering(app, listener, grace_seconds, protocol=protocol):
        yield


class _PassedHttp(Connection):
    """HTTP from a caller that was passed on: its address is in the name of the other end."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self.client = (socket_name_address(transport.get_extra_info("peername") or ""), 0)


class _SecurePassedHttp(_PassedHttp):
    """The same, where the port speaks TLS and this side does not."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self.scheme = "https"
