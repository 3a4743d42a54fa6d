"""The data directory of an agent: one agent at a time, and who that was before.

Whoever has the lock knows for certain that those who had it before do nothing any more. So an agent that comes back,
even after a kill -9, need not wait until the lease of its own predecessor has run out. A directory that was copied to
another machine is no proof of that, and there the names in it count for nothing.
"""

import contextlib
import fcntl
import os
import platform
from collections.abc import Iterator
from pathlib import Path

import msgspec

from fairway.agent.plugins.identity import write_file
from fairway.errors import UserError

#: Only the last few can matter: each agent that is at work forgets all but itself.
_MOST_HOLDERS = 20
#: What may hold the content of private repositories; the directory that all is in may be somebody else's making.
_PRIVATE = ("mirrors", "work", "tools")


class DataInUse(UserError):
    """A data directory that another agent works with."""


class Holders(msgspec.Struct, frozen=True, kw_only=True):
    """Under which names agents with this data have asked for the lease, and how far they got."""

    machine: str
    #: The newest comes last.
    names: tuple[str, ...] = ()
    #: The highest token that one of them was given.
    fencing_token: int = 0


@contextlib.contextmanager
def own_data(data: Path) -> Iterator[None]:
    """Work with the directory alone; DataInUse, at once, while another agent does."""
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = os.open(data / "at-work.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            pid = os.pread(lock, 20, 0).decode(errors="replace").strip() or "unknown"
            raise DataInUse(
                f"another agent (pid {pid}) works with the data in {data}; stop it first, or choose another --data"
            ) from error
        _sign(lock)
        for name in _PRIVATE:
            _hide(data / name)
        yield
    finally:
        # The kernel lets go of it when the process ends in another way.
        os.close(lock)


def _hide(directory: Path) -> None:
    """Keep others from looking into it. A full disk keeps nobody from work."""
    with contextlib.suppress(OSError):
        directory.mkdir(mode=0o700, exist_ok=True)
        directory.chmod(0o700)


def _sign(lock: int) -> None:
    """Say in the file who has it, for whoever is refused. A full disk keeps nobody from work."""
    with contextlib.suppress(OSError):
        os.truncate(lock, os.pwrite(lock, f"{os.getpid()}\n".encode(), 0))


def read_holders(data: Path) -> Holders:
    """Who has worked with this data on this machine."""
    with contextlib.suppress(OSError, msgspec.DecodeError, msgspec.ValidationError):
        found = msgspec.json.decode(_path(data).read_bytes(), type=Holders)
        if found.machine == this_machine():
            return found
        return Holders(machine=this_machine(), fencing_token=found.fencing_token)
    return Holders(machine=this_machine())


def write_holders(data: Path, holders: Holders) -> None:
    """Remember them."""
    write_file(_path(data), msgspec.json.encode(msgspec.structs.replace(holders, names=holders.names[-_MOST_HOLDERS:])))


def this_machine() -> str:
    """By what this machine is told from others."""
    with contextlib.suppress(OSError):
        return f"{platform.node()} {Path('/etc/machine-id').read_text().strip()}"
    return platform.node()


def _path(data: Path) -> Path:
    return data / "holders.json"
