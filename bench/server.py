"""What an authenticated call costs against an empty one in the same server: the CPU of both ends, in turns."""

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import grpc.aio

from bench.figures import Figure
from fairway.clock import SystemClock
from fairway.rpc.agent_api import AgentStub
from fairway.rpc.agent_api import messages as agent_messages
from fairway.rpc.traces import METHOD, SERVICE
from fairway.rpc.user_api import UserStub
from fairway.rpc.user_api import messages as user_messages
from fairway.server.app import RunningServer, ServerSettings, run_server

CALLS = 1_000
TURNS = 5


async def bench_calls() -> Figure:
    """The last columns are empty, as a server keeps nothing that it could have seen before."""
    with tempfile.TemporaryDirectory(prefix="fairway-bench-") as directory:
        empty, authenticated = await _calls(Path(directory) / "data")
    return Figure(f"CPU of {CALLS:,} authenticated calls, both ends", "empty calls", empty, authenticated, None, 2.0)


async def _calls(data: Path) -> tuple[float, float]:
    ready: asyncio.Future[RunningServer] = asyncio.get_running_loop().create_future()
    stop = asyncio.Event()
    settings = ServerSettings(data=data, listen="127.0.0.1:0", http_listen="127.0.0.1:0")
    server = asyncio.create_task(run_server(settings, SystemClock(), ready.set_result, stop))
    running = await ready
    assert running.first_start is not None
    async with grpc.aio.insecure_channel(f"127.0.0.1:{running.port}") as channel:
        metadata = (("authorization", f"API-KEY {running.first_start.api_key}"),)
        agent = await UserStub(channel).RegisterPiped(user_messages.RegisterPipedRequest(name="a"), metadata=metadata)
        token = (("authorization", f"PIPED-TOKEN default,{agent.id},{agent.key}"),)
        stub = AgentStub(channel)
        export: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(f"/{SERVICE}/{METHOD}")
        request = agent_messages.ListUnhandledCommandsRequest()
        empty, authenticated = await _cpu(
            lambda: export(b"", metadata=token), lambda: stub.ListUnhandledCommands(request, metadata=token)
        )
    stop.set()
    await server
    return empty, authenticated


async def _cpu(*calls: Callable[[], Awaitable[object]]) -> list[float]:
    """The CPU time of each call, in turns as above."""
    best = [float("inf")] * len(calls)
    for _ in range(TURNS):
        for index, call in enumerate(calls):
            start = time.process_time()
            for _ in range(CALLS):
                await call()
            best[index] = min(best[index], time.process_time() - start)
    return best
