"""The log of a stage is sent whole, also when some of it could not be sent at first."""

import asyncio
from collections.abc import Sequence

import pytest

from fairway.clock import FakeClock
from fairway.model.log_block import LogBlock
from fairway.sdk import stage_log
from fairway.sdk.stage_log import StageLog
from tests.unit.model.builders import NOW


class Agent:
    """Takes lines, but not the first time."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.refused = asyncio.Event()

    async def send(self, blocks: Sequence[LogBlock], _completed: bool) -> None:
        if not self.refused.is_set():
            self.refused.set()
            raise ConnectionError("not now")
        self.lines += [each.log for each in blocks]


async def test_lines_that_could_not_be_sent_go_with_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage_log, "PAUSE_SECONDS", 0.0)
    agent = Agent()
    log = StageLog(agent.send, FakeClock(NOW))
    log.success("it is done")
    await agent.refused.wait()
    await log.close()

    assert agent.lines == ["it is done"]


async def test_lines_of_work_that_goes_on_side_by_side_say_what_they_are_about() -> None:
    agent = Agent()
    agent.refused.set()
    log = StageLog(agent.send, FakeClock(NOW))

    async def work(name: str) -> None:
        with log.about(name):
            await asyncio.create_task(say())

    async def say() -> None:
        log.info("one\ntwo")

    await asyncio.gather(work("east"), work("west"))
    log.info("done")
    await log.close()

    assert agent.lines == ["east: one\neast: two", "west: one\nwest: two", "done"]
