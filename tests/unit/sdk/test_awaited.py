"""What a stage waits for is told when it changes, once in a while, and to the last word."""

import asyncio
from collections.abc import Mapping

from fairway.errors import UserError
from fairway.sdk.awaited import PAUSE_SECONDS, Awaited


class Recorded:
    """An agent that writes down what it is told, and a pause that ends when a test lets it."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.pauses: list[float] = []
        self.goes_on = asyncio.Event()

    async def note(self, metadata: Mapping[str, str]) -> None:
        self.told.append(metadata["fairway/waits-for"])

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)
        await self.goes_on.wait()
        self.goes_on.clear()

    async def settle(self) -> None:
        """Let everything run that waits for no pause."""
        for _ in range(10):
            await asyncio.sleep(0)

    async def next_pause(self) -> None:
        self.goes_on.set()
        await self.settle()


async def test_of_many_changes_only_the_first_and_the_last_are_told_and_a_pause_is_between() -> None:
    agent = Recorded()
    awaited = Awaited(agent.note, sleep=agent.pause)

    for number in range(100):
        awaited.say(f"pod {number}")
        await agent.settle()
    await agent.next_pause()

    assert (agent.told, agent.pauses) == (["pod 0", "pod 99"], [PAUSE_SECONDS] * 2)
    await awaited.close()


async def test_what_has_not_changed_is_not_told_again() -> None:
    agent = Recorded()
    awaited = Awaited(agent.note, "pod 1", agent.pause)

    awaited.say("pod 1")
    await agent.settle()
    awaited.say("pod 2")
    await agent.settle()
    await agent.next_pause()
    awaited.say("pod 2")
    await agent.settle()

    assert agent.told == ["pod 2"]
    await awaited.close()


async def test_work_side_by_side_has_a_part_each_and_one_that_goes_on_has_none() -> None:
    agent = Recorded()
    awaited = Awaited(agent.note, sleep=agent.pause)

    awaited.say("pod 1", "east: ")
    awaited.say("pod 2", "west: ")
    await agent.settle()
    awaited.say("", "east: ")
    await agent.next_pause()

    assert agent.told == ["east: pod 1; west: pod 2", "west: pod 2"]
    await awaited.close()


async def test_an_agent_that_refuses_the_words_costs_no_stage() -> None:
    agent = Recorded()

    async def refuses(metadata: Mapping[str, str]) -> None:
        await agent.note(metadata)
        raise UserError("no such stage")

    awaited = Awaited(refuses, sleep=agent.pause)
    awaited.say("pod 1")
    await agent.settle()
    awaited.say("pod 2")
    await agent.next_pause()

    assert agent.told == ["pod 1", "pod 2"]
    await awaited.close()


async def test_what_takes_pages_is_cut() -> None:
    agent = Recorded()
    awaited = Awaited(agent.note, sleep=agent.pause)

    awaited.say("x" * 2000)
    await agent.settle()

    assert agent.told == ["x" * 999 + "…"]
    await awaited.close()


async def test_nothing_is_told_of_a_stage_that_has_ended() -> None:
    agent = Recorded()
    awaited = Awaited(agent.note, sleep=agent.pause)

    awaited.say("pod 1")
    await agent.settle()
    awaited.say("pod 2")
    await awaited.close()
    await agent.next_pause()

    assert agent.told == ["pod 1"]
