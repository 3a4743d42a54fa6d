"""Clusters that do not answer: nobody asks them but one who waits for their return, and tells who wanted to know.

Hundreds of applications would else wait for the same silence one by one, and learn of the return when it is their turn.
"""

import asyncio
from collections.abc import Callable
from itertools import count

import msgspec

from fairway.errors import FairwayError
from fairway.kube.calls import Patience
from fairway.kube.cluster import Cluster
from fairway.kube.turns import WATCH_PATIENCE


class _Silence(msgspec.Struct):
    words: str
    #: Applications that were asked about meanwhile.
    waiting: set[str]
    task: asyncio.Task[None]


class Away:
    """Belongs to one event loop."""

    def __init__(self, back: Callable[[str], None], patience: Patience = WATCH_PATIENCE) -> None:
        self._back = back
        self._patience = patience
        self._silent: dict[str, _Silence] = {}
        #: Deploy target → how often in a row it was called back and went silent again.
        self._failures: dict[str, int] = {}

    async def close(self) -> None:
        """Wait for nobody any more."""
        tasks = [each.task for each in self._silent.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def words(self, target: str, application_id: str) -> str:
        """Why a deploy target cannot be asked about an application, which is told when it can; empty when it can."""
        silence = self._silent.get(target)
        if silence is None:
            return ""
        silence.waiting.add(application_id)
        return silence.words

    def note(self, target: str, cluster: Cluster, words: str) -> None:
        """A deploy target did not answer."""
        if target not in self._silent:
            self._failures[target] = self._failures.get(target, 0) + 1
            self._silent[target] = _Silence(words, set(), asyncio.create_task(self._wait(target, cluster)))

    def answered(self, target: str) -> None:
        """A deploy target has answered everything that was asked."""
        self._failures.pop(target, None)

    async def _wait(self, target: str, cluster: Cluster) -> None:
        # One that answers this, and not what is asked of it then, is not asked more and more often.
        for failures in count(self._failures[target]):
            await self._patience.sleep(self._patience.delay(failures))
            try:
                await cluster.version()
                break
            except FairwayError as error:
                self._silent[target].words = f"{target}: {error}"
        for application_id in self._silent.pop(target).waiting:
            self._back(application_id)
