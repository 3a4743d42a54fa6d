"""Time as an argument: nothing in Fairway asks the machine for the time except through a `Clock`.

Tests pass a `FakeClock`, so that five-minute waits take no time and no test depends on the hour it runs at.
"""

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Where the time comes from."""

    def now(self) -> datetime:
        """The current time, with a time zone."""
        ...


class SystemClock:
    """The machine's time, in UTC."""

    def now(self) -> datetime:
        return datetime.fromtimestamp(time.time(), tz=UTC)


class FakeClock:
    """A clock that stands still until it is told to move."""

    def __init__(self, start: datetime | None = None) -> None:
        self._now = start or datetime(2026, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self._now

    def advance(self, by: timedelta) -> None:
        """Move forward; a fake clock never goes back."""
        if by < timedelta(0):
            raise ValueError("a clock does not go back")
        self._now += by
