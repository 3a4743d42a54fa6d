"""Asking again and again, but not without a pause: lists and watches that are over at once come ever more slowly.

A server, or something in front of it, may end every watch as soon as it has begun. Whoever only wants to know what
becomes of some objects then lists them from time to time instead of asking as fast as the server can refuse.
"""

import asyncio
from typing import Final

from fairway.kube.calls import Patience

#: A turn that is over so soon was not served.
SHORT_SECONDS: Final = 1.0
#: Attempts do not count here: it is tried for as long as anybody wants to know.
WATCH_PATIENCE: Final = Patience(first_delay=0.5, longest_delay=15.0)


class Turns:
    """The turns of one who asks again whenever an answer has ended; the first begins at once."""

    def __init__(self, patience: Patience = WATCH_PATIENCE) -> None:
        self._patience = patience
        self._begun = asyncio.get_running_loop().time()
        #: How many in a row were over at once.
        self._short = 0

    async def over(self) -> None:
        """A turn has ended: return when the next may begin."""
        now = asyncio.get_running_loop().time
        self._short = self._short + 1 if now() - self._begun < SHORT_SECONDS else 0
        if self._short:
            await self._patience.sleep(self._patience.delay(self._short))
        self._begun = now()
