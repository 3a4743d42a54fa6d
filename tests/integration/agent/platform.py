"""A platform for tests: has the stages of Kubernetes, does nothing, and fails or waits at the stage it is told to."""

import asyncio
from typing import Any

from fairway.sdk import Plugin, StageFailed, StageOptions, StageRun, rollback, stage


class CanaryOptions(StageOptions, frozen=True, kw_only=True):
    """How large the canary is."""

    replicas: str = ""


class Platform(Plugin):
    """The file `end` in the application's directory says what to do at which stage, such as `fail 4` or `wait 6`."""

    name = "kubernetes"

    @stage("K8S_CANARY_ROLLOUT", options=CanaryOptions)
    async def canary(self, run: StageRun[CanaryOptions]) -> None:
        """Stage 1 of the documents."""
        await _end(run)

    @stage("K8S_PRIMARY_ROLLOUT")
    async def primary(self, run: StageRun[StageOptions]) -> None:
        """Stage 4 of the documents."""
        await _end(run)

    @stage("K8S_CANARY_CLEAN")
    async def clean(self, run: StageRun[StageOptions]) -> None:
        """Stage 6 of the documents."""
        await _end(run)

    @rollback("K8S_ROLLBACK")
    async def undo(self, run: StageRun[StageOptions]) -> None:
        """Undo all of it."""
        run.log.info("undone")


async def _end(run: StageRun[Any]) -> None:
    what, number = (run.target.application_directory / "end").read_text().split()
    if run.stage.index + 1 != int(number):
        return
    if what == "fail":
        raise StageFailed("as it was told")
    await asyncio.Event().wait()
