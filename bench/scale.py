"""A server after years: 10,000 applications, 1,000 agents and 1,000,000 deployments, on each database.

Every question of `questions` is asked of the store, first as it stands and then again, when what it needs is in the
database's memory. Then a real server is started on the same data: pages are read over HTTP, a thousand agents connect,
and the kernel says what it holds in memory. Takes some minutes, most of them to fill the databases. Each figure is told
as soon as it is there, so that a run that is broken off was not for nothing.
"""

import asyncio
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec
import sqlalchemy as sa

from bench.figures import Reading
from bench.filling import fill
from bench.idle import idle_agents
from bench.population import Population
from bench.process import ServerProcess, a_server
from bench.progress import Progress
from bench.questions import BY_INDEX, IN_ORDER, MIDDLE, Work
from fairway.server.keys import new_agent_key
from fairway.server.store.store import Store
from tests.integration.server.postgres import a_database, a_postgres_server, an_engine, find_binaries

#: The slowest ones are shown.
SHOWN = 8
_PAGES = (
    "deployments?limit=100",
    f"deployments?limit=100&cursor={MIDDLE}",
    "deployments?limit=100&status=failed&status=cancelled",
    "deployments?limit=100&label=team:t7",
    "deployments?limit=100&label=region:r1&label=team:t7",
    "deployments?limit=100&kind=ecs",
    "applications?limit=100",
    "applications?limit=100&label=team:t7",
    "agents?limit=100",
    "commands?limit=100",
    "events?limit=100",
    "chains?limit=100",
    "audit?limit=100",
)
_ROUNDS = 20


async def bench_scale(
    population: Population, seconds: float, progress: Progress, only: str = ""
) -> AsyncIterator[Reading]:
    """Both databases, or one by its name; PostgreSQL where it is installed. Agents are looked at for so long."""
    key = new_agent_key()
    population = msgspec.structs.replace(population, agent_key=key.stored)
    for name, database in _databases():
        if only.lower() not in name.lower():
            continue
        with database as (data, url):
            async for reading in _on(name, data, url, Scene(population, key.shown, seconds, progress)):
                yield reading._replace(name=f"{name}: {reading.name}")


class Scene(NamedTuple):
    """What is put into a database, and how it is looked at."""

    population: Population
    agent_key: str
    seconds: float
    progress: Progress


async def _on(name: str, data: Path, url: str, scene: Scene) -> AsyncIterator[Reading]:
    began, population = time.monotonic(), scene.population
    scene.progress.begin(f"{name}, filling")
    await (await Store.open(url)).close()
    await asyncio.to_thread(fill, url, population, scene.progress)
    yield Reading(f"filled with {population.deployments:,} deployments", _since(began))
    scene.progress.begin(f"{name}, asking")
    for reading in await asyncio.to_thread(_asked, url):
        yield reading
    scene.progress.begin(f"{name}, pages over HTTP")
    async with a_server(data, "" if url.startswith("sqlite") else url) as server:
        yield Reading("until the server has nothing left to tidy up", f"{await server.calm():.0f} s")
        yield await _pages(server)
        scene.progress.begin(f"{name}, {population.agents:,} agents, twice {scene.seconds:.0f} s")
        async for reading in idle_agents(server, scene.agent_key, scene.seconds, population.agents):
            yield reading
        yield Reading("most memory in all of it", f"{server.most_megabytes():.0f} MB", "300 MB")


def _databases() -> Iterator[tuple[str, AbstractContextManager[tuple[Path, str]]]]:
    yield "SQLite", _sqlite()
    if find_binaries() is not None:
        yield "PostgreSQL", _postgres()


@contextmanager
def _sqlite() -> Iterator[tuple[Path, str]]:
    with tempfile.TemporaryDirectory(prefix="fairway-bench-") as directory:
        yield Path(directory), f"sqlite:///{directory}/fairway.db"


@contextmanager
def _postgres() -> Iterator[tuple[Path, str]]:
    with ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="fairway-bench-"))
        server = stack.enter_context(a_postgres_server())
        yield Path(directory), a_database(server)


def _asked(url: str) -> list[Reading]:
    """The slowest questions, and how many there were."""
    engine = an_engine(url)
    with engine.connect() as connection:
        taken = {name: _times(connection, work) for name, work in {**IN_ORDER, **BY_INDEX}.items() if name != "project"}
    engine.dispose()
    slowest = sorted(taken, key=lambda name: -taken[name][1])
    lines = [Reading(name, f"{taken[name][1] * 1000:.1f} ms, first {taken[name][0] * 1000:.1f} ms") for name in slowest]
    others = Reading(f"the other {len(lines) - SHOWN} lists, filters and polls", f"at most {lines[SHOWN].value}")
    return [*lines[:SHOWN], others]


def _times(connection: sa.Connection, work: Work) -> tuple[float, float]:
    """As it stands, and the best of what follows."""
    taken = []
    for _ in range(4):
        start = time.perf_counter()
        work(connection)
        taken.append(time.perf_counter() - start)
    return taken[0], min(taken)


async def _pages(server: ServerProcess) -> Reading:
    """Pages of every list over HTTP, one after another."""

    def read(path: str) -> None:
        request = urllib.request.Request(
            f"http://127.0.0.1:{server.http_port}/api/v1/{path}", headers={"Authorization": f"Bearer {server.api_key}"}
        )
        with urllib.request.urlopen(request) as answer:
            answer.read()

    began, count = time.monotonic(), _ROUNDS * len(_PAGES)
    for path in _PAGES * _ROUNDS:
        await asyncio.to_thread(read, path)
    each = (time.monotonic() - began) / count * 1000
    return Reading(f"{count} pages of 100 over HTTP", f"{each:.1f} ms each, {server.megabytes():.0f} MB", "300 MB")


def _since(began: float) -> str:
    return f"{time.monotonic() - began:.0f} s"
