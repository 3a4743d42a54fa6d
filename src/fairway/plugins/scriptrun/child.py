"""A child that may outlive whoever starts it.

Those of asyncio may not: when the start is cancelled in the moment in which it succeeds, and, from Python 3.12 on, when
the program ends, they are killed. This one is there at once, and nobody kills it but who means to.
"""

import asyncio
import contextlib
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fairway.plugins.process_end import process_end


class Child:
    """A process in a session of its own. It belongs to one event loop."""

    def __init__(self, command: Sequence[str], **more: Any) -> None:
        self._process: subprocess.Popen[bytes] = subprocess.Popen(command, start_new_session=True, **more)
        self.pid = self._process.pid
        self.stdin = self._process.stdin
        self._buried = asyncio.create_task(self._bury())

    @property
    def has_ended(self) -> bool:
        """Whether it is dead and buried."""
        return self._buried.done()

    @property
    def status(self) -> int:
        """The exit status of a child that has ended, negative for a signal."""
        return self._process.returncode or 0

    @property
    def is_stopped(self) -> bool:
        """Whether a signal has stopped it (SIGSTOP)."""
        with contextlib.suppress(OSError):
            return Path(f"/proc/{self.pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0] == "T"
        return False

    async def wait(self) -> None:
        """Return when it is dead and buried."""
        await asyncio.shield(self._buried)

    async def _bury(self) -> None:
        try:
            await process_end(self.pid)
        finally:
            if self._process.poll() is None:
                # It is left alone, which is nothing to be warned of.
                self._process.returncode = 0
