"""Runs every bench and prints its tables: `python -m bench`, or `python -m bench scale` for the million.

`python -m bench live` only says how long it takes until somebody hears of something, `python -m bench agent` what an
agent takes from a push to the end.

`python -m bench scale 20000` does the same with so many deployments, and proportionally less of all others.
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.agent import bench_agent
from bench.configuration import bench_reading
from bench.durable import bench_durable
from bench.figures import Figure, Reading
from bench.git import bench_git
from bench.idle import bench_idle
from bench.live import bench_live
from bench.population import scaled
from bench.repository import APPLICATIONS, a_repository
from bench.scale import bench_scale
from bench.server import bench_calls

#: How long a server is looked at in each state.
_SECONDS, _SCALE_SECONDS = 10.0, 60.0


def main() -> None:
    """The first argument says which part; none, all but the million."""
    console, arguments = Console(width=140), sys.argv[1:]
    if arguments[:1] == ["scale"]:
        population = scaled(int(arguments[1]) if len(arguments) > 1 else 1_000_000)
        readings = asyncio.run(bench_scale(population, _SCALE_SECONDS))
        console.print(_readings(f"{population.deployments:,} deployments", readings))
        return
    if arguments[:1] == ["live"]:
        console.print(_readings("who hears when", asyncio.run(bench_live())))
        return
    if arguments[:1] == ["agent"]:
        console.print(_readings("an agent", bench_agent()))
        return
    with tempfile.TemporaryDirectory(prefix="fairway-bench-") as directory:
        repository = a_repository(Path(directory))
        figures = [bench_reading(), *asyncio.run(bench_git(repository, Path(directory)))]
    figures += asyncio.run(bench_durable())
    figures.append(asyncio.run(bench_calls()))
    readings = [*asyncio.run(bench_idle(_SECONDS)), *asyncio.run(bench_live())]
    console.print(_table(figures))
    console.print(_readings("a server", readings))
    console.print(_readings("an agent", bench_agent()))


def _readings(title: str, readings: list[Reading]) -> Table:
    table = Table("what", "found", "goal: at most", title=title)
    for reading in readings:
        table.add_row(*reading)
    return table


def _table(figures: list[Figure]) -> Table:
    goals = "goals: 1.5×, and near zero when seen before; for the server 3× and 2×"
    table = Table(title=f"{APPLICATIONS:,} applications; {goals}")
    for column in ("operation", "bare operation", "bare ms", "fairway ms", "ratio", "seen before ms", "ratio"):
        table.add_column(column, justify="left" if "operation" in column else "right")
    for figure in figures:
        table.add_row(
            figure.name,
            figure.bare_name,
            f"{figure.bare * 1000:.1f}",
            f"{figure.fairway * 1000:.1f}",
            f"{figure.fairway / figure.bare:.2f}×",
            "" if figure.seen is None else f"{figure.seen * 1000:.1f}",
            "" if figure.seen is None else f"{figure.seen / figure.bare:.3f}×",
        )
    return table


if __name__ == "__main__":
    main()
