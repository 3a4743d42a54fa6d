"""A plugin for tests whose stages end or block the process that they run in."""

import os
import time
from pathlib import Path

from fairway.sdk import Plugin, StageOptions, StageRun, rollback, stage


class MortalOptions(StageOptions, frozen=True, kw_only=True):
    """What is done, and where that is written down."""

    diary: str
    #: How often the process ends, with status 3, before the stage is a success.
    ends: int = 0
    #: Whether nothing of the process goes on the first time.
    blocks: bool = False


class Mortal(Plugin):
    """Its stage writes a line each time that it is begun."""

    name = "mortal"

    @stage("MORTAL", options=MortalOptions)
    async def mortal(self, run: StageRun[MortalOptions]) -> None:
        """End the process as often as it is told to."""
        begun = _begun(Path(run.options.diary))
        if begun <= run.options.ends:
            os._exit(3)
        if run.options.blocks and begun == 1:
            time.sleep(1000)  # noqa: ASYNC251  # the mistake that is meant

    @rollback("MORTAL_ROLLBACK")
    async def undo(self, run: StageRun[StageOptions]) -> None:
        """Say that all is undone."""
        run.log.info("undone")


def _begun(diary: Path) -> int:
    """How often it was begun, with this time."""
    with diary.open("a") as file:
        file.write("begun\n")
    return diary.read_text().count("begun")
