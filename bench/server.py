"""What a server costs: a durable report against bare SQLite, and an authenticated call against an empty one.

The bare side of the first is what the database alone needs for the same rows of the same table with all its indexes:
each document read by its id, then written with its new time, as many to a commit as there are callers. It neither
decodes, decides nor encodes, and hands nothing from one thread to another.
"""

import asyncio
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import grpc.aio
import msgspec
import sqlalchemy as sa

from bench.figures import Figure
from fairway.clock import SystemClock
from fairway.model.application import GitPath, Repository
from fairway.model.deployment import Deployment
from fairway.model.stage import Stage, StageStatus
from fairway.model.trigger import Commit, Trigger
from fairway.rpc.agent_api import AgentStub
from fairway.rpc.agent_api import messages as agent_messages
from fairway.rpc.traces import METHOD, SERVICE
from fairway.rpc.user_api import UserStub
from fairway.rpc.user_api import messages as user_messages
from fairway.server.app import RunningServer, ServerSettings, run_server
from fairway.server.store.deployments import insert_deployment, update_deployment
from fairway.server.store.documents import to_microseconds
from fairway.server.store.store import Store

REPORTS = 2_048
CALLERS = 32
CALLS = 1_000
TURNS = 5
_NOW = datetime(2026, 1, 1, tzinfo=UTC)


async def bench_server() -> list[Figure]:
    """Both figures; the last columns are empty, as a server keeps nothing that it could have seen before."""
    with tempfile.TemporaryDirectory(prefix="fairway-bench-") as directory:
        bare, ours = await _durable_reports(Path(directory))
        empty, authenticated = await _calls(Path(directory) / "data")
    return [
        Figure(f"{REPORTS:,} durable stage reports, {CALLERS} callers", "sqlite3, group commit", bare, ours, None),
        Figure(f"CPU of {CALLS:,} authenticated calls, both ends", "empty calls", empty, authenticated, None),
    ]


def a_deployment(id: str) -> Deployment:
    commit = Commit(hash="a" * 40, message="m", author="a", branch="main", created_at=_NOW)
    stages = tuple(Stage(id=f"s{index}", name="WAIT", created_at=_NOW, updated_at=_NOW) for index in range(6))
    return Deployment(
        id=id,
        application_id="app",
        application_name="app",
        agent_id="agent",
        project_id="default",
        git_path=GitPath(repository=Repository(id="r"), path="app"),
        trigger=Trigger(commit=commit, at=_NOW),
        created_at=_NOW,
        updated_at=_NOW,
        stages=stages,
    )


async def _durable_reports(directory: Path) -> tuple[float, float]:
    """Both sides in turns, so that a busy machine slows both, and the best of each."""
    bare, ours = [], []
    for turn in range(TURNS):
        path = directory / f"{turn}.db"
        store = await Store.open(f"sqlite:///{path}")
        for index in range(CALLERS):
            await store.write(partial(insert_deployment, deployment=a_deployment(str(index))))
        ours.append(await _reports(store))
        await store.close()
        bare.append(await asyncio.to_thread(_bare_updates, path))
    return min(bare), min(ours)


def _bare_updates(path: Path) -> float:
    document = msgspec.json.encode(a_deployment("x")).decode()
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA synchronous=FULL")
    start = time.perf_counter()
    for number in range(REPORTS // CALLERS):
        updated_at = to_microseconds(_NOW) + number
        connection.execute("BEGIN IMMEDIATE")
        for index in range(CALLERS):
            id = str(index)
            connection.execute("SELECT document FROM deployments WHERE id = ?", (id,)).fetchone()
            changed = (updated_at, document, id)
            connection.execute("UPDATE deployments SET updated_at = ?, document = ? WHERE id = ?", changed)
        connection.execute("COMMIT")
    taken = time.perf_counter() - start
    connection.close()
    return taken


async def _reports(store: Store) -> float:
    def report(id: str, number: int) -> Callable[[sa.Connection], Deployment]:
        return lambda connection: update_deployment(connection, id, lambda found: _reported(found, number))

    async def caller(id: str) -> None:
        for number in range(REPORTS // CALLERS):
            await store.write(report(id, number))

    start = time.perf_counter()
    await asyncio.gather(*(caller(str(index)) for index in range(CALLERS)))
    return time.perf_counter() - start


def _reported(found: Deployment, number: int) -> Deployment:
    at = _NOW + timedelta(microseconds=number)
    stage = msgspec.structs.replace(
        found.stages[0], status=StageStatus.RUNNING, status_reason=str(number), updated_at=at
    )
    return msgspec.structs.replace(found, stages=(stage, *found.stages[1:]), updated_at=at)


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
