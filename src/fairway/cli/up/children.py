"""Processes that are kept running while we run, and end with us, however we end.

Each child has a session of its own, so that Ctrl-C reaches us alone and we decide who stops first. A child that ends is
started again, later each time that it does not hold; when we are killed, the system asks it to stop. Processes that
children leave behind on purpose become ours, so that everything we started can be ended, and nothing else.
"""

import ctypes
import os
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from fairway.cli.up.patience import Patience

#: Seconds after which a child that still runs counts as well.
_STEADY = 10.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 10.0
#: Numbers of prctl(2).
_SET_PARENT_DEATH_SIGNAL, _SET_CHILD_SUBREAPER = 1, 36
_libc = ctypes.CDLL(None)


class Child:
    """One process that is kept running."""

    def __init__(self, name: str, command: Sequence[str | Path], log: Path) -> None:
        self.name = name
        self.log = log
        self._command = list(map(str, command))
        self._stopping = threading.Event()
        self._starting = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        #: How often in a row it has ended soon after its start.
        self.failures = 0
        # The system takes the thread that starts a process for its parent, so one thread does it, and stays.
        self._keeper = threading.Thread(target=self._keep, name=name, daemon=True)

    @property
    def pid(self) -> int | None:
        """The process as it is now; None before it was started."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start it, and start it again whenever it ends."""
        self._keeper.start()

    def ask_to_stop(self) -> None:
        """Do not start it again, and ask it to end."""
        self._stopping.set()
        with self._starting:
            if self._process is not None:
                self._process.terminate()

    def ended(self, patience: Patience, seconds: float) -> None:
        """Wait for its end; it is made to end after that time."""
        with self._starting:
            process = self._process
        if process is None:
            return
        patience.wait_while(lambda: process.poll() is None, seconds)
        if process.poll() is None:
            process.kill()
            process.wait()

    def last_words(self, lines: int = 5) -> str:
        """The end of what it has said."""
        with suppress(OSError):
            return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])
        return ""

    def _keep(self) -> None:
        while True:
            with self._starting:
                if self._stopping.is_set():
                    return
                began, process = time.monotonic(), self._start()
                self._process = process
            process.wait()
            self.failures = 1 if time.monotonic() - began > _STEADY else self.failures + 1
            self._stopping.wait(min(_FIRST_PAUSE * 2 ** min(self.failures - 1, 60), _LONGEST_PAUSE))

    def _start(self) -> subprocess.Popen[bytes]:
        said = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            return subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
                preexec_fn=partial(_end_with, os.getpid()),  # noqa: PLW1509 - system calls; they take no lock
            )
        finally:
            os.close(said)


def _end_with(parent: int) -> None:
    _libc.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM)
    if os.getppid() != parent:
        # It was killed before we could ask for that.
        os._exit(1)


def inherit_orphans() -> None:
    """Become the parent of whatever our children leave behind."""
    _libc.prctl(_SET_CHILD_SUBREAPER, 1)


def end_orphans(patience: Patience, seconds: float) -> None:
    """End what children have left behind: asked first, made to after that time.

    Call it when no child runs any more: whatever is ours then is an orphan, and so is what an orphan leaves behind.
    """
    number = signal.SIGTERM
    while left := orphans():
        _ask(left, number)
        patience.wait_while(orphans, seconds)
        number = signal.SIGKILL


def interrupt(pids: Sequence[int]) -> None:
    """End groups, their leaders first and without a word: so a leader that notes how the others end notes nothing."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            os.killpg(pid, signal.SIGTERM)


def orphans(among_arguments: bytes | None = None) -> list[int]:
    """Our children that still run, perhaps only those with this argument; those that have ended are forgotten."""
    left = [pid for pid in _children() if not _reaped(pid)]
    return left if among_arguments is None else [pid for pid in left if among_arguments in _arguments(pid)]


def bury_orphans(ours: Sequence[Child], seconds: float = 2.0) -> None:
    """From now on forget orphans that have ended, so that nobody takes them for running."""

    def bury() -> None:
        known: set[int] = set()
        while True:
            time.sleep(seconds)
            children = set(_children()) - {child.pid for child in ours if child.pid is not None}
            # A child that is just being started is not among `ours` yet; it will be by the next time.
            for pid in children & known:
                _reaped(pid)
            known = children

    threading.Thread(target=bury, name="orphans", daemon=True).start()


def _arguments(pid: int) -> list[bytes]:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    return []


def _children() -> list[int]:
    us = os.getpid()
    return [int(entry.name) for entry in os.scandir("/proc") if entry.name.isdigit() and _parent(entry.path) == us]


def _parent(process: str) -> int:
    with suppress(OSError):
        # The name of the program stands in parentheses and may hold anything; the parent is the second field after it.
        return int(Path(process, "stat").read_bytes().rpartition(b")")[2].split()[1])
    return 0


def _reaped(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG) != (0, 0)
    except ChildProcessError:
        return True


def _ask(pids: Sequence[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            # One that leads a group answers for all of it.
            if os.getpgid(pid) == pid:
                os.killpg(pid, number)
            else:
                os.kill(pid, number)
