"""How things are timed, bare and ours in turns, so that a busy machine slows both; and how that reads as a table."""

import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from rich.table import Table

RUNS = 5


class Figure(NamedTuple):
    """One operation beside the bare one, in seconds."""

    name: str
    bare_name: str
    bare: float
    #: With nothing cached.
    fairway: float
    #: With everything seen before; None where nothing is remembered.
    seen: float | None
    #: As many times the bare operation as it may take.
    goal: float = 1.5


class Reading(NamedTuple):
    """One line of what was read off a process, with the goal where there is one."""

    name: str
    value: str
    goal: str = ""
    #: The same of a bare operation, where there is one.
    bare: str = ""


async def best_of(*operations: Callable[[], Awaitable[object]]) -> list[float]:
    """The shortest time of each operation."""
    best = [float("inf")] * len(operations)
    for _ in range(RUNS):
        for index, operation in enumerate(operations):
            start = time.perf_counter()
            await operation()
            best[index] = min(best[index], time.perf_counter() - start)
    return best


def a_table() -> Table:
    """Columns for both."""
    table = Table("what", pad_edge=False, expand=False)
    for column in ("bare", "fairway", "ratio", "goal: at most"):
        table.add_column(column, justify="right")
    return table


def add_figures(table: Table, figures: list[Figure]) -> None:
    """A line for each, and one for how long it takes when everything was seen before."""
    for figure in figures:
        both = _milliseconds(figure.bare), _milliseconds(figure.fairway), f"{figure.fairway / figure.bare:.2f}×"
        table.add_row(f"{figure.name}; bare: {figure.bare_name}", *both, f"{figure.goal:g}×")
        if figure.seen is not None:
            ratio = f"{figure.seen / figure.bare:.3f}×"
            table.add_row(
                "  the same, seen before", _milliseconds(figure.bare), _milliseconds(figure.seen), ratio, "≈ 0"
            )
    table.add_section()


def add_readings(table: Table, readings: list[Reading], last: bool = True) -> None:
    """A line for each, and one below the last of them."""
    for reading in readings:
        table.add_row(reading.name, reading.bare, reading.value, "", reading.goal)
    if last:
        table.add_section()


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"
