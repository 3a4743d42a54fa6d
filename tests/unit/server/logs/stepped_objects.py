"""Objects in memory whose operations go one step at a time, in an order that the test chooses.

It is as unkind as a real place may be: a listing is taken in two halves with other steps between them, as a directory
or a bucket of many pages is read, and several objects are deleted one by one.
"""

import asyncio
import zlib
from collections.abc import Coroutine, Mapping, Sequence
from random import Random
from typing import Any


class SteppedObjects:
    """Waits for `run_stepped` before every step; without it, every step is free."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}
        self.gets: list[str] = []
        self._waiting: list[asyncio.Future[None]] | None = None

    async def create(self, objects: Mapping[str, bytes]) -> None:
        for name, content in objects.items():
            await self._turn()
            self.kept.setdefault(name, content)

    async def get(self, name: str) -> bytes | None:
        await self._turn()
        self.gets.append(name)
        return self.kept.get(name)

    async def list(self, folder: str) -> dict[str, int]:
        found: dict[str, int] = {}
        for half in (0, 1):
            await self._turn()
            found |= {name: len(self.kept[name]) for name in self.kept if zlib.crc32(name.encode()) % 2 == half}
        return {name: found[name] for name in sorted(found) if name.startswith(folder)}

    async def delete(self, names: Sequence[str]) -> None:
        for name in names:
            await self._turn()
            self.kept.pop(name, None)

    async def close(self) -> None:
        """Nothing is open."""

    async def run_stepped(self, work: Sequence[Coroutine[Any, Any, Any]], order: Random) -> tuple[Any, ...]:
        """Do all the work at once, with steps in this order."""
        self._waiting = []
        tasks = [asyncio.ensure_future(each) for each in work]
        while not all(task.done() for task in tasks):
            await _settle()
            if self._waiting:
                # Mostly whoever went last, who waits at the end again: orders in which somebody is left far behind.
                step = -1 if order.random() < 0.7 else order.randrange(len(self._waiting))
                self._waiting.pop(step).set_result(None)
        self._waiting = None
        return tuple(task.result() for task in tasks)

    async def _turn(self) -> None:
        if self._waiting is not None:
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            await turn


async def _settle() -> None:
    """Let everything run that does not wait for its turn."""
    for _ in range(10):
        await asyncio.sleep(0)
