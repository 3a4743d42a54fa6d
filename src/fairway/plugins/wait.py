"""WAIT: lets some time pass. The moment it began is kept with the stage, so a restart does not make it longer."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from fairway.config.scalars import Duration
from fairway.config.stages import StageOptions, WaitOptions
from fairway.sdk import PlannedStage, Plugin, StageFailed, StageRun, stage
from fairway.sdk.plugin import StageSpec

#: Where PipeCD's plugin keeps it too: whole seconds since 1970.
STARTED = "startTime"


class Wait(Plugin):
    """Waits."""

    name = "wait"

    def plan(self, _spec: StageSpec, options: StageOptions, /) -> PlannedStage:
        if isinstance(options, WaitOptions):
            _duration(options)
        return PlannedStage()

    @stage("WAIT", options=WaitOptions)
    async def wait(self, run: StageRun[WaitOptions]) -> None:
        """Let the time pass."""
        duration = _duration(run.options)
        noted = _read(await run.noted(STARTED))
        started = noted or run.now()
        if noted is None:
            await run.note({STARTED: str(int(started.timestamp()))})
        until = started + duration
        # Never more than all of it, should the clock have been set back since it was noted.
        left = min(until - run.now(), duration)
        if left > timedelta(0):
            if noted is None:
                run.log.info(f"Waiting {duration} until {until:%H:%M:%S} UTC")
                await run.show(f"until {until:%H:%M:%S} UTC")
            await asyncio.sleep(left.total_seconds())
        run.log.success(f"Waited {duration}")


def _duration(options: WaitOptions) -> Duration:
    if not options.duration:
        raise StageFailed(f"WAIT has no duration; write {Duration.expected}")
    return options.duration


def _read(noted: str | None) -> datetime | None:
    """The start as it was noted, in whole seconds or with a fraction."""
    with suppress(ValueError, OverflowError):
        return datetime.fromtimestamp(float(noted), UTC) if noted else None
    return None
