"""Telling the agent what has changed: once for many changes, and only what it wants to know."""

import asyncio
from collections.abc import Sequence

from fairway.plugins.kubernetes.live.telling import Telling


class Agent:
    """Somebody to tell."""

    def __init__(self, *, wants_to_know: bool = True) -> None:
        self.told: list[list[str]] = []
        self._wants_to_know = wants_to_know

    async def changed(self, application_ids: Sequence[str]) -> bool:
        self.told.append(list(application_ids))
        return self._wants_to_know


async def settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_many_changes_are_told_together_and_only_those_that_were_asked_for() -> None:
    agent = Agent()
    telling = Telling(agent.changed, together_seconds=0)
    for each in ("a", "b"):
        telling.want(each)

    for each in ("b", "a", "b", "stranger"):
        telling.touch(each)
    await settled()
    telling.touch("a")
    await settled()

    assert agent.told == [["a", "b"], ["a"]]


async def test_an_agent_that_does_not_want_to_know_is_told_once() -> None:
    agent = Agent(wants_to_know=False)
    telling = Telling(agent.changed, together_seconds=0)
    telling.want("a")

    for _ in range(2):
        telling.touch("a")
        await settled()

    assert agent.told == [["a"]]


async def test_nothing_is_told_when_it_is_over() -> None:
    agent = Agent()
    telling = Telling(agent.changed, together_seconds=1000)
    telling.want("a")
    telling.touch("a")

    await telling.close()

    assert agent.told == []
