"""What the launcher does next: pure functions from what it knows to what it does, each with its reason.

A version is on trial from the moment it is wanted until it has been ready for its settling time. Whatever happens in
between, kill -9 of anything included, `current` names a version that has been healthy, and that is what is run when the
trial ends badly.
"""

import signal
from collections.abc import Container
from typing import NamedTuple

from fairway.agent.launcher.record import INSTALLED, Failure, Record, Trial, version_of

#: A version on trial may be ended by others so often, and by itself; then it is not tried again.
MOST_STARTS = 3
#: How many failures are remembered.
_REMEMBERED = 8
#: Seconds between two starts of something that does not hold.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 30.0


class Start(NamedTuple):
    """Which version is started now."""

    #: To be written down before the start.
    record: Record
    key: str
    #: Why it is another than the one before; empty when there is nothing to say.
    reason: str = ""


class Ended(NamedTuple):
    """How the agent's process ended, and in which circumstances."""

    #: Its exit status; the number of a signal, negative.
    status: int
    #: Somebody has told the launcher to stop.
    stopping: bool = False
    #: It was ended, or has ended itself, in order to be started again.
    restarting: bool = False
    #: An agent of this launcher has been ready.
    ever_ready: bool = False
    #: How often in a row one has ended soon after its start.
    in_a_row: int = 0


class Leave(NamedTuple):
    """The launcher ends as the agent did."""

    #: To be written down before that.
    record: Record
    status: int


class StartAgain(NamedTuple):
    """The agent is started again after a pause."""

    #: To be written down before that.
    record: Record
    seconds: float = 0.0
    reason: str = ""


def decide_start(record: Record | None, installed: str, there: Container[str], now: int) -> Start:
    """The version to start: the one on trial as long as it may be tried, else the last healthy one that is there."""
    if record is None:
        return Start(Record(installed), INSTALLED)
    if record.installed != installed:
        # Whoever installs another version on the machine means it.
        reason = f"{installed} was installed where {record.installed} was; it is run"
        return Start(Record(installed, failures=record.failures), INSTALLED, reason)
    trial = record.trial
    if trial is not None and (trial.key == INSTALLED or trial.key in there):
        if trial.starts < MOST_STARTS:
            tried = record._replace(trial=trial._replace(starts=trial.starts + 1))
            return Start(tried, trial.key, f"{version_of(trial.key, installed)} is tried")
        return _healthy(fallen_back(record, f"it was started {MOST_STARTS} times and never became healthy", now), there)
    if trial is not None:
        return _healthy(fallen_back(record, "its files are gone", now), there)
    return _healthy(record, there)


def _healthy(record: Record, there: Container[str]) -> Start:
    for key in (record.current, record.previous):
        if key is not None and (key == INSTALLED or key in there):
            break
    else:
        key = INSTALLED
    reason = "" if key == record.current else f"the files of {version_of(record.current, record.installed)} are gone"
    previous = record.previous if key == record.current else None
    return Start(record._replace(current=key, previous=previous), key, reason)


def decide_end(record: Record, ended: Ended, now: int) -> Leave | StartAgain:
    """What follows when the agent's process has ended."""
    if ended.stopping:
        # Nobody learns anything about a version from an agent that was told to stop.
        trial = record.trial and record.trial._replace(starts=max(0, record.trial.starts - 1))
        return Leave(record._replace(trial=trial), ended.status)
    if ended.restarting:
        return StartAgain(record)
    how = in_words(ended.status)
    if record.trial is not None:
        if record.trial.starts >= MOST_STARTS:
            reason = f"it {how} before it was healthy, {record.trial.starts} times in a row"
            return StartAgain(fallen_back(record, reason, now), reason=reason)
        return StartAgain(record, _pause(record.trial.starts), f"the agent on trial {how}")
    if ended.status == 0 or (ended.status > 0 and not ended.ever_ready):
        # Told to stop by somebody else; or it cannot start, and has said why.
        return Leave(record, ended.status)
    return StartAgain(record, _pause(ended.in_a_row), f"the agent {how}")


def wanted(record: Record, trial: Trial) -> Record:
    """Another version is wanted: it is on trial, unless it is the one that runs."""
    return record._replace(trial=None if trial.key == record.current else trial)


def settled(record: Record) -> Record:
    """The version on trial is healthy."""
    if record.trial is None:
        return record
    failures = tuple(each for each in record.failures if each.key != record.trial.key)
    return record._replace(current=record.trial.key, previous=record.current, trial=None, failures=failures)


def fallen_back(record: Record, reason: str, now: int, unproven: float = 0.0) -> Record:
    """The version on trial is left, and not tried again."""
    if record.trial is None:
        return record
    others = tuple(each for each in record.failures if each.key != record.trial.key)
    # Excused once is enough: on a machine that is always slow the two would take turns for ever.
    again = len(others) < len(record.failures)
    failure = Failure(record.trial.key, reason, now, 0.0 if again else unproven)
    return record._replace(trial=None, failures=(*others, failure)[-_REMEMBERED:])


def ready_again(record: Record, seconds: float) -> Record:
    """The version that was fallen back to is ready after so many seconds. In the time that the other one had: that one
    was to blame. Later: something else was, such as a server that was away, and the other one may be tried again, once.
    """
    judged = (
        each._replace(unproven=0.0, excused=each.excused or 0 < each.unproven < seconds) for each in record.failures
    )
    return record._replace(failures=tuple(judged))


def forgiven(record: Record) -> Record:
    """Somebody asked for a restart: what has failed may be tried again."""
    return record._replace(failures=())


def in_use(record: Record) -> frozenset[str]:
    """The versions whose files are still needed: never more than two."""
    other = record.trial.key if record.trial else record.previous
    return frozenset(key for key in (record.current, other) if key)


def in_words(status: int) -> str:
    """How a process ended."""
    if status >= 0:
        return f"ended with status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"


def _pause(in_a_row: int) -> float:
    return min(_FIRST_PAUSE * 2.0 ** max(0, min(in_a_row, 16) - 1), _LONGEST_PAUSE)
