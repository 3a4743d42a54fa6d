"""How a script ended, in words, and whether it is run again. Decisions alone; who runs it is `plugin`."""

import signal
from collections.abc import Sequence
from contextlib import suppress

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
    """How it ended: exit status or signal, and after which time."""
    if attempt.status is None:
        return "the script was killed before it could end; whether its work was done is not known"
    which = f"command {attempt.step} of {commands} failed: " if attempt.status and commands > 1 and attempt.step else ""
    return f"{which}{_end(attempt.status)} after {attempt.seconds:.1f}s"


def _end(status: int) -> str:
    ended_by = _signal(status)
    return f"exit status {status}" if ended_by is None else f"ended by signal {ended_by.value} ({ended_by.name})"


def _signal(status: int) -> signal.Signals | None:
    # The shell tells a signal by a number above 128; a command may also end with such a number itself.
    with suppress(ValueError):
        return signal.Signals(status - 128)
    return None


def outcome(attempts: Sequence[Attempt], commands: int) -> Outcome:
    """The result of a stage whose script was run so often."""
    status = StageStatus.SUCCEEDED if attempts[-1].status == 0 else StageStatus.FAILED
    tries = f" (attempt {len(attempts)})" if len(attempts) > 1 else ""
    return Outcome(status, in_words(attempts[-1], commands) + tries, notes(attempts))


def notes(attempts: Sequence[Attempt]) -> dict[str, str]:
    """How the script ended, for programs: its exit status as the shell says it, the signal that ended it, its seconds,
    and how often it was run. Of one that was killed with the one who waited for it, only the last is known."""
    last, found = attempts[-1], {"fairway/attempts": str(len(attempts))}
    if last.status is None:
        return found
    found |= {"fairway/exit-status": str(last.status), "fairway/seconds": f"{last.seconds:.3f}"}
    ended_by = _signal(last.status)
    return found if ended_by is None else {**found, "fairway/signal": ended_by.name}
