"""The log of a running stage: lines are numbered here, sent in batches, and known to be safe when `flush` returns.

Numbers begin at the time in microseconds, so that a stage that is run again after a restart goes on above its earlier
lines; whoever can tell better (a script that is taken up again) brings its own numbers and sends the same line twice
without harm.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from fairway.clock import Clock
from fairway.model.limits import SENT_TEXT, cut
from fairway.model.log_block import LogBlock, LogSeverity

#: Sends blocks to the agent; the flag says that no more will come.
Send = Callable[[Sequence[LogBlock], bool], Awaitable[None]]

#: How much is sent in one call.
_BATCH_BYTES = 512 * 1024
#: How long lines may wait for company before they are sent.
PAUSE_SECONDS = 0.05
#: What the work is about that goes on in this task and in those it starts, so that none of them has to be told.
_ABOUT: ContextVar[str] = ContextVar("about", default="")


class StageLog:
    """The log of one run of one stage. It belongs to one event loop."""

    def __init__(self, send: Send, clock: Clock) -> None:
        self._send = send
        self.clock = clock
        self._next = int(clock.now().timestamp() * 1_000_000)
        self._waiting: list[LogBlock] = []
        self._sending = asyncio.Lock()
        self._timer: asyncio.Task[None] | None = None

    def info(self, text: str) -> None:
        """Say what is going on."""
        self._add(text, LogSeverity.INFO)

    def success(self, text: str) -> None:
        """Say that something went as wanted."""
        self._add(text, LogSeverity.SUCCESS)

    def error(self, text: str) -> None:
        """Say that something went wrong."""
        self._add(text, LogSeverity.ERROR)

    @contextmanager
    def about(self, what: str) -> Iterator[None]:
        """Have every line that is said meanwhile begin with what it is about: other work may go on beside this."""
        token = _ABOUT.set(f"{what}: ")
        try:
            yield
        finally:
            _ABOUT.reset(token)

    @property
    def subject(self) -> str:
        """What lines begin with that are said here; empty where nothing else goes on beside."""
        return _ABOUT.get()

    def add(self, block: LogBlock) -> None:
        """Say something that has its own number."""
        self._next = max(self._next, block.index + 1)
        self._wait(block)

    async def send(self, block: LogBlock) -> None:
        """Send a block that has its own number; it is safe when this returns. Lines that wait go first."""
        await self.flush()
        async with self._sending:
            await self._send([block], False)
        self._next = max(self._next, block.index + 1)

    async def flush(self) -> None:
        """Send what waits; it is safe when this returns."""
        async with self._sending:
            while self._waiting:
                batch = _first_batch(self._waiting)
                await self._send(batch, False)
                del self._waiting[: len(batch)]

    async def close(self) -> None:
        """Send what waits, and say that it was the last."""
        if self._timer is not None:
            self._timer.cancel()
            # What it could not send still waits, and is sent now.
            await asyncio.gather(self._timer, return_exceptions=True)
        async with self._sending:
            last = False
            while not last:
                batch = _first_batch(self._waiting)
                last = len(batch) == len(self._waiting)
                await self._send(batch, last)
                del self._waiting[: len(batch)]

    def _add(self, text: str, severity: LogSeverity) -> None:
        text = cut("\n".join(f"{_ABOUT.get()}{line}" for line in cut(text, SENT_TEXT).split("\n")), SENT_TEXT)
        block = LogBlock(index=self._next, log=text, created_at=self.clock.now(), severity=severity)
        self._next += 1
        self._wait(block)

    def _wait(self, block: LogBlock) -> None:
        self._waiting.append(block)
        if self._timer is None or self._timer.done():
            self._timer = asyncio.create_task(self._flush_soon())

    async def _flush_soon(self) -> None:
        await asyncio.sleep(PAUSE_SECONDS)
        await self.flush()


def _first_batch(blocks: Sequence[LogBlock]) -> list[LogBlock]:
    batch: list[LogBlock] = []
    size = 0
    for block in blocks:
        size += len(block.log)
        if batch and size > _BATCH_BYTES:
            break
        batch.append(block)
    return batch
