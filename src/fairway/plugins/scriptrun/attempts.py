"""How a script ended, in words, and whether it is run again. Pure decisions; `plugin` runs the script."""

import signal
from collections.abc import Sequence
from contextlib import suppress

import msgspec

from fairway.config.stages import ScriptRunOptions
from fairway.model.stage import StageStatus
from fairway.plugins.scriptrun.tree import in_words as processes_in_words
from fairway.sdk import Outcome

#: How often an interrupted script is run again at most.
MOST_INTERRUPTIONS = 3


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a script that has ended."""

    #: As the shell says it; None when it was not recorded.
    status: int | None
    seconds: float = 0.0
    #: Which of several commands ran last; 0 for a single script.
    step: int = 0
    #: Why the end does not tell how the script would have ended; empty when it ended by itself.
    interruption: str = ""
    #: The names of processes of the script that outlived SIGTERM and got SIGKILL.
    killed: tuple[str, ...] = ()
    #: After how many seconds that was.
    killed_after: float = 0.0

    @property
    def was_interrupted(self) -> bool:
        """Whether it is not known how the script would have ended."""
        return self.status is None or bool(self.interruption)


def runs_again(attempts: Sequence[Attempt], options: ScriptRunOptions) -> bool:
    """Whether the script is to be run once more."""
    last = attempts[-1]
    if last.was_interrupted:
        interrupted = sum(each.was_interrupted for each in attempts)
        return options.on_interrupted == "run-again" and interrupted <= MOST_INTERRUPTIONS
    if last.status == 0:
        return False
    return sum(not each.was_interrupted for each in attempts) <= options.retry


def in_words(attempt: Attempt, commands: int) -> str:
    """How it ended: exit status or signal, after which time, and what is not known."""
    if attempt.was_interrupted:
        cause = attempt.interruption or "the end of the script was not recorded"
        end = "" if attempt.status is None else f"; {_ended(attempt, commands)}"
        return f"interrupted: {cause}{end}; whether its work was done is not known"
    return _ended(attempt, commands)


def _ended(attempt: Attempt, commands: int) -> str:
    status = attempt.status or 0
    which = f"command {attempt.step} of {commands} failed: " if status and commands > 1 and attempt.step else ""
    return f"{which}{_end(status)} after {attempt.seconds:.1f}s{_killed(attempt)}"


def _killed(attempt: Attempt) -> str:
    """Which processes outlived SIGTERM. The status of a shell that did too says it already."""
    if not attempt.killed or attempt.status == 128 + signal.SIGKILL:
        return ""
    return f"; SIGKILL after {attempt.killed_after:.1f}s for {processes_in_words(attempt.killed)}"


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
    last = attempts[-1]
    well = last.status == 0 and not last.was_interrupted
    status = StageStatus.SUCCEEDED if well else StageStatus.FAILED
    tries = f" (attempt {len(attempts)})" if len(attempts) > 1 else ""
    return Outcome(status, in_words(attempts[-1], commands) + tries, notes(attempts))


def notes(attempts: Sequence[Attempt]) -> dict[str, str]:
    """How the script ended, for programs: its exit status as the shell says it, the signal that ended it, its seconds,
    and how often it was run. Of a script whose end was not recorded, only the last is known."""
    last, found = attempts[-1], {"fairway/attempts": str(len(attempts))}
    if last.status is None:
        return found
    found |= {"fairway/exit-status": str(last.status), "fairway/seconds": f"{last.seconds:.3f}"}
    ended_by = _signal(last.status)
    return found if ended_by is None else {**found, "fairway/signal": ended_by.name}
