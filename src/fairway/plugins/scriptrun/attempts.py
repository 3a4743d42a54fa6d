"""How a script ended, in words, and whether it is run again. Decisions alone; who runs it is `plugin`."""

from collections.abc import Sequence

import msgspec

from fairway.config.stages import ScriptRunOptions
from fairway.model.stage import StageStatus
from fairway.sdk import Outcome

#: How often a script is run again that somebody else has ended; more often would be a loop.
MOST_INTERRUPTIONS = 3


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a script that has ended."""

    #: As the shell says it; None for a script that was ended from outside, with the one who waited for it.
    status: int | None
    seconds: float = 0.0
    #: Which of several commands ran last; 0 where nobody counts.
    step: int = 0


def runs_again(attempts: Sequence[Attempt], options: ScriptRunOptions) -> bool:
    """Whether the script is to be run once more."""
    last = attempts[-1].status
    if last == 0:
        return False
    if last is None:
        interrupted = sum(each.status is None for each in attempts)
        return options.on_interrupted == "run-again" and interrupted <= MOST_INTERRUPTIONS
    return sum(each.status is not None for each in attempts) <= options.retry


def in_words(attempt: Attempt, commands: int) -> str:
    """How it ended."""
    if attempt.status is None:
        return "the script was killed before it could end; whether its work was done is not known"
    if attempt.status == 0:
        return f"exit status 0 after {attempt.seconds:.1f}s"
    which = f"command {attempt.step} of {commands} failed" if commands > 1 and attempt.step else "it failed"
    # The shell tells a signal by a number above 128; a command may also end with such a number itself.
    how = f"ended by signal {attempt.status - 128}" if attempt.status > 128 else f"exit status {attempt.status}"
    return f"{which}: {how} after {attempt.seconds:.1f}s"


def outcome(attempts: Sequence[Attempt], commands: int) -> Outcome:
    """The result of a stage whose script was run so often."""
    status = StageStatus.SUCCEEDED if attempts[-1].status == 0 else StageStatus.FAILED
    tries = f" (attempt {len(attempts)})" if len(attempts) > 1 else ""
    return Outcome(status, in_words(attempts[-1], commands) + tries)
