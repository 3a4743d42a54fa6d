"""Work on several deploy targets has ended when all of it has, however one of it ends: what comes next, such as the
rollback, must find nobody at work."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import ClassVar

from fairway.sdk import Plugin, StageOptions, StageRun, StageStatus, Target, stage
from fairway.sdk.testing import plugin_under_test

Bring = Callable[[Target], Awaitable[None]]
TARGETS = (Target(name="hasty"), Target(name="slow"))


class Spreading(Plugin):
    """Is done with one target long before the other."""

    name = "spreading"
    both_at_work: ClassVar[asyncio.Event]
    #: What was done when the work on all targets was over.
    done: ClassVar[list[str]]

    @stage("FAIL")
    async def fail(self, run: StageRun[StageOptions]) -> None:
        """One meets a defect while the other is at work."""

        async def bring(target: Target) -> None:
            if target.name == "hasty":
                await self.both_at_work.wait()
                raise KeyError("a defect")
            self.both_at_work.set()
            await self._slowly(target)

        await self._on_all(run, bring)

    @stage("WAIT_FOR_EVER")
    async def wait(self, run: StageRun[StageOptions]) -> None:
        """Both wait until they are cancelled, and one has to tidy up then."""
        at_work: list[Target] = []

        async def bring(target: Target) -> None:
            at_work.append(target)
            if len(at_work) == len(TARGETS):
                self.both_at_work.set()
            try:
                await asyncio.Event().wait()
            finally:
                if target.name == "slow":
                    await self._slowly(target)

        await self._on_all(run, bring)

    async def _slowly(self, target: Target) -> None:
        for _ in range(100):
            await asyncio.sleep(0)
        self.ended.append(target.name)

    async def _on_all(self, run: StageRun[StageOptions], bring: Bring) -> None:
        self.ended: list[str] = []
        try:
            await run.on_each_target(bring)
        finally:
            type(self).done = list(self.ended)


async def test_a_defect_with_one_target_waits_for_the_work_on_the_others(tmp_path: Path) -> None:
    Spreading.both_at_work = asyncio.Event()
    async with plugin_under_test(Spreading, tmp_path, targets=TARGETS) as plugin:
        ended = await plugin.run("FAIL", id="s")

    assert (ended.status, Spreading.done) == (StageStatus.FAILED, ["slow"])
    # It is not done twice, should the stage be asked for again.
    assert plugin.agent.stage_notes["s"] == {"fairway/target/slow": "succeeded"}


async def test_a_cancelled_stage_has_ended_when_the_work_on_every_target_has(tmp_path: Path) -> None:
    Spreading.both_at_work = asyncio.Event()
    async with plugin_under_test(Spreading, tmp_path, targets=TARGETS) as plugin:
        running = asyncio.create_task(plugin.run("WAIT_FOR_EVER", id="s"))
        await Spreading.both_at_work.wait()
        await plugin.stop("s", "cancelled")
        ended = await running

    assert (ended.status, Spreading.done) == (StageStatus.CANCELLED, ["slow"])
