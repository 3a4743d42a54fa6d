"""Which process is which: a number alone is given to another process later, a number with its start time never is.

An agent notes the processes it has started in a file; the next one ends what is left of them when the agent that
started them is gone, and nothing else.
"""

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping
from pathlib import Path

import msgspec
import structlog

_log = structlog.get_logger()

#: How long a process may take to leave before it is made to.
LEAVE_SECONDS = 10.0


class Identity(msgspec.Struct, frozen=True):
    """One process, now and for ever."""

    pid: int
    #: In ticks since the machine started.
    started: int

    @property
    def is_alive(self) -> bool:
        """Whether it still runs."""
        return identity_of(self.pid) == self


class Running(msgspec.Struct, frozen=True):
    """What an agent has started, as its file says."""

    agent: Identity
    #: By the name of the plugin, or of the host of several.
    processes: dict[str, Identity] = {}


def identity_of(pid: int) -> Identity | None:
    """The process of that number, if there is one that has not ended."""
    fields = _stat(pid)
    return None if fields is None or fields[0] in {"Z", "X"} else Identity(pid, int(fields[19]))


def memory_of(pid: int) -> int:
    """How many bytes of memory a process has; 0 when it is gone."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def group_of(leader: Identity) -> list[int]:
    """Who is in the process group that a process led: also when it is gone itself, but not when another has its
    number."""
    return _led_by(leader, _GROUP)


def session_of(leader: Identity) -> list[int]:
    """Who is in the session that a process led; its children are, unless they begin one of their own."""
    return _led_by(leader, _SESSION)


async def end_group(leader: Identity, grace: float = LEAVE_SECONDS) -> None:
    """End a process and all that it started and left in its group."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if not group_of(leader):
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(leader.pid, number)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(grace):
                while group_of(leader):  # noqa: ASYNC110  # nobody tells when the last of a group has ended
                    await asyncio.sleep(0.02)


class RunningFile:
    """The file in which an agent notes what it has started."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._processes: dict[str, Identity] = {}

    def note(self, name: str, identity: Identity | None) -> None:
        """A process runs now; None: it does not any more."""
        self._processes.pop(name, None)
        if identity is not None:
            self._processes[name] = identity
        agent = identity_of(os.getpid())
        if agent is None:
            return
        try:
            write_file(self._path, msgspec.json.encode(Running(agent, self._processes)))
        except OSError as error:
            # Such as a full disk. What is not noted runs all the same, and the kernel ends it with its agent.
            _log.warning("which plugins run cannot be noted", file=str(self._path), reason=str(error))

    async def end_leftovers(self, grace: float = LEAVE_SECONDS) -> None:
        """End what an earlier agent has left behind; an agent that lives keeps what is its own."""
        left = self._read()
        if left is None:
            return
        if left.agent.is_alive and left.agent.pid != os.getpid():
            _log.warning("another agent uses the same data; its plugins are left alone", pid=left.agent.pid)
            return
        await asyncio.gather(*(end_group(each, grace) for each in _alive(left.processes).values()))

    def _read(self) -> Running | None:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=Running)
        except FileNotFoundError:
            return None
        except (OSError, msgspec.DecodeError) as error:
            _log.warning("what an earlier agent has started is not known", file=str(self._path), reason=str(error))
            return None


def write_file(path: Path, content: bytes) -> None:
    """Write a private file whole or not at all."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    unfinished.rename(path)


def _alive(processes: Mapping[str, Identity]) -> dict[str, Identity]:
    left = {name: each for name, each in processes.items() if group_of(each)}
    for name, each in left.items():
        _log.warning("a plugin of an earlier agent still runs; it is ended", plugin=name, pid=each.pid)
    return left


#: Where the kernel's line about a process has its group and its session.
_GROUP, _SESSION = 2, 3


def _led_by(leader: Identity, field: int) -> list[int]:
    now = identity_of(leader.pid)
    if now is not None and now != leader:
        return []
    found = []
    for entry in os.listdir("/proc"):
        fields = _stat(int(entry)) if entry.isdecimal() else None
        if fields is not None and int(fields[field]) == leader.pid and fields[0] not in {"Z", "X"}:
            found.append(int(entry))
    return found


def _stat(pid: int) -> list[str] | None:
    """What the kernel says of a process, from its state on."""
    try:
        # A name may be any bytes.
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    return text.rpartition(")")[2].split()
