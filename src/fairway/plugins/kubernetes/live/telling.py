"""Tells the agent which applications have changed: soon, and once for many changes."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

#: Changes come in showers: a rollout of one Deployment is dozens of them.
_TOGETHER_SECONDS = 0.2


class Telling:
    """Belongs to one event loop."""

    def __init__(
        self, tell: Callable[[Sequence[str]], Awaitable[bool]], together_seconds: float = _TOGETHER_SECONDS
    ) -> None:
        self._tell = tell
        self._together_seconds = together_seconds
        #: Applications that the agent has asked for; of the others it does not want to know.
        self._wanted: set[str] = set()
        self._changed: set[str] = set()
        self._task: asyncio.Task[None] | None = None
        self._heard = True

    def want(self, application_id: str) -> None:
        """The agent has asked for an application."""
        self._wanted.add(application_id)

    def forget(self, application_id: str) -> None:
        """The agent does not ask for it any more."""
        self._wanted.discard(application_id)

    def touch(self, application_id: str) -> None:
        """Something of an application has changed."""
        if application_id not in self._wanted or not self._heard:
            return
        self._changed.add(application_id)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._tell_soon())

    async def close(self) -> None:
        """Tell nothing any more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _tell_soon(self) -> None:
        while self._changed and self._heard:
            await asyncio.sleep(self._together_seconds)
            changed, self._changed = sorted(self._changed), set()
            # An agent that does not want to be told, as PipeCD's, is not told again; it polls.
            self._heard = await self._tell(changed)
