"""Processes that may outlive whoever started them: known again by number and start, or by a mark in their environment.

A number alone is nobody's: the kernel gives it to a stranger some day. Nothing here signals a process whose start is
not the one that was written down.
"""

import contextlib
import os
import signal
from pathlib import Path

from fairway.plugins.process.records import Identity

#: Carries the id of an instance in its environment.
MARK = "FAIRWAY_INSTANCE"


def identity_of(pid: int) -> Identity | None:
    """Who has that number now, also when it has ended and nobody has asked for its exit status yet."""
    found = _stat(pid)
    return None if found is None else Identity(pid, f"{_boot()}/{found[_BEGAN]}")


def is_alive(process: Identity | None) -> bool:
    """Whether that very process still runs."""
    if process is None or identity_of(process.pid) != process:
        return False
    found = _stat(process.pid)
    return found is not None and found[_STATE] not in {"Z", "X"}


def find_marked(instance_id: str) -> Identity | None:
    """The process that was started for an instance, where only its mark tells; the first of its session."""
    wanted = f"{MARK}={instance_id}".encode()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        # Others' processes cannot be read, and are not ours.
        with contextlib.suppress(OSError):
            pid = int(entry.name)
            if wanted in (entry / "environ").read_bytes().split(b"\0") and os.getsid(pid) == pid:
                return identity_of(pid)
    return None


def signal_group(process: Identity, number: signal.Signals) -> None:
    """Signal the process and all that it has started, if it is still the one."""
    if is_alive(process):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)


#: Where state and start stand in what the kernel says of a process, behind its name.
_STATE, _BEGAN = 0, 19


def _stat(pid: int) -> list[str] | None:
    try:
        # The name may be any bytes, parentheses too.
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
