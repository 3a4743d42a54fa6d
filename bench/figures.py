"""How things are timed: bare and ours in turns, so that a busy machine slows both, and the best of each."""

import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple

RUNS = 7


class Figure(NamedTuple):
    """One row of the table, in seconds."""

    name: str
    bare_name: str
    bare: float
    #: With nothing cached.
    fairway: float
    #: With everything seen before; None where nothing is remembered.
    seen: float | None


class Reading(NamedTuple):
    """One line of what was read off a server, with the goal where there is one."""

    name: str
    value: str
    goal: str = ""


async def best_of(*operations: Callable[[], Awaitable[object]]) -> list[float]:
    """The shortest time of each operation."""
    best = [float("inf")] * len(operations)
    for _ in range(RUNS):
        for index, operation in enumerate(operations):
            start = time.perf_counter()
            await operation()
            best[index] = min(best[index], time.perf_counter() - start)
    return best
