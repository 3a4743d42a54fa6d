"""How far a long bench has come: one line that changes on a terminal, and a line now and then in a file."""

import time

from rich.console import Console
from rich.status import Status

#: From one line in a file to the next.
_PAUSE_SECONDS = 5.0


class Progress:
    """Says what is being done. Without a console it is silent."""

    def __init__(self, console: Console | None, status: Status | None = None) -> None:
        self._console = console
        self._status = status
        self._part = ""
        self._began = time.monotonic()
        self._told = 0.0

    def begin(self, part: str) -> None:
        """What is told from now on is about this part; that it begins is told in any case."""
        self._part, self._began, self._told = part, time.monotonic(), 0.0
        self.tell("…")

    def tell(self, what: str) -> None:
        """What is done at the moment."""
        line = f"{self._part}: {what}"
        if self._status is not None:
            self._status.update(line)
        now = time.monotonic()
        if self._console is not None and not self._console.is_terminal and now - self._told >= _PAUSE_SECONDS:
            self._told = now
            self._console.print(line, highlight=False, soft_wrap=True)

    def tell_share(self, noun: str, done: int, total: int) -> None:
        """So many of so many are done, and how long the others take at this pace."""
        left = (time.monotonic() - self._began) / done * (total - done)
        self.tell(f"{done:,} of {total:,} {noun}, {left:.0f} s left")

    def found(self, line: str) -> None:
        """Something that stays to be seen, whatever happens to the rest."""
        if self._console is not None:
            self._console.print(line, highlight=False, soft_wrap=True)
