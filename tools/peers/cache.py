"""Where peers are kept between runs, shared by every working copy of this user, one builder of each at a time."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def cache() -> Path:
    """The folder."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "fairway" / "peers"


@contextmanager
def locked(name: str) -> Iterator[None]:
    """Whoever else holds the lock is waited for; one who was killed holds it no longer."""
    cache().mkdir(parents=True, exist_ok=True)
    with (cache() / f".{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
