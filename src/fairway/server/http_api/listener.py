"""The application on a port, in the event loop that everything else runs in.

uvicorn is told nothing of signals: who started the server decides when it stops. With a certificate the port speaks
TLS, and each handshake looks whether the files were replaced, as on the gRPC port.
"""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import cast
from urllib.parse import urlsplit

import structlog
import uvicorn
from litestar.types import ASGIApp
from uvicorn._types import ASGIApplication

from fairway.errors import UserError
from fairway.server.certificates import BadCertificate, CertificateFiles
from fairway.server.http_api.connection import Connection
from fairway.server.open_files import allow_many_files

#: Connections at once; when there are more, those go first that wait for a request. A stream takes some 25 kB.
MOST_CONNECTIONS = 2_500

_log = structlog.get_logger()


class HttpAddressError(UserError):
    """The HTTP server cannot listen where it was told to."""


class _Server(uvicorn.Server):
    """uvicorn that leaves signals alone and says when it answers."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.answers = asyncio.Event()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.answers.set()


@contextlib.asynccontextmanager
async def listening(
    app: ASGIApp, address: str, grace_seconds: float, certificate: CertificateFiles | None = None
) -> AsyncIterator[int]:
    """Answer at the address, whose port is given to the block; at its end, requests under way are finished."""
    context = None if certificate is None else following_context(certificate)
    bound = bind(address)
    allow_many_files()
    async with answering(app, bound, grace_seconds, context=context):
        yield int(bound.getsockname()[1])


@contextlib.asynccontextmanager
async def answering(
    app: ASGIApp,
    bound: socket.socket,
    grace_seconds: float,
    *,
    context: ssl.SSLContext | None = None,
    protocol: type[asyncio.Protocol] | None = None,
) -> AsyncIterator[None]:
    """Answer whoever comes to a socket, during the block; at its end, requests under way are finished."""
    config = uvicorn.Config(
        cast("ASGIApplication", app),  # Both are ASGI; their type hints differ in small things.
        http=protocol or Connection,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        # Whoever calls may write any address into a header.
        proxy_headers=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=int(grace_seconds),
        ssl_context_factory=None if context is None else lambda _config, _default: context,
    )
    server = _Server(config)
    serving = asyncio.create_task(server.serve(sockets=[bound]))
    answers = asyncio.create_task(server.answers.wait())
    await asyncio.wait({serving, answers}, return_when=asyncio.FIRST_COMPLETED)
    if not server.answers.is_set():
        answers.cancel()
        await serving
    try:
        yield
    finally:
        server.should_exit = True
        await serving


def following_context(files: CertificateFiles, protocols: Sequence[str] = ()) -> ssl.SSLContext:
    """A TLS context whose handshakes use the newest pair that fits and agree on one of the protocols, if any."""
    try:
        stamp, first = files.stamp(), _load(files, protocols)
    except (OSError, ssl.SSLError) as error:
        raise BadCertificate(
            f"{files.certificate} and {files.key} are no certificate with its key: {error.strerror or error}"
        ) from error
    current = first

    def renew(connection: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> None:
        nonlocal stamp, current
        try:
            if (found := files.stamp()) != stamp:
                stamp, current = found, _load(files, protocols)
        except (OSError, ssl.SSLError) as error:
            _log.warning("the certificate files changed, but cannot be used yet", reason=str(error))
        connection.context = current

    first.sni_callback = renew
    return first


def _load(files: CertificateFiles, protocols: Sequence[str]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files.certificate, files.key)
    if protocols:
        context.set_alpn_protocols(list(protocols))
    return context


def bind(address: str) -> socket.socket:
    """A socket that listens at the address; HttpAddressError when it cannot."""
    try:
        parts = urlsplit(f"//{address}")
        host, port = parts.hostname or "", parts.port
        if port is None:
            raise ValueError("it has no port")
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        bound = socket.create_server((host, port), family=family, backlog=2048)
        # Every connection inherits it; without it an answer's body waits for the caller to confirm its head, 40 ms.
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return bound
    except (OSError, ValueError) as error:
        raise HttpAddressError(
            f"cannot listen on {address} for HTTP: it is in use, or not an address of this machine; "
            "expected host:port, such as 127.0.0.1:9082"
        ) from error
