"""Wakes somebody when the kernel says that something happened in a directory, so that nobody has to look often.

Linux alone offers this (inotify), and Python has no door to it; the three calls go through ctypes. Where it cannot be
had, or a directory is on another machine, nothing is told: whoever uses this looks now and then as well.
"""

import asyncio
import contextlib
import ctypes
import os
from collections.abc import Callable, Iterable
from pathlib import Path

#: A file was written, renamed to this place, made or removed.
_EVENTS = 0x0000_0008 | 0x0000_0080 | 0x0000_0100 | 0x0000_0200
_ENOUGH = 64 * 1024


class FileWatch:
    """Watches directories of one event loop's choice."""

    def __init__(self, woken: Callable[[], None]) -> None:
        self._woken = woken
        self._inotify = -1

    def open(self) -> None:
        """Begin; does nothing where the kernel has no such thing to give."""
        with contextlib.suppress(AttributeError, OSError):
            made = ctypes.CDLL(None, use_errno=True).inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
            if made >= 0:
                self._inotify = made
                asyncio.get_running_loop().add_reader(made, self._read)

    def follow(self, directories: Iterable[Path]) -> bool:
        """Watch these as well, those that are gone and made again too; whether all that are there are watched."""
        if self._inotify < 0:
            return False
        call = ctypes.CDLL(None, use_errno=True).inotify_add_watch
        # One that is watched already stays so.
        added = [call(self._inotify, os.fsencode(each), _EVENTS) for each in directories if each.is_dir()]
        return all(each >= 0 for each in added)

    def close(self) -> None:
        """Watch nothing any more."""
        if self._inotify >= 0:
            asyncio.get_running_loop().remove_reader(self._inotify)
            os.close(self._inotify)
            self._inotify = -1

    def _read(self) -> None:
        # What it was does not matter: whoever is woken looks.
        with contextlib.suppress(BlockingIOError):
            os.read(self._inotify, _ENOUGH)
        self._woken()
