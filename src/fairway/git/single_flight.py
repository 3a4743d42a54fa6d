"""One run for many callers.

Callers that ask while a run is already under way get the next one, not that one: it may have looked at the remote
before the event that made them ask. So any number of callers cost at most two runs.
"""

import asyncio
from collections.abc import Awaitable, Callable


class SingleFlight:
    """Shares the runs of one operation. A cancelled caller does not stop a run that others wait for."""

    def __init__(self, operation: Callable[[], Awaitable[None]]) -> None:
        self._operation = operation
        self._turn = asyncio.Lock()
        self._next: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Wait for a run that starts after this call."""
        if self._next is None:
            self._next = asyncio.create_task(self._take_turn())
            self._tasks.add(self._next)
            self._next.add_done_callback(self._forget)
        await asyncio.shield(self._next)

    async def close(self) -> None:
        """Stop what runs and what waits."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _take_turn(self) -> None:
        async with self._turn:
            self._next = None
            await self._operation()

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if self._next is task:
            self._next = None
        if not task.cancelled():
            task.exception()  # marked as seen, in case every caller was cancelled
