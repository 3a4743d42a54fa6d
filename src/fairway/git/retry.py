"""How often, and how patiently, a call to a remote is repeated.

Only errors that say of themselves that a repetition may help (`error.retry`) are repeated. The waits grow and carry
jitter, so that a thousand agents that lost the same server do not return to it in the same instant. Sleep, chance and
the time that passes are fields: a test passes its own and waits for nothing.
"""

import asyncio
import math
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import monotonic
from typing import TypeVar

from fairway.errors import FairwayError

T = TypeVar("T")


@dataclass(frozen=True)
class Retry:
    """A bounded number of tries with growing, jittered waits between them."""

    attempts: int = 4
    first_delay: float = 0.5
    longest_delay: float = 8.0
    #: Nothing is begun again after so long, however few the tries were: each may have taken minutes.
    seconds: float = math.inf
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    #: A number from 0 up to 1.
    chance: Callable[[], float] = random.SystemRandom().random
    #: Seconds that pass, whatever the clock is set to.
    steady: Callable[[], float] = monotonic

    def delay(self, failures: int) -> float:
        """How long to wait after that many failures: between half and all of an exponentially growing time."""
        # What is away for days fails so often that no number would hold the power.
        longest = min(self.longest_delay, self.first_delay * 2.0 ** min(failures - 1, 60))
        return longest * (0.5 + self.chance() / 2)

    async def run(self, operation: Callable[[], Awaitable[T]]) -> T:
        """The operation's result, or its last error; an error that no repetition helps is raised at once."""
        began = self.steady()
        for failures in range(1, self.attempts):
            try:
                return await operation()
            except FairwayError as error:
                if not error.retry or self.steady() - began >= self.seconds:
                    raise
            await self.sleep(self.delay(failures))
        return await operation()
