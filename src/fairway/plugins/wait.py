"""WAIT: lets some time pass. The moment it began is kept with the stage, so a restart does not make it longer."""

import asyncio
from datetime import UTC, datetime, timedelta

from fairway.config.scalars import Duration
from fairway.config.stages import WaitOptions
from fairway.sdk import Plugin, StageRun, stage

#: Where PipeCD's plugin keeps it too: seconds since 1970.
STARTED = "startTime"
#: What v0 waits when nobody says how long.
_DEFAULT = Duration(minutes=1)


class Wait(Plugin):
    """Waits."""

    name = "wait"

    @stage("WAIT", options=WaitOptions)
    async def wait(self, run: StageRun[WaitOptions]) -> None:
        """Let the time pass."""
        duration = run.options.duration or _DEFAULT
        noted = await run.noted(STARTED)
        started = datetime.fromtimestamp(float(noted), UTC) if noted else run.now()
        if noted is None:
            await run.note({STARTED: f"{started.timestamp():.3f}"})
        until = started + duration
        # Never more than all of it, should the clock have been set back since it was noted.
        left = min(until - run.now(), duration)
        if left > timedelta(0):
            if noted is None:
                run.log.info(f"Waiting {duration} until {until:%H:%M:%S} UTC")
                await run.show(f"until {until:%H:%M:%S} UTC")
            await asyncio.sleep(left.total_seconds())
        run.log.success(f"Waited {duration}")
