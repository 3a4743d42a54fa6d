"""Runs every bench and prints one table."""

import asyncio
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.configuration import bench_reading
from bench.durable import bench_durable
from bench.figures import Figure
from bench.git import bench_git
from bench.repository import APPLICATIONS, a_repository
from bench.server import bench_calls


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="fairway-bench-") as directory:
        repository = a_repository(Path(directory))
        figures = [bench_reading(), *asyncio.run(bench_git(repository, Path(directory)))]
    figures += asyncio.run(bench_durable())
    figures.append(asyncio.run(bench_calls()))
    Console(width=120).print(_table(figures))


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
