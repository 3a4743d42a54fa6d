"""One HTTP connection, and who goes when there are too many.

uvicorn counts every connection and refuses requests once there are too many, so that a client with a thousand silent
connections would keep everybody else out. Here the one that has kept its caller waiting longest without a whole request
goes instead: the answers under way, streams among them, are whole requests and stay. Each request finds the connection
that it came by, for those who have to know whether its answer was taken.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from fairway.server.http_api.answers import LINE

#: How many bytes are read from a connection in one go.
_AT_ONCE = 32 * 1024

_NUMBERS = itertools.count()


class Connection(H11Protocol):
    """uvicorn's connection, which makes room for itself."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        # asyncio would take in 256 KiB before it hears that a body is not read yet.
        transport.max_size = _AT_ONCE  # type: ignore[attr-defined]  # asyncio's own transports have it
        self.number = next(_NUMBERS)
        self.app = self._on_line(self.app)
        #: Of those who wait for something only as long as the caller does.
        self._limits: set[asyncio.Timeout] = set()
        if self.limit_concurrency is not None and len(self.connections) >= self.limit_concurrency:
            self._make_room()

    @property
    def waits(self) -> bool:
        """Whether it is the caller's turn: there is no request, or not all of it."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        for limit in self._limits:
            limit.reschedule(self.loop.time())

    @asynccontextmanager
    async def there(self) -> AsyncIterator[None]:
        """Raise TimeoutError in the block when the connection is gone."""
        async with asyncio.timeout(None) as limit:
            self._limits.add(limit)
            try:
                yield
            finally:
                self._limits.discard(limit)

    async def drain(self) -> None:
        """Wait until little is left to send, or the connection is gone."""
        await self.flow.drain()

    def abort(self) -> None:
        """Hang up."""
        self.transport.abort()

    def _on_line(self, app: Any) -> Any:
        async def on_line(scope: Any, receive: Any, send: Any) -> None:
            scope[LINE] = self
            await app(scope, receive, send)

        return on_line

    def _make_room(self) -> None:
        waiting = [each for each in self.connections if isinstance(each, Connection) and each.waits]
        oldest = min(waiting, key=lambda each: each.number)
        self.connections.discard(oldest)
        oldest.transport.abort()
