"""The launcher at work: starts the agent, listens to it, to signals and to the clock, and does what `decide` says.

Everything it must know after its own death is in the record, written before it acts.
"""

import json
import os
import select
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from fairway.agent.launcher.child import HANDED_ON, Child
from fairway.agent.launcher.decide import (
    Ended,
    Leave,
    decide_end,
    decide_start,
    fallen_back,
    forgiven,
    in_use,
    ready_again,
    settled,
    wanted,
)
from fairway.agent.launcher.kernel import bury, command_lines, signals, taken
from fairway.agent.launcher.record import FILE, INSTALLED, Record, Trial, read_record, version_of, write_record

#: Seconds: for an agent that was told to make room, until it is made to; and after which one counts as steady.
_STOP, _STEADY = 60.0, 10.0
#: When the machine has no process to give.
_NO_PROCESS = 1.0
#: The kernel counts no further than some weeks; whoever is woken too early waits again.
_LONGEST_WAIT = 24 * 3600.0


class Launcher:
    """Keeps one agent running."""

    def __init__(self, versions: Path, lock: int, installed: str, arguments: list[str]) -> None:
        self._versions = versions
        self._lock = lock
        self._installed = installed
        self._arguments = arguments
        #: None before the first start.
        self._record = read_record(versions)
        self._child: Child | None = None
        self._key = INSTALLED
        #: The signal that was handed on to the child; it is the last child then.
        self._stopping = 0
        #: The child is to make room for the next one.
        self._restarting = False
        self._ready = False
        self._ever_ready = False
        self._in_a_row = 0
        self._started = 0.0
        #: When something is due: the next start, the end of patience, the end of a trial.
        self._due: float | None = None

    def run(self) -> int:
        """Keep the agent running until it is told to stop; how it ended."""
        woken = signals()
        self._start()
        while True:
            self._wait(woken)
            for number in taken(woken):
                if number in HANDED_ON:
                    self._hand_on(number)
            child = self._child
            if child is None:
                if self._stopping:
                    return 0
                if self._is_due():
                    self._start()
                continue
            # First whether it has ended, then what it has said: so its last words are heard.
            child.look()
            for line in child.heard():
                self._hear(line)
            if child.status is not None:
                left = self._child_ended(child)
                if left is not None:
                    return left
            elif self._is_due():
                self._time_is_up()
            bury(child.pid)

    def _start(self) -> None:
        there = {entry.name for entry in self._entries() if entry.is_dir()}
        start = decide_start(self._record, self._installed, there, int(time.time()))
        self._note(start.record)
        _say(start.reason)
        # While no agent runs that may just be bringing a version.
        self._tidy()
        self._key, self._ready, self._restarting = start.key, False, False
        self._started = time.monotonic()
        try:
            self._child = Child([*self._program(start.key), *self._arguments], self._lock)
        except OSError as error:
            _say(f"the machine does not let us start the agent ({error.strerror}); trying again")
            self._due = self._started + _NO_PROCESS
            return
        self._due = None if start.record.trial is None else self._started + start.record.trial.ready

    def _program(self, key: str) -> tuple[str, ...]:
        # A directory of a version has a __main__ that runs one of its modules.
        where = ("-m",) if key == INSTALLED else (str(self._versions / key),)
        return (sys.executable, *where, "fairway.cli")

    def _wait(self, woken: int) -> None:
        """Until a signal came, the child has said something or ended, or something is due."""
        poll = select.poll()
        poll.register(woken, select.POLLIN)
        if self._child is not None:
            poll.register(self._child.handle, select.POLLIN)
            if not self._child.silent:
                poll.register(self._child.pipe, select.POLLIN)
        left = 0.0 if self._due is None else max(0.0, self._due - time.monotonic())
        poll.poll(None if self._due is None else min(left, _LONGEST_WAIT) * 1000 + 1)

    def _is_due(self) -> bool:
        return self._due is not None and time.monotonic() >= self._due

    def _hand_on(self, number: int) -> None:
        self._stopping = number
        self._due = None
        if self._child is not None:
            self._child.signal(number)

    def _hear(self, line: bytes) -> None:
        said = _understood(line)
        key = said.get("switch")
        if said.get("ready"):
            self._is_ready()
        if said.get("restart"):
            self._note(forgiven(self._known))
            self._make_room()
        if isinstance(key, str):
            trial = Trial(key, 0, float(said.get("ready_seconds", 120)), float(said.get("settle_seconds", 30)))
            # What is not written down is not begun: after a power cut nobody would know how often it was tried.
            before = self._record
            if self._note(wanted(self._known, trial)):
                _say(f"the agent makes room for {version_of(key, self._installed)}")
                self._make_room()
            else:
                self._record = before

    def _is_ready(self) -> None:
        if self._ready or self._restarting:
            return
        self._ready = self._ever_ready = True
        trial, now = self._known.trial, time.monotonic()
        if trial is not None:
            self._due = now + trial.settle
        else:
            self._note(ready_again(self._known, now - self._started))

    def _make_room(self, seconds: float = _STOP) -> None:
        if self._child is not None and not self._stopping:
            self._restarting = True
            self._child.signal(signal.SIGTERM)
            self._due = time.monotonic() + seconds

    def _time_is_up(self) -> None:
        self._due = None
        if self._child is None:
            return
        trial = self._known.trial
        if self._restarting or trial is None:
            self._child.signal(signal.SIGKILL)
        elif self._ready:
            self._note(settled(self._known))
            _say(f"{version_of(self._key, self._installed)} is healthy and stays")
        else:
            reason = f"it was not ready within {trial.ready:g}s"
            self._note(fallen_back(self._known, reason, int(time.time()), trial.ready))
            _say(f"{version_of(self._key, self._installed)} is left: {reason}")
            self._make_room(min(_STOP, trial.ready))

    def _child_ended(self, child: Child) -> int | None:
        """What follows; a status to leave with, or None."""
        child.close()
        steady = self._ready and time.monotonic() - self._started > _STEADY
        self._in_a_row = 1 if steady else self._in_a_row + 1
        self._child = None
        status = child.status or 0
        ended = Ended(status, bool(self._stopping), self._restarting, self._ever_ready, self._in_a_row)
        then = decide_end(self._known, ended, int(time.time()))
        self._note(then.record)
        if isinstance(then, Leave):
            return then.status
        _say(then.reason)
        self._due = time.monotonic() + then.seconds
        return None

    @property
    def _known(self) -> Record:
        return self._record or Record(self._installed)

    def _note(self, record: Record) -> bool:
        """Write down what is known now; whether the disk has taken it."""
        if record == self._record:
            return True
        try:
            write_record(self._versions, record)
        except OSError as error:
            _say(f"what is known of versions cannot be written to {self._versions} ({error.strerror})")
            return False
        finally:
            self._record = record
        return True

    def _tidy(self) -> None:
        """Remove versions that nobody needs; what a process still runs from stays, until a later time."""
        needed = in_use(self._known)
        left = [entry for entry in self._entries() if entry.name not in {*needed, FILE}]
        if not left:
            return
        # Seldom needed, and not to be kept by everybody.
        import shutil

        running = command_lines()
        for entry in left:
            if entry.is_dir() and os.fsencode(entry.path) not in running:
                shutil.rmtree(entry.path, ignore_errors=True)
            elif entry.is_file():
                with suppress(OSError):
                    os.remove(entry.path)

    def _entries(self) -> list[os.DirEntry[str]]:
        with suppress(OSError):
            return list(os.scandir(self._versions))
        return []


def _understood(line: bytes) -> dict[str, Any]:
    try:
        said = json.loads(line)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def _say(sentence: str) -> None:
    if sentence:
        sys.stderr.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} launcher: {sentence}\n")
        sys.stderr.flush()
