"""One HTTP connection, and who goes when there are too many.

uvicorn counts every connection and refuses requests once there are too many, so that a client with a thousand silent
connections would keep everybody else out. Here the one that has kept its caller waiting longest without a whole request
goes instead: the answers under way, streams among them, are whole requests and stay.
"""

import asyncio
import itertools

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

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
        if self.limit_concurrency is not None and len(self.connections) >= self.limit_concurrency:
            self._make_room()

    @property
    def waits(self) -> bool:
        """Whether it is the caller's turn: there is no request, or not all of it."""
        return self.conn.their_state in (h11.IDLE, h11.SEND_BODY)

    def _make_room(self) -> None:
        waiting = [each for each in self.connections if isinstance(each, Connection) and each.waits]
        oldest = min(waiting, key=lambda each: each.number)
        self.connections.discard(oldest)
        oldest.transport.abort()
