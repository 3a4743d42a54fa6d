"""What a server costs while nothing happens: alone, with a thousand of our agents, with a thousand of PipeCD's.

It is looked at once it has done what it does at its start, and for so long that other work on the machine evens out.
Ours hold a stream of hints open; PipeCD's ask at their fixed intervals. Each has a connection of its own. The clients
are in this process, whose cost is not counted.
"""

import asyncio
import contextlib
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from random import Random

import grpc.aio

from bench.figures import Reading
from bench.filling import fill
from bench.population import PROJECT, Population
from bench.process import ServerProcess, a_server
from fairway.rpc.agent_api import AgentStub, HintStub, hint_messages
from fairway.rpc.agent_api import messages as m
from fairway.server.keys import new_agent_key

AGENTS = 1_000
#: What PipeCD's agents ask for and how often, in seconds.
_POLLS: tuple[tuple[float, Callable[[AgentStub, grpc.aio.Metadata], Awaitable[object]]], ...] = (
    (5, lambda stub, token: stub.ListUnhandledCommands(m.ListUnhandledCommandsRequest(), metadata=token)),
    (10, lambda stub, token: stub.ListNotCompletedDeployments(m.ListNotCompletedDeploymentsRequest(), metadata=token)),
    (60, lambda stub, token: stub.ListApplications(m.ListApplicationsRequest(), metadata=token)),
    (60, lambda stub, token: stub.ReportStat(m.ReportStatRequest(piped_stats=b"up 1"), metadata=token)),
)


async def bench_idle(seconds: float) -> list[Reading]:
    """Each state for so long, on a server that has nothing but its agents."""
    key = new_agent_key()
    few = {"open": 0, "commands": 1, "events": 1, "chains": 1, "audit": 1}
    population = Population(agents=AGENTS, applications=AGENTS, deployments=AGENTS, agent_key=key.stored, **few)
    with tempfile.TemporaryDirectory(prefix="fairway-bench-") as directory:
        data = Path(directory)
        async with a_server(data):
            pass  # makes the tables
        fill(f"sqlite:///{data}/fairway.db", population)
        async with a_server(data) as server:
            await server.calm()
            readings = [Reading("idle: memory", f"{server.megabytes():.0f} MB", "120 MB")]
            readings.append(Reading("idle: CPU", await server.cpu_look(seconds), "0.5 %"))
            readings += [reading async for reading in idle_agents(server, key.shown, seconds / 2)]
    return readings


async def idle_agents(server: ServerProcess, key: str, seconds: float, agents: int = AGENTS) -> AsyncIterator[Reading]:
    """What so many of ours take, then as many of PipeCD's."""
    async with _watching(server.port, key, agents):
        await server.calm()
        share = await server.cpu_look(seconds)
        yield Reading(f"{agents:,} agents with hints: memory", f"{server.megabytes():.0f} MB", "300 MB")
        yield Reading(f"{agents:,} agents with hints: CPU", share)
    async with _polling(server.port, key, agents) as failed:
        await asyncio.sleep(5)  # until every agent has asked for the first time
        share = await server.cpu_look(seconds)
        yield Reading(f"{agents:,} PipeCD agents: memory", f"{server.megabytes():.0f} MB", "300 MB")
        yield Reading(f"{agents:,} PipeCD agents: CPU", share)
        # A server that does not get round to a call for 30 s refuses it; the agents ask again.
        yield Reading(f"{agents:,} PipeCD agents: calls that failed", f"{len(failed)} {Counter(failed) or ''}", "0")


def token(number: int, key: str) -> grpc.aio.Metadata:
    """What the agent with this number shows."""
    return grpc.aio.Metadata(("authorization", f"PIPED-TOKEN {PROJECT},{Population().agent_id(number)},{key}"))


def a_channel(port: int) -> grpc.aio.Channel:
    """A connection that is shared with no other channel."""
    return grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=[("grpc.use_local_subchannel_pool", 1)])


@contextlib.asynccontextmanager
async def _watching(port: int, key: str, agents: int) -> AsyncIterator[None]:
    async def connect(number: int) -> grpc.aio.Channel:
        channel = a_channel(port)
        hints = HintStub(channel).Watch(hint_messages.WatchRequest(), metadata=token(number, key))
        await hints.read()  # the first one says that anything may have changed
        streams.append(hints)
        return channel

    streams: list[object] = []
    channels = await asyncio.gather(*(connect(number) for number in range(agents)))
    try:
        yield
    finally:
        await asyncio.gather(*(channel.close() for channel in channels))


@contextlib.asynccontextmanager
async def _polling(port: int, key: str, agents: int) -> AsyncIterator[list[str]]:
    """Agents that ask during the block; the statuses of calls that failed."""
    random, failed = Random(1), list[str]()

    async def ask(stub: AgentStub, shown: grpc.aio.Metadata, poll: int, pause: float) -> None:
        interval, question = _POLLS[poll]
        await asyncio.sleep(pause * interval)
        while True:
            try:
                await question(stub, shown)
            except grpc.aio.AioRpcError as error:
                failed.append(error.code().name)
            await asyncio.sleep(interval)

    channels = [a_channel(port) for _ in range(agents)]
    loops = [
        asyncio.create_task(ask(AgentStub(channel), token(number, key), poll, random.random()))
        for number, channel in enumerate(channels)
        for poll in range(len(_POLLS))
    ]
    try:
        yield failed
    finally:
        for loop in loops:
            loop.cancel()
        await asyncio.gather(*loops, return_exceptions=True)
        await asyncio.gather(*(channel.close() for channel in channels))
