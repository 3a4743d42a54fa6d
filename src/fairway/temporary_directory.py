"""Directories for as long as a process needs them: sockets, whose paths must be short, and private files of tools.

Whoever is killed leaves his behind, perhaps with a login in it. So each is locked by the process that has made it, and
a process that makes its first one removes those that nobody holds any more.
"""

import fcntl
import functools
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PREFIX = "fairway-now-"


@contextmanager
def temporary_directory() -> Iterator[Path]:
    """A directory that nobody else can look into, while the block lasts."""
    place = Path(tempfile.gettempdir())
    _sweep(place)
    directory, lock = _made(place)
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)
        os.close(lock)


def _made(place: Path) -> tuple[Path, int]:
    while True:
        directory = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=place))
        # Somebody who sweeps may have found it before it was held.
        with suppress(FileNotFoundError, BlockingIOError):
            held = _opened(directory)
            try:
                _lock(held)
                directory.lstat()
            except (FileNotFoundError, BlockingIOError):
                os.close(held)
                raise
            except OSError:
                pass  # a file system without locks, where nobody who sweeps gets one either
            return directory, held


@functools.cache
def _sweep(place: Path) -> None:
    """Remove what was left behind; what cannot be locked or removed is somebody else's."""
    for left in place.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            held = _opened(left)
            try:
                _lock(held)
                shutil.rmtree(left, ignore_errors=True)
            finally:
                os.close(held)


def _opened(directory: Path) -> int:
    return os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)


def _lock(opened: int) -> None:
    """Hold it as long as this process lives; BlockingIOError where somebody else does."""
    fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
