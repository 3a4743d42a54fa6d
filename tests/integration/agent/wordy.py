"""A plugin whose stage says far too much; its option `says` names where."""

from typing import Any

from fairway.model.stage import StageStatus
from fairway.sdk import Outcome, Plugin, StageFailed, StageOptions, StageRun, rollback, stage

LONG = "x" * 3_000_000
#: More than one message of gRPC may have.
LONGER = "x" * 20_000_000


class WordyOptions(StageOptions, frozen=True, kw_only=True):
    """Which of its places the stage uses."""

    says: str


class Wordy(Plugin):
    """Fails at length, and undoes."""

    name = "wordy"

    @stage("WORDY", options=WordyOptions)
    async def say(self, run: StageRun[WordyOptions]) -> Outcome:
        """Say too much, then fail."""
        match run.options.says:
            case "reason":
                raise StageFailed(LONG)
            case "longer-reason":
                raise StageFailed(LONGER)
            case "message":
                return Outcome(StageStatus.FAILED, LONGER)
            case "display":
                await run.show(LONGER)
                run.waits_for(LONGER)
                run.log.info(LONGER)
            case "notes":
                for number in range(4):
                    await run.note({f"note {number}": "x" * 4_000_000})
            case "many-notes":
                for number in range(100):
                    await run.note_for_plugin({f"note {number}": "x" * 500_000})
            case "notes-of-outcome":
                return Outcome(notes={"note": "x" * 4_000_000})
            case "object":
                await run.put_object("large", b"x" * 9_000_000)
        raise StageFailed("at last")

    @rollback("WORDY_ROLLBACK")
    async def undo(self, run: StageRun[Any]) -> None:
        """Undo nothing."""
        run.log.info("undone")
