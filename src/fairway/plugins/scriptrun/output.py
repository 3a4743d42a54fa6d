"""The output of a script on its way to a file, through a process that counts it.

A script that writes to the file itself gets an error when the disk is full, and its lines vanish. So it writes to a
pipe. The writer counts all that comes through the pipe, stores what the disk takes, and goes on when there is room. It
runs until no process holds the pipe any more, also when the plugin process is gone.
"""

import asyncio
import contextlib
import os
import subprocess
from pathlib import Path
from typing import NamedTuple

from fairway.plugins.process_end import process_end
from fairway.plugins.scriptrun.child import Child

#: `tee` copies to `wc`, which counts, and to `cat`, which stores. When the disk is full `cat` fails, and what it had
#: read is lost; meanwhile the script waits. A writer without input records nothing: its script was started elsewhere.
_WRITER = """\
trap '' HUP INT TERM
exec 5>&1
{
    counted=$(tee /dev/fd/3 | wc -l -c)
    case $counted in *[1-9]*) echo $counted 1<> "$1/counted" ;; esac
} 3>&1 | until cat >&5; do sleep 0.2 || sleep 1; done
"""
#: Room for the files that the writer and its starter write.
ROOM = {"counted": b" " * 47 + b"\n", "writer": b" " * 15 + b"\n"}
_CHUNK_BYTES = 2**20


class Missing(NamedTuple):
    """Output that a script wrote and that is not stored."""

    #: None when the writer was killed, so that it is not known.
    lines: int | None
    bytes: int = 0

    def __str__(self) -> str:
        if self.lines is None:
            return "Lines of output may be missing: the process that stores the output was killed"
        return f"{self.lines} lines of output ({self.bytes} bytes) are missing: the agent's disk was full"


class Output:
    """The output of one journal."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._writer: Child | None = None

    def open(self) -> int:
        """Start the writer; returns the end of the pipe that the script writes to."""
        read, write = os.pipe()
        file = os.open(self._directory / "output", os.O_WRONLY | os.O_APPEND)
        try:
            # In a session of its own and without the mark of the script: it ends after all its processes.
            self._writer = Child(
                ("/bin/sh", "-c", _WRITER, "fairway-script-output", str(self._directory)),
                cwd="/",
                stdin=read,
                stdout=file,
                stderr=subprocess.DEVNULL,
            )
            (self._directory / "writer").write_text(f"{self._writer.pid}\n")
        except OSError:
            os.close(write)
            raise
        finally:
            os.close(read)
            os.close(file)
        return write

    async def stored(self, seconds: float) -> None:
        """Wait until the writer has ended, for so long at most: a process that is kept may hold the pipe."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                if self._writer is not None:
                    await self._writer.wait()
                elif (pid := self._pid()) is not None:
                    await process_end(pid)

    def missing(self) -> Missing | None:
        """What is not stored of the output of a script that has ended; None when all of it is."""
        with contextlib.suppress(OSError, ValueError):
            counted = (self._directory / "counted").read_text().split()
            size = (self._directory / "output").stat().st_size
            if not counted:
                return Missing(None) if size and self._pid() is None else None
            lines, total = map(int, counted)
            return None if total == size else Missing(lines - self._lines(), total - size)
        return None

    def _lines(self) -> int:
        with open(self._directory / "output", "rb") as file:
            return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(_CHUNK_BYTES), b""))

    def _pid(self) -> int | None:
        """The writer, while it lives."""
        with contextlib.suppress(OSError, ValueError):
            pid = int((self._directory / "writer").read_text())
            arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            return pid if os.fsencode(self._directory) in arguments else None
        return None
