"""How long somebody who stops `fairway up` is willing to wait.

The first Ctrl-C ends the work; each further one only says that nobody wants to wait. It raises nothing: whatever it
came in between would be left running.
"""

import signal
import time
from collections.abc import Callable
from types import FrameType

_LOOK = 0.05


class Patience:
    """Listens to Ctrl-C from now on."""

    def __init__(self) -> None:
        self._stopping = False
        self._is_over = False
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # All of them mean the same to us, also where a shell in the background lets nobody be interrupted.
            signal.signal(number, self._heard)

    def begin(self) -> None:
        """From now on things are being stopped."""
        self._stopping = True

    def wait_while(self, busy: Callable[[], object], seconds: float) -> None:
        """Wait until nobody is busy, no longer than that, nor than somebody wants to."""
        deadline = time.monotonic() + seconds
        while busy() and not self._is_over and time.monotonic() < deadline:
            time.sleep(_LOOK)
        # Who has lost patience with one thing may have some for the next.
        self._is_over = False

    def _heard(self, number: int, _frame: FrameType | None) -> None:
        if self._stopping:
            # A terminal that is closed says so several times: by itself, by its shell, and by the end of that.
            self._is_over = self._is_over or number != signal.SIGHUP
        else:
            self._stopping = True
            raise KeyboardInterrupt
