"""The directory a mirror lives in: who owns it, what a killed process may have left in it, how it is replaced.

One process owns a mirror through an advisory lock beside it. Git's own children inherit the lock, so that a fetch which
outlived a killed agent is waited for instead of being disturbed. Under the lock, whatever looks unfinished is garbage.
"""

import asyncio
import fcntl
import os
import shutil
from pathlib import Path

from fairway.git.errors import GitLocalError

_LOOK_AGAIN = 0.1


class MirrorStore:
    """The paths of one mirror; `acquire` before touching them."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory = Path(os.path.abspath(directory))
        self.unfinished = directory.with_name(directory.name + ".new")
        self._replaced = directory.with_name(directory.name + ".old")
        self._lock_file = directory.with_name(directory.name + ".lock")
        self._lock: int | None = None

    async def acquire(self, patience: float) -> int:
        """Take the lock; returns the descriptor that children of git inherit."""
        self._lock_file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self._lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            async with asyncio.timeout(patience):
                while not _try_lock(descriptor):  # noqa: ASYNC110 - the lock is another process's: no event tells
                    await asyncio.sleep(_LOOK_AGAIN)
        except TimeoutError as error:
            os.close(descriptor)
            raise GitLocalError(
                f"the mirror {self.directory} is used by another process; end it, or give each its own directory"
            ) from error
        except BaseException:
            os.close(descriptor)
            raise
        self._lock = descriptor
        return descriptor

    def release(self) -> None:
        """Give the lock back."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def sweep(self) -> None:
        """Remove what a killed process may have left: half a mirror, an old one, lock and temporary files."""
        for leftover in (self.unfinished, self._replaced, self.directory / "refs" / "fairway"):
            shutil.rmtree(leftover, ignore_errors=True)
        if not self.directory.is_dir():
            return
        for pattern in ("*.lock", "refs/**/*.lock", "logs/**/*.lock", "objects/pack/tmp_*", "objects/**/tmp_obj_*"):
            for file in self.directory.glob(pattern):
                file.unlink(missing_ok=True)
        (self.directory / "gc.pid").unlink(missing_ok=True)

    def looks_whole(self) -> bool:
        """Whether there is something that git could open."""
        return all((self.directory / name).exists() for name in ("HEAD", "objects", "refs", "config"))

    def install(self) -> None:
        """Put the finished new mirror in the place of the old one."""
        shutil.rmtree(self._replaced, ignore_errors=True)
        if self.directory.exists():
            self.directory.rename(self._replaced)
        self.unfinished.rename(self.directory)
        shutil.rmtree(self._replaced, ignore_errors=True)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
