"""How long it takes until somebody hears: hints to agents, and one change to a thousand streams.

Both ends of everything are in this process, so that one clock measures from the commit on; what a stream costs is
therefore that of server and client together. The bare side does nothing but carry bytes between the same two ends: over
sockets from a queue for each listener, and on PostgreSQL from one connection to another by NOTIFY. On PostgreSQL the
listeners are at another replica than the one where something is stored.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import psycopg
from grpc import aio

from bench.figures import Reading
from fairway.rpc.agent_api import HintStub, hint_messages, register_hint_service
from fairway.rpc.context import CallContext
from fairway.server.hint_service import HintService
from fairway.server.hints import HintTopic
from fairway.server.open_files import allow_many_files
from fairway.server.store import deployments
from tests.integration.server.http_api.streaming import LiveServer, a_live_server
from tests.integration.server.http_api.test_stream import a_shop_deployment
from tests.integration.server.postgres import a_database, a_postgres_server, find_binaries

HINTS = 200
LISTENERS = 1_000
CHANGES = 12
_STREAMS_OF_A_KEY = 100
#: As long as an event of a deployment is.
_BARE_EVENT = b"event: deployment\ndata: " + b"x" * 900 + b"\n\n"
_PATIENCE = 60

Timed = tuple[float, float]
Hints = aio.UnaryStreamCall[hint_messages.WatchRequest, hint_messages.Hint]


async def bench_live() -> list[Reading]:
    """Hints and streams on both databases; without PostgreSQL, on one."""
    allow_many_files()
    with tempfile.TemporaryDirectory(prefix="fairway-bench-") as folder:
        found = await _measured("SQLite", f"sqlite:///{folder}/fairway.db", Path(folder))
        if find_binaries() is not None:
            with a_postgres_server() as server:
                found += await _measured("PostgreSQL, two replicas", a_database(server), Path(folder))
    return found


async def _measured(database: str, url: str, folder: Path) -> list[Reading]:
    alone = url.startswith("sqlite")
    async with AsyncExitStack() as stack:
        one = await stack.enter_async_context(a_live_server(url, folder))
        other = one if alone else await stack.enter_async_context(a_live_server(url, folder))
        await one.add(a_shop_deployment())
        hints = await _hints(one, other)
        bare_hints = await (_socket_hops() if alone else _notify_hops(url))
        streams = await _streams(one, other)
    bare = await _bare_streams()
    way = "a socket" if alone else "NOTIFY"
    hinted = f"{database}: hint from commit to one of {LISTENERS:,} agents, p50 / p99; bare: {way}"
    waited, cpu = (
        f"{database}: one change to {LISTENERS:,} streams, {what}" for what in ("to the last", "CPU of each")
    )
    return [
        Reading(hinted, _percentiles(hints), bare=_percentiles(bare_hints)),
        Reading(waited, f"{_median(streams, 0) * 1e3:.0f} ms", bare=f"{_median(bare, 0) * 1e3:.0f} ms"),
        Reading(
            cpu,
            f"{_median(streams, 1) / LISTENERS * 1e6:.0f} µs",
            bare=f"{_median(bare, 1) / LISTENERS * 1e6:.0f} µs",
        ),
    ]


async def _change(server: LiveServer, number: int) -> None:
    await server.store.write(
        lambda connection: deployments.update_deployment(
            connection, "d-1", lambda found: msgspec.structs.replace(found, summary=str(number))
        )
    )


async def _hints(one: LiveServer, other: LiveServer) -> list[float]:
    """From the end of a commit until one agent of many has the hint."""
    taken = []
    async with _agents(other) as (chosen, *_):
        for number in range(HINTS):
            await _change(one, number)
            start = time.perf_counter()
            one.hints.publish("agent-0", HintTopic.COMMANDS)
            await _hinted(chosen, hint_messages.Hint.SUBJECT_COMMANDS)
            taken.append(time.perf_counter() - start)
    return taken


@asynccontextmanager
async def _agents(server: LiveServer) -> AsyncIterator[list[Hints]]:
    """Agents that watch the server's hints over gRPC; a channel carries a hundred of them."""

    async def known(context: CallContext) -> str:
        return str(dict(context.invocation_metadata() or ())["agent"])

    door = aio.server()
    register_hint_service(HintService(server.hints, known), door)
    port = door.add_insecure_port("127.0.0.1:0")
    await door.start()
    async with AsyncExitStack() as stack:
        streams: list[Hints] = []
        for number in range(LISTENERS):
            if number % 100 == 0:
                options = [("grpc.use_local_subchannel_pool", 1)]
                channel = await stack.enter_async_context(aio.insecure_channel(f"127.0.0.1:{port}", options))
            metadata = (("agent", f"agent-{number}"),)
            streams.append(HintStub(channel).Watch(hint_messages.WatchRequest(), metadata=metadata))
        for stream in streams:
            await _hinted(stream, hint_messages.Hint.SUBJECT_UNSPECIFIED)
        yield streams
        for stream in streams:
            stream.cancel()
    await door.stop(None)


async def _hinted(stream: Hints, subject: int) -> None:
    async with asyncio.timeout(_PATIENCE):
        while True:
            hint = await stream.read()
            if isinstance(hint, hint_messages.Hint) and hint.subject == subject:
                return


async def _socket_hops() -> list[float]:
    """One byte over a socket, from one task to another."""
    heard: asyncio.Queue[float] = asyncio.Queue()

    async def hear(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        while await reader.read(1):
            heard.put_nowait(time.perf_counter())

    taken = []
    async with await asyncio.start_server(hear, "127.0.0.1", 0) as server:
        host, port = server.sockets[0].getsockname()
        _, writer = await asyncio.open_connection(host, port)
        for _ in range(HINTS):
            start = time.perf_counter()
            writer.write(b"x")
            taken.append(await heard.get() - start)
        writer.close()
    return taken


async def _notify_hops(url: str) -> list[float]:
    taken = []
    async with (
        await psycopg.AsyncConnection.connect(url, autocommit=True) as teller,
        await psycopg.AsyncConnection.connect(url, autocommit=True) as hearer,
    ):
        await hearer.execute("LISTEN bare")
        for _ in range(HINTS):
            start = time.perf_counter()
            await teller.execute("NOTIFY bare")
            async for _heard in hearer.notifies(stop_after=1):
                taken.append(time.perf_counter() - start)
    return taken


class _Round:
    """Counts until everybody has heard."""

    def __init__(self) -> None:
        self._count = 0
        self._all = asyncio.Event()

    def heard(self) -> None:
        """One more has."""
        self._count += 1
        if self._count == LISTENERS:
            self._all.set()

    async def everybody(self) -> None:
        """Wait for the last, then begin again."""
        async with asyncio.timeout(_PATIENCE):
            await self._all.wait()
        self._count = 0
        self._all.clear()

    async def timed(self, tell: Callable[[], Awaitable[None]]) -> Timed:
        """How long it takes from the end of `tell` until the last has heard, and the CPU of both."""
        cpu = time.process_time()
        await tell()
        start = time.perf_counter()
        await self.everybody()
        return time.perf_counter() - start, time.process_time() - cpu


class _Listener(asyncio.Protocol):
    """A client that counts events and keeps nothing else."""

    def __init__(self, request: bytes, heard: Callable[[], None]) -> None:
        self._request = request
        self._heard = heard

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        for _ in range(data.count(b"event: ")):
            self._heard()


async def _streams(one: LiveServer, other: LiveServer) -> list[Timed]:
    """For each change, how long until the last stream had it, and the CPU that took."""
    keys = [await one.a_key(f"key-{number}") for number in range(LISTENERS // _STREAMS_OF_A_KEY)]
    address = urlsplit(str(other.client.base_url))
    heads = [
        f"GET /api/v1/stream?topic=deployments HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\n\r\n".encode()
        for key in keys
    ]
    async with _listening(address.hostname or "", address.port or 0, heads) as round:
        return [await round.timed(partial(_change, one, -number)) for number in range(1, CHANGES)]


async def _bare_streams() -> list[Timed]:
    """The same bytes over as many sockets, from a queue for each."""
    queues: list[asyncio.Queue[bytes]] = []

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        queue: asyncio.Queue[bytes] = asyncio.Queue()
        queues.append(queue)
        writer.write(b"event: ready\n\n")
        while event := await queue.get():
            writer.write(event)
            await writer.drain()
        writer.close()

    async def tell() -> None:
        for queue in queues:
            queue.put_nowait(_BARE_EVENT)

    async with await asyncio.start_server(answer, "127.0.0.1", 0, backlog=LISTENERS) as server:
        host, port = server.sockets[0].getsockname()
        async with _listening(host, port, [b"GET / HTTP/1.1\r\n\r\n"]) as round:
            taken = [await round.timed(tell) for _ in range(1, CHANGES)]
        for queue in queues:
            queue.put_nowait(b"")
    return taken


@asynccontextmanager
async def _listening(host: str, port: int, heads: list[bytes]) -> AsyncIterator[_Round]:
    """Listeners with as many connections, each of which has heard that its stream began."""
    round, connections = _Round(), []
    for number in range(LISTENERS):
        make = partial(_Listener, heads[number % len(heads)], round.heard)
        connections.append(await asyncio.get_running_loop().create_connection(make, host, port))
    await round.everybody()
    yield round
    for transport, _ in connections:
        transport.close()


def _percentiles(taken: list[float]) -> str:
    in_order = sorted(taken)
    p50, p99 = in_order[len(in_order) // 2], in_order[len(in_order) * 99 // 100]
    return f"{p50 * 1000:.2f} / {p99 * 1000:.2f} ms"


def _median(taken: list[Timed], which: int) -> float:
    return statistics.median(each[which] for each in taken)
