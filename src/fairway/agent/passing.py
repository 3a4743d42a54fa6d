"""Time as it passes for one deployment, by a clock that nobody sets.

A machine's clock may be set by hours while a stage runs; nothing has taken longer for that. What began while this
process watched is measured by the time that has passed since. Of what began before nobody knows more than the moment
that was noted, and no such moment is later than now.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from fairway.clock import Clock


class PassingTime:
    """The moments of one deployment, from when it was taken up."""

    def __init__(self, clock: Clock, steady: Callable[[], float]) -> None:
        #: By the machine's clock.
        self.taken_up = clock.now()
        self._steady = steady
        self._began = steady()

    def now(self) -> datetime:
        """The moment when it was taken up, and what has passed since."""
        return self.taken_up + timedelta(seconds=self._steady() - self._began)

    def from_before(self, noted: datetime) -> datetime:
        """A moment that was noted before this deployment was taken up, perhaps by a clock that was ahead."""
        return min(noted, self.taken_up)
