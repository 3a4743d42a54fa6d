"""Who gets a connection: a TCP proxy that shares connections out by weight.

Shares are kept exactly, not by chance: of any hundred connections in a row a canary of 10 gets ten. A backend that
does not take a connection is passed over. One that leaves gets no new connections, and those it has are given time:
they are closed when they have been answered and nothing follows, or when the time is up.
"""

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence

from fairway.plugins.process.decide import Route

_CHUNK_BYTES = 64 * 1024
_CONNECT_SECONDS = 2.0
#: How long a connection may wait for somebody to take it.
_PATIENCE_SECONDS = 3.0
_LOOK_SECONDS = 0.05
#: A connection that was answered and then quiet for so long waits for nothing.
_QUIET_SECONDS = 0.5


class Splitter:
    """A listening socket, and where its connections go."""

    def __init__(self) -> None:
        self._routes: Sequence[Route] = ()
        self._ports: Mapping[str, int] = {}
        self._credit: dict[str, float] = {}
        self._turn = 0
        self._open: dict[str, set[_Connection]] = {}
        self._server: asyncio.Server | None = None
        self._where: tuple[str, int] | None = None

    async def listen(self, host: str, port: int) -> None:
        """Listen there and nowhere else; OSError when the place is taken."""
        if self._where == (host, port):
            return
        server = await asyncio.start_server(self._serve, host, port, reuse_address=True, backlog=512)
        await self.close()
        self._server, self._where = server, (host, port)

    @property
    def port(self) -> int:
        """Where it listens; 0 when it does not."""
        return self._where[1] if self._where else 0

    async def close(self) -> None:
        """Take no more connections; those that are open go on."""
        if self._server is not None:
            self._server.close()
        self._server = self._where = None

    def route(self, routes: Sequence[Route], ports: Mapping[str, int]) -> None:
        """Share out the connections from now on in this way; `ports` says where each instance listens."""
        self._routes = [route for route in routes if route.share > 0 and route.instances]
        self._ports = ports
        self._credit = {route.variant: self._credit.get(route.variant, 0.0) for route in self._routes}

    async def drained(self, instance: str, seconds: float) -> None:
        """Wait until an instance without a route has no connections either, but no longer than that."""
        until = time.monotonic() + seconds
        while self._open.get(instance) and time.monotonic() < until:
            for connection in tuple(self._open[instance]):
                connection.close_if_quiet()
            await asyncio.sleep(_LOOK_SECONDS)

    def candidates(self) -> Iterator[str]:
        """Whom to offer the next connection to: the one whose turn it is, then everybody else."""
        order = sorted(self._routes, key=lambda route: -self._advance(route))
        if order:
            self._credit[order[0].variant] -= sum(route.share for route in order)
        self._turn += 1
        for route in order:
            first = self._turn % len(route.instances)
            yield from route.instances[first:] + route.instances[:first]

    def _advance(self, route: Route) -> float:
        self._credit[route.variant] += route.share
        return self._credit[route.variant]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = _Connection(reader, writer)
        until = time.monotonic() + _PATIENCE_SECONDS
        try:
            while time.monotonic() < until:
                for instance in list(self.candidates()):
                    if await self._carried(connection, instance):
                        return
                await asyncio.sleep(_LOOK_SECONDS)
        finally:
            writer.close()

    async def _carried(self, connection: "_Connection", instance: str) -> bool:
        """Whether the instance took the connection, which has ended then."""
        if all(instance not in route.instances for route in self._routes):
            return False  # It has left since it was chosen.
        # It counts before it is made, so that an instance that leaves waits for it too.
        connections = self._open.setdefault(instance, set())
        connections.add(connection)
        try:
            return await connection.carry(self._ports[instance])
        finally:
            connections.discard(connection)
            if not connections:
                self._open.pop(instance, None)


class _Connection:
    """One client, one backend, and the bytes between them."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self._backend: asyncio.StreamWriter | None = None
        self._answered = False
        self._last = time.monotonic()

    async def carry(self, port: int) -> bool:
        """Carry bytes until both have said all; False when nobody on that port takes the connection."""
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                answers, self._backend = await asyncio.open_connection("127.0.0.1", port)
        except (OSError, TimeoutError):
            return False
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._copy(self._reader, self._backend, answer=False))
                both.create_task(self._copy(answers, self._writer, answer=True))
        except* (ConnectionError, TimeoutError):
            pass  # One of them broke off; the other is told by the end of its connection.
        finally:
            self._backend.close()
        return True

    def close_if_quiet(self) -> None:
        """End it, if it was answered and waits for nothing."""
        if self._backend is not None and self._answered and time.monotonic() - self._last > _QUIET_SECONDS:
            self._writer.close()
            self._backend.close()

    async def _copy(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, answer: bool) -> None:
        while data := await source.read(_CHUNK_BYTES):
            self._answered, self._last = answer, time.monotonic()
            sink.write(data)
            await sink.drain()
        if answer:
            # A backend that has ended its answer takes no more questions.
            sink.close()
            self._reader.feed_eof()
        elif sink.can_write_eof():
            sink.write_eof()
