"""The processes of a script, in whichever process group or session, and how they are ended.

A process belongs to a script when it carries the script's mark in its environment, is in the process group of its
keeper, or descends from such a process. Out of reach is a process that cleared its environment, left the session and
lost its parent; and what another program starts for the script, such as systemd or Docker.
"""

import asyncio
import contextlib
import os
import signal
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

#: The environment variable with the directory of the journal. The guard looks for the same.
MARK = "FAIRWAY_SCRIPT"
#: How long processes that got SIGKILL are waited for: they are gone as soon as the kernel has time for them.
_DYING_SECONDS = 10.0
_FIRST_LOOK_SECONDS, _LOOK_SECONDS = 0.005, 0.1


def mark(journal: Path) -> dict[str, str]:
    """The variable that marks the processes of a script."""
    # The slash ends the name: "stage-0-1" is not "stage-0-10".
    return {MARK: f"{journal}/"}


class Process(NamedTuple):
    """A process that lives."""

    parent: int
    group: int
    name: str


class Ended(NamedTuple):
    """What was ended."""

    #: The names of the processes that were there.
    names: tuple[str, ...] = ()
    #: The names of those that got SIGKILL because they outlived SIGTERM.
    killed: tuple[str, ...] = ()
    #: The age of the script when the last of them was gone, in seconds.
    after: float = 0.0


class Tree:
    """The processes of the script of one journal, without its keeper."""

    def __init__(self, journal: Path, keeper: int | None) -> None:
        self._mark = os.fsencode(f"{MARK}={journal}/")
        #: The keeper leads a process group, which may outlive it.
        self._keeper = keeper

    def is_empty(self) -> bool:
        """Whether no process with the mark lives, which is quicker to find out than the whole tree."""
        return not any(self._is_marked(pid) for pid in _pids() if pid != self._keeper)

    def processes(self) -> dict[int, str]:
        """The processes that live, by their names."""
        alive = {pid: process for pid in _pids() if (process := _read(pid)) is not None}
        ours = {
            pid
            for pid, process in alive.items()
            if process.group == self._keeper or process.parent == self._keeper or self._is_marked(pid)
        }
        while more := {pid for pid, process in alive.items() if process.parent in ours} - ours:
            ours |= more
        return {pid: alive[pid].name for pid in sorted(ours - {self._keeper, os.getpid()})}

    async def end(self, grace_seconds: float, asked: bool = False) -> Ended:
        """End them: SIGTERM to each, unless `asked` before, and SIGKILL to those that still live after that time."""
        found = await asyncio.to_thread(self.processes)
        if not asked:
            await asyncio.to_thread(self._terminate, found)
        left = await self._until_gone(grace_seconds)
        killed = left
        for _ in range(_looks(_DYING_SECONDS)):
            if not left:
                break
            _send(left, signal.SIGKILL)
            left = await self._until_gone(_LOOK_SECONDS)
        return Ended(tuple(found.values()), tuple(killed.values()))

    def _terminate(self, found: Iterable[int]) -> None:
        """Send SIGTERM once to each: a trap of the script must not run twice."""
        if self._keeper is None:
            _send(found, signal.SIGTERM)
            return
        outside = [pid for pid in found if (process := _read(pid)) is not None and process.group != self._keeper]
        # At once for the whole group, also for a process that is being forked. The keeper outlives SIGTERM.
        with contextlib.suppress(OSError):
            os.killpg(self._keeper, signal.SIGTERM)
        _send(outside, signal.SIGTERM)

    async def _until_gone(self, seconds: float) -> dict[int, str]:
        """The processes that live after that time; none as soon as none does."""
        waited, pause = 0.0, _FIRST_LOOK_SECONDS
        while left := await asyncio.to_thread(self.processes):
            if waited >= seconds:
                break
            await asyncio.sleep(pause)
            waited, pause = waited + pause, min(pause * 2, _LOOK_SECONDS)
        return left

    def _is_marked(self, pid: int) -> bool:
        with contextlib.suppress(OSError):
            return self._mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        return False


def in_words(names: Iterable[str]) -> str:
    """Processes as people read them: how many, and of which name."""
    counted = Counter(names)
    each = ", ".join(name if number == 1 else f"{name} ({number})" for name, number in sorted(counted.items()))
    total = counted.total()
    return f"{total} process{'es' * (total != 1)}: {each}"


def _looks(seconds: float) -> int:
    return int(seconds / _LOOK_SECONDS)


def _pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _read(pid: int) -> Process | None:
    """A process; None when it is gone, or dead and not yet reaped."""
    with contextlib.suppress(OSError, ValueError):
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
        state, parent, group = text.rpartition(")")[2].split()[:3]
        return None if state in "ZX" else Process(int(parent), int(group), text.partition("(")[2].rpartition(")")[0])
    return None


def _send(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, number)
