"""A small disk of its own for an agent, which can be filled to the last byte and freed again.

It is a file system in memory that only one mount namespace sees: no root, and nothing to unmount. A process that sleeps
holds the namespace; whoever is started `inside` shares it, and the test looks into it through the holder.
"""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

_HOLD = 'mount -t tmpfs -o size="$2",mode=0700 none "$1" && echo held && exec sleep infinity'


class SmallDisk(NamedTuple):
    """One disk, mounted on a directory that others see empty."""

    holder: int
    mounted: Path

    @property
    def inside(self) -> tuple[str, ...]:
        """What stands before a command that is to use the disk."""
        return ("nsenter", "--preserve-credentials", "--user", "--mount", "--target", str(self.holder), "--")

    @property
    def seen(self) -> Path:
        """The mounted directory, as the test can reach it."""
        return Path(f"/proc/{self.holder}/root{self.mounted}")

    def fill(self) -> None:
        """Leave no room, not for a byte and not for a name."""
        folder = self.seen / "filler"
        folder.mkdir(exist_ok=True)
        for number, size in enumerate((2**20, 2**12, 1)):
            with suppress(OSError), open(folder / str(number), "wb", buffering=0) as file:
                while file.write(b"\0" * size):
                    pass

    def free(self) -> None:
        """Make room again."""
        shutil.rmtree(self.seen / "filler")


@contextmanager
def a_small_disk(directory: Path, size: str = "32m") -> Iterator[SmallDisk]:
    """A disk of a size on a directory, as long as the block lasts."""
    directory.mkdir(parents=True, exist_ok=True)
    command = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", _HOLD, "hold", str(directory), size)
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        try:
            yield SmallDisk(holder.pid, directory)
        finally:
            holder.kill()
