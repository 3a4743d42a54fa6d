"""What it costs to keep a report: a stage's status and some lines of its log, safe from a power cut.

The bare sides do the same to the disk and nothing else. For a status: each document read by its id, then written with
its new time, into the same table with all its indexes; on SQLite as many to a commit as there are callers, on
PostgreSQL a transaction each on as many connections as the store has. For a log: a file written, synced and named by as
many threads. They neither decode, decide nor encode, and hand nothing from one thread to another.
"""

import asyncio
import os
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import msgspec
import psycopg
import sqlalchemy as sa

from bench.figures import Figure
from fairway.model.application import GitPath, Repository
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.log_block import LogBlock
from fairway.model.stage import Stage, StageStatus
from fairway.model.trigger import Commit, Trigger
from fairway.server.agent_service.reports import StageReport, stage_changed
from fairway.server.logs import LogStore, StageLogKey
from fairway.server.store.deployments import insert_deployment, update_deployment
from fairway.server.store.documents import to_microseconds
from fairway.server.store.store import Store
from tests.integration.server.postgres import a_database, a_postgres_server, find_binaries

REPORTS = 1_024
CALLERS = 32
GOAL = 3.0
#: An odd number: one of them is the middle.
TURNS = 7
#: As many connections as the store has to PostgreSQL.
CONNECTIONS = 8
_NOW = datetime(2026, 1, 1, tzinfo=UTC)
_LINES = 20


async def bench_durable() -> list[Figure]:
    """A row for each database, for logs, and for both together."""
    with tempfile.TemporaryDirectory(prefix="fairway-bench-") as directory:
        sqlite = await _sides(_OnSQLite(Path(directory)))
        logs = await _sides(_OnDisk(Path(directory)))
    named = f"{REPORTS:,} durable stage reports, {CALLERS} callers"
    figures = [
        Figure(f"{named}, SQLite", "sqlite3, group commit", *sqlite, None, GOAL),
        Figure(f"{REPORTS:,} durable log appends, {CALLERS} callers", "files written and synced", *logs, None, GOAL),
        Figure("both together", "both together", sqlite[0] + logs[0], sqlite[1] + logs[1], None, GOAL),
    ]
    if find_binaries() is not None:
        with a_postgres_server(durable=True) as server:
            postgres = await _sides(_OnPostgres(server))
        figures.append(Figure(f"{named}, PostgreSQL", f"psycopg, {CONNECTIONS} connections", *postgres, None, GOAL))
    return figures


class _Sides:
    """The two ways to do one thing, a turn each."""

    async def ours(self, turn: int) -> float:
        raise NotImplementedError  # each thing that is measured says how

    def bare(self, turn: int) -> float:
        raise NotImplementedError  # as above


async def _sides(sides: _Sides) -> tuple[float, float]:
    """The turn in the middle, by how often the bare side goes into ours.

    A sync of the disk takes now one millisecond and now ten, for both sides of a turn alike; the best of each side
    would be of different moments.
    """
    turns: list[tuple[float, float]] = []
    for turn in range(TURNS):
        ours = await sides.ours(turn)
        turns.append((await asyncio.to_thread(sides.bare, turn), ours))
    return sorted(turns, key=lambda both: both[1] / both[0])[TURNS // 2]


class _OnSQLite(_Sides):
    def __init__(self, directory: Path) -> None:
        self._directory = directory

    async def ours(self, turn: int) -> float:
        return await _reports(f"sqlite:///{self._directory / str(turn)}.db")

    def bare(self, turn: int) -> float:
        connection = sqlite3.connect(self._directory / f"{turn}.db", isolation_level=None)
        connection.execute("PRAGMA synchronous=FULL")
        document = msgspec.json.encode(a_deployment("x")).decode()
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


class _OnPostgres(_Sides):
    def __init__(self, server: str) -> None:
        self._server = server
        #: Of each turn, for both sides.
        self._databases: dict[int, str] = {}

    async def ours(self, turn: int) -> float:
        self._databases[turn] = a_database(self._server)
        return await _reports(self._databases[turn])

    def bare(self, turn: int) -> float:
        document = msgspec.json.encode(a_deployment("x")).decode()

        def report(number: int) -> None:
            with psycopg.connect(self._databases[turn], autocommit=False) as connection:
                for index in range(REPORTS // CONNECTIONS):
                    id = str(number * (CALLERS // CONNECTIONS) + index % (CALLERS // CONNECTIONS))
                    connection.execute("SELECT document FROM deployments WHERE id = %s FOR UPDATE", (id,)).fetchone()
                    changed = (to_microseconds(_NOW) + index, document, id)
                    connection.execute("UPDATE deployments SET updated_at = %s, document = %s WHERE id = %s", changed)
                    connection.commit()

        return _in_threads(CONNECTIONS, report)


class _OnDisk(_Sides):
    def __init__(self, directory: Path) -> None:
        self._directory = directory

    async def ours(self, turn: int) -> float:
        logs = LogStore.open(self._directory / f"logs{turn}")

        async def caller(number: int) -> None:
            for index in range(REPORTS // CALLERS):
                await logs.append(StageLogKey(f"d{number}", "s", 0), some_blocks(index))

        taken = await _gathered(caller)
        await logs.close()
        return taken

    def bare(self, turn: int) -> float:
        content = msgspec.json.encode(some_blocks(0))

        def append(number: int) -> None:
            folder = self._directory / f"bare{turn}" / f"d{number}" / "s" / "0"
            folder.mkdir(parents=True)
            for index in range(REPORTS // CALLERS):
                with (folder / str(index)).open("xb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                with _opened(folder) as descriptor:
                    os.fsync(descriptor)

        return _in_threads(CALLERS, append)


def a_deployment(id: str) -> Deployment:
    """One that runs, with six stages."""
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
        status=DeploymentStatus.RUNNING,
        stages=stages,
    )


def some_blocks(turn: int) -> list[LogBlock]:
    """What a stage says in five seconds."""
    return [
        LogBlock(index=turn * _LINES + line, log="a line of a log\n" * 3, created_at=_NOW) for line in range(_LINES)
    ]


async def _reports(url: str) -> float:
    store = await Store.open(url)
    for index in range(CALLERS):
        await store.write(partial(insert_deployment, deployment=a_deployment(str(index))))

    def report(id: str, number: int) -> Callable[[sa.Connection], Deployment]:
        at = _NOW + timedelta(microseconds=number)
        # The same stage runs again and again, each time retried once more, so that every report changes something.
        said = StageReport(stage_id="s0", status=StageStatus.RUNNING, retried_count=number + 1)
        return lambda connection: update_deployment(connection, id, lambda found: stage_changed(found, said, at))

    async def caller(index: int) -> None:
        for number in range(REPORTS // CALLERS):
            await store.write(report(str(index), number))

    taken = await _gathered(caller)
    await store.close()
    return taken


async def _gathered(caller: Callable[[int], Awaitable[None]]) -> float:
    start = time.perf_counter()
    await asyncio.gather(*(caller(index) for index in range(CALLERS)))
    return time.perf_counter() - start


def _in_threads(count: int, work: Callable[[int], None]) -> float:
    with ThreadPoolExecutor(count) as threads:
        start = time.perf_counter()
        for done in [threads.submit(work, number) for number in range(count)]:
            done.result()
        return time.perf_counter() - start


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
