"""Runs every bench and prints one table: `python -m bench`, which takes some minutes.

`python -m bench PART` runs one part: code, durable, calls, idle, live, agent, kubernetes. `python -m bench scale` is
the one with a million deployments, and `python -m bench scale 20000` the same with so many, and proportionally less of
all others: of the time too, so its shares of a core are rough. A third word, `sqlite` or `postgresql`, leaves out the
other one.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.agent import bench_agent
from bench.configuration import bench_reading
from bench.durable import bench_durable
from bench.figures import Figure, a_table, add_figures, add_readings
from bench.git import bench_git
from bench.idle import bench_idle
from bench.kubernetes import a_bench_cluster, bench_picture, bench_sync
from bench.kubernetes_idle import bench_idle_clusters
from bench.live import bench_live
from bench.population import Population, scaled
from bench.progress import Progress
from bench.repository import APPLICATIONS, a_repository
from bench.scale import bench_scale
from bench.server import bench_calls

#: How long an idle server is looked at; beside a million deployments; and beside fewer of them.
_SECONDS, _SCALE_SECONDS, _FEWEST_SECONDS = 48.0, 60.0, 4.0


def main() -> None:
    """The first argument says which part; none, all but the million."""
    progress, arguments = Console(stderr=True), sys.argv[1:]
    parts = {"scale": _scale} if arguments[:1] == ["scale"] else _PARTS
    if unknown := set(arguments[:1]) - parts.keys():
        sys.exit(f"there is no bench {', '.join(unknown)}; expected one of {', '.join([*_PARTS, 'scale'])}")
    table = a_table()
    try:
        for name, part in parts.items():
            if not arguments or arguments[0] == name:
                began = time.monotonic()
                # The scale says itself how far it is.
                with progress.status(f"{name} …") if name != "scale" else nullcontext():
                    part(table)
                progress.print(f"{name}: {time.monotonic() - began:.0f} s")
    finally:
        # Also when one of them was broken off: what the others found is not lost.
        Console(width=150).print(table)


def _code(table: Table) -> None:
    with tempfile.TemporaryDirectory(prefix="fairway-bench-") as directory:
        repository = a_repository(Path(directory))
        figures = [bench_reading(), *asyncio.run(bench_git(repository, Path(directory)))]
    add_figures(table, [_of_many(figure) for figure in figures])


def _of_many(figure: Figure) -> Figure:
    return figure._replace(name=f"{APPLICATIONS:,} applications: {figure.name}")


def _durable(table: Table) -> None:
    add_figures(table, asyncio.run(bench_durable()))


def _calls(table: Table) -> None:
    add_figures(table, [asyncio.run(bench_calls())])


def _idle(table: Table) -> None:
    add_readings(table, asyncio.run(bench_idle(_SECONDS)))


def _live(table: Table) -> None:
    add_readings(table, asyncio.run(bench_live()))


def _agent(table: Table) -> None:
    add_readings(table, bench_agent())


def _kubernetes(table: Table) -> None:
    with a_bench_cluster() as cluster:
        if cluster is not None:
            add_figures(table, asyncio.run(bench_sync(cluster)))
            add_readings(table, [*asyncio.run(bench_picture(cluster)), *bench_idle_clusters(cluster)])


def _scale(table: Table) -> None:
    population = scaled(int(sys.argv[2]) if len(sys.argv) > 2 else Population().deployments)
    share = population.deployments / Population().deployments
    seconds = min(max(_SCALE_SECONDS * share, _FEWEST_SECONDS), _SCALE_SECONDS)
    console = Console(stderr=True)

    async def run(progress: Progress) -> None:
        async for reading in bench_scale(population, seconds, progress, *sys.argv[3:4]):
            add_readings(table, [reading], last=False)
            progress.found(f"{reading.name}: {reading.value}{f' (goal: {reading.goal})' * bool(reading.goal)}")

    with console.status("scale …") as status:
        asyncio.run(run(Progress(console, status)))


_PARTS: dict[str, Callable[[Table], None]] = {
    "code": _code,
    "durable": _durable,
    "calls": _calls,
    "idle": _idle,
    "live": _live,
    "agent": _agent,
    "kubernetes": _kubernetes,
}


if __name__ == "__main__":
    main()
