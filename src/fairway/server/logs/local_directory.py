"""Log objects as files of a directory, on disk before they are acknowledged.

A file is written whole under `.unfinished/`, synced, and only then linked to its name, so that a half-written object
cannot be seen; the folders that lead to it are synced too, because a file is lost with the entry that names it. Those
above the nearest one are synced for its first file only: from then on they name it. Files of one folder that come
together are synced together: a sync waits for the disk's own journal, and the first one takes the others along.
A process that is killed leaves its unfinished file behind: whoever opens the directory while nobody else has it open
clears them away, which a lock on the folder tells.
"""

import asyncio
import errno
import fcntl
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

from fairway.server.disk import refuse_unlisted, sync_folder, sync_folders_above
from fairway.server.logs.objects import LogStorageError

_UNFINISHED = ".unfinished"
#: Enough threads for the disk to write the files of many agents in one go.
_WRITERS = 16

_MOST_NAMED = 10_000

T = TypeVar("T")


class LocalDirectory:
    """Objects as files below `root`."""

    def __init__(self, root: Path) -> None:
        self._root = root
        try:
            self._lock = _claim(root / _UNFINISHED)
        except OSError as error:
            raise _explained("open", root, error) from error
        self._threads = ThreadPoolExecutor(_WRITERS, thread_name_prefix="log-files")
        #: Folders that those above them name for good. Emptied when it grows large: that costs a few syncs.
        self._named: set[Path] = set()

    async def create(self, objects: Mapping[str, bytes]) -> None:
        if objects:
            folder = next(iter(objects)).rpartition("/")[0]
            contents = {name.rpartition("/")[2]: content for name, content in objects.items()}
            await self._run("write", folder, lambda path: self._create(path, contents))

    async def get(self, name: str) -> bytes | None:
        return await self._run("read", name, _read)

    async def list(self, folder: str) -> dict[str, int]:
        sizes = await self._run("list", folder, _sizes)
        return {f"{folder}{below}": size for below, size in sorted(sizes.items())}

    async def delete(self, names: Sequence[str]) -> None:
        for name in names:
            await self._run("delete", name, self._delete)

    async def close(self) -> None:
        await asyncio.to_thread(self._threads.shutdown)
        os.close(self._lock)

    async def _run(self, verb: str, name: str, work: Callable[[Path], T]) -> T:
        path = self._root / name
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work, path)
        except OSError as error:
            raise _explained(verb, path, error) from error

    def _create(self, folder: Path, contents: Mapping[str, bytes]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = {name: self._root / _UNFINISHED / uuid4().hex for name in contents}
        try:
            _write_all({unfinished[name]: content for name, content in contents.items()})
            # Before the links: most file systems have written these folders down with the files, and a change made in
            # between would cost another round.
            self._name(folder)
            for name, written in unfinished.items():
                # Somebody who linked it first may not have synced the folder yet, so that is done in either case.
                with suppress(FileExistsError):
                    os.link(written, folder / name)
        finally:
            for written in unfinished.values():
                written.unlink(missing_ok=True)
        sync_folder(folder)
        # Mostly for nothing: somebody may have removed the folder meanwhile, and another have made it again.
        self._name(folder)

    def _name(self, folder: Path) -> None:
        """Have those above a folder name it for good."""
        if folder not in self._named:
            for above in folder.parents[: len(folder.relative_to(self._root).parts)]:
                sync_folder(above)
            if len(self._named) >= _MOST_NAMED:
                self._named.clear()
            self._named.add(folder)

    def _delete(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        # A million deployments would leave as many empty folders.
        for folder in path.parents[: len(path.relative_to(self._root).parts) - 1]:
            # Before it goes: a file that comes meanwhile makes it again, and must find that out.
            self._named.discard(folder)
            with suppress(OSError):  # others are in it, or somebody else was quicker
                folder.rmdir()


def _write_all(contents: Mapping[Path, bytes]) -> None:
    """Write files and have them on disk: all of them first, so that the disk takes them in one go."""
    with ExitStack() as opened:
        files = [opened.enter_context(path.open("xb", buffering=0)) for path in contents]
        for file, content in zip(files, contents.values(), strict=True):
            left = memoryview(content)
            while left:
                left = left[file.write(left) :]
        for file in files:
            os.fsync(file.fileno())


def _claim(unfinished: Path) -> int:
    """Hold the folder open, and clear it when nobody else holds it."""
    unfinished.mkdir(parents=True, exist_ok=True)
    sync_folders_above(unfinished)
    lock = os.open(unfinished, os.O_RDONLY | os.O_DIRECTORY)
    with suppress(BlockingIOError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for left in unfinished.iterdir():
            left.unlink()
    fcntl.flock(lock, fcntl.LOCK_SH)
    return lock


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _sizes(folder: Path) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for parent, _, names in os.walk(folder, onerror=refuse_unlisted):
        for name in names:
            path = Path(parent, name)
            # Rewriting removes files while others look.
            with suppress(FileNotFoundError):
                sizes[path.relative_to(folder).as_posix()] = path.stat().st_size
    return sizes


def _explained(verb: str, path: Path, error: OSError) -> LogStorageError:
    cure = "free some space" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "check the disk and its permissions"
    return LogStorageError(f"cannot {verb} {path}: {error.strerror or error}; {cure}")
