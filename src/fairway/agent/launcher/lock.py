"""One agent at a time works with one data directory.

The lock belongs to the launcher and to the agent below it, and is free when both are gone, however they ended. Whoever
comes second waits: it is usually the next one, and the one before is just going.
"""

import fcntl
import os
import sys
from pathlib import Path


def locked(data: Path) -> int:
    """The lock, once it is ours; it is held while the descriptor is open."""
    lock = os.open(data / "agent.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.stderr.write(f"fairway: another agent works with {data}; waiting for its end\n")
        sys.stderr.flush()
        fcntl.flock(lock, fcntl.LOCK_EX)
    return lock
