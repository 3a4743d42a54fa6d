"""What a process of plugins writes: passed on line by line without secrets, its end kept for whoever asks why the
process has ended."""

import asyncio
import contextlib
import os
import re
from collections.abc import Callable

from fairway.secrets.redact import RedactedStream, Redactor

#: What lines are passed through, to be without secrets; a new one for whole lines, the same for the parts of one line.
Mask = Callable[[], RedactedStream]
NO_MASK: Mask = Redactor(()).stream
_CHUNK_BYTES = 64 * 1024
_KEPT_BYTES = 4096
_SHOWN_CHARACTERS = 300
#: Colours and other things that are said to terminals.
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x09\x0b-\x1f\x7f]")


def to_stderr(data: bytes) -> None:
    """Write where the agent itself writes."""
    with contextlib.suppress(OSError):
        while data:
            data = data[os.write(2, data) :]


class Output:
    """The output of one process. It belongs to one event loop."""

    def __init__(self, reader: asyncio.StreamReader, pass_on: Callable[[bytes], None], mask: Mask = NO_MASK) -> None:
        self._pass_on = pass_on
        self._mask = mask
        self._kept = b""
        #: The beginning of a line.
        self._begun = b""
        #: What masks a line that was too long to be waited for; it has what may be the beginning of a secret.
        self._cut: RedactedStream | None = None
        self._task = asyncio.create_task(self._follow(reader))

    @property
    def last_words(self) -> str:
        """The last line; empty when nothing was written."""
        kept = self._kept if self._cut else self._kept + self._masked(self._begun, True, None)[0]
        lines = _CONTROL.sub("", kept.decode(errors="replace")).split("\n")
        return next((line.strip()[:_SHOWN_CHARACTERS] for line in reversed(lines) if line.strip()), "")

    async def close(self, seconds: float = 1.0) -> None:
        """Read what is left; what others keep open is not waited for."""
        await asyncio.wait({self._task}, timeout=seconds)
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _follow(self, reader: asyncio.StreamReader) -> None:
        while data := await reader.read(_CHUNK_BYTES):
            written = self._begun + data
            lines = written.rfind(b"\n") + 1
            end = lines or (len(written) if len(written) >= _CHUNK_BYTES else 0)
            self._begun = written[end:]
            await self._tell(written[:end], ends=bool(lines))
        begun, self._begun = self._begun, b""
        await self._tell(begun, ends=True)

    async def _tell(self, lines: bytes, ends: bool) -> None:
        if not lines and not (self._cut and ends):
            return
        # In a thread: whoever reads the agent's output may be slow, and the agent must not wait for that.
        masked, mask = await asyncio.to_thread(self._masked, lines, ends, self._cut)
        self._cut = None if ends else mask
        self._kept = (self._kept + masked)[-_KEPT_BYTES:]
        await asyncio.to_thread(self._pass_on, masked)

    def _masked(self, lines: bytes, ends: bool, cut: RedactedStream | None) -> tuple[bytes, RedactedStream]:
        mask = cut or self._mask()
        masked = mask.feed(lines)
        return (masked + mask.flush() if ends else masked), mask
