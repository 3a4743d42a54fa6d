"""What a running stage waits for right now, in words: kept with the stage for people, and for the reason of one whose
time runs out.

Only changes are told, and at most one a second, however much there is to say: a rollout of many objects costs no more
calls than a small one. What is said last is always told, unless the stage ends first; then it waits for nothing.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from fairway.errors import FairwayError
from fairway.model.stage import WAITS_FOR

#: How long it takes at least from one telling to the next.
PAUSE_SECONDS = 1.0
#: It is a sentence beside a stage; what is longer belongs into the log.
_LONGEST = 1000

#: Keeps notes with the stage.
Note = Callable[[Mapping[str, str]], Awaitable[None]]


class Awaited:
    """What one run of one stage waits for. It belongs to one event loop."""

    def __init__(self, note: Note, told: str = "", sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._note = note
        #: What was told last, perhaps by an earlier run of the stage.
        self._told = told
        self._sleep = sleep
        #: By what each is about: work for several deploy targets goes on side by side.
        self._said: dict[str, str] = {}
        self._telling: asyncio.Task[None] | None = None

    def say(self, text: str, about: str = "") -> None:
        """Wait for this from now on, or for nothing more."""
        self._said[about] = text
        if self._telling is None or self._telling.done():
            self._telling = asyncio.create_task(self._tell())

    async def close(self) -> None:
        """Tell nothing more: the stage ends, and what it has waited for goes with it."""
        if self._telling is not None:
            self._telling.cancel()
            await asyncio.gather(self._telling, return_exceptions=True)

    async def _tell(self) -> None:
        while (text := self._text()) != self._told:
            # An agent that is away is asked until it answers. One that refuses is not asked to take the same words
            # again: a stage does not fail for what it only says.
            with suppress(FairwayError):
                await self._note({WAITS_FOR: text})
            self._told = text
            await self._sleep(PAUSE_SECONDS)

    def _text(self) -> str:
        text = "; ".join(f"{about}{said}" for about, said in self._said.items() if said)
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
