"""A disk that loses what was not synced: it records every fsync below a directory and makes images of a power cut.

POSIX promises the content of a file at its last fsync, and the names of a directory at its last fsync. Everything else
may be there, be lost, or be cut off; `choose` decides. Writes of other processes are covered: they are never synced
unless this process syncs them.
"""

import os
from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

Choose = Callable[[Sequence[Any]], Any]


class RecordedDisk:
    """What was synced below a directory."""

    def __init__(self, root: Path) -> None:
        self._root = root
        #: Directory → name → inode, at its last fsync.
        self._names: dict[Path, dict[str, int]] = {}
        #: Inode → content at its last fsync.
        self._contents: dict[int, bytes] = {}

    def record(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Note each fsync of this process from now on."""
        for name in ("fsync", "fdatasync"):
            monkeypatch.setattr(os, name, self._noting(getattr(os, name)))

    def now(self) -> "RecordedDisk":
        """What is synced at this moment."""
        return deepcopy(self)

    def _noting(self, real: Callable[[int], None]) -> Callable[[Any], None]:
        def sync(file: Any) -> None:
            number = file if isinstance(file, int) else file.fileno()
            real(number)
            path = Path(os.readlink(f"/proc/self/fd/{number}"))
            if path.is_dir():
                self._names[path] = {each.name: each.lstat().st_ino for each in path.iterdir()}
            elif path.is_file():
                self._contents[path.stat().st_ino] = path.read_bytes()

        return sync

    def image(self, target: Path, choose: Choose) -> None:
        """Write to a directory what a power cut may have left of the root."""
        # One damage for all files of an image: few images then cover what matters.
        self._copy(self._root, target, choose, choose(list(_DAMAGES)))

    def _copy(self, source: Path, target: Path, choose: Choose, damage: str) -> None:
        target.mkdir(mode=0o700, exist_ok=True)
        synced = self._names.get(source, {})
        for each in sorted(source.iterdir()):
            if synced.get(each.name) != each.lstat().st_ino and choose(["kept", "lost"]) == "lost":
                continue
            if each.is_dir():
                self._copy(each, target / each.name, choose, damage)
            else:
                (target / each.name).write_bytes(self._content(each, damage))

    def _content(self, file: Path, damage: str) -> bytes:
        written, synced = file.read_bytes(), self._contents.get(file.stat().st_ino)
        if written == synced:
            return written
        return synced if damage == "synced" and synced is not None else _DAMAGES[damage](written)


#: What may be left of a file that was written and not synced.
_DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "whole": lambda written: written,
    "synced": lambda _: b"",
    "empty": lambda _: b"",
    "half": lambda written: written[: len(written) // 2],
    "zeros": lambda written: bytes(len(written)),
}
