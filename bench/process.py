"""A `fairway server` as a process of its own, and what the kernel says about it."""

import asyncio
import contextlib
import re
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

_START_SECONDS = 60.0
#: A server that takes less of a core than this has nothing to do, and one that never does is looked at all the same.
_CALM, _CALM_SECONDS = 0.05, 180.0
#: A look has so many parts, which tell how much the machine's other work disturbed it.
_PARTS = 4
#: Of a process's clock: the one that the scheduler keeps.
_SCHEDULED = 2
#: `fairway`, as the command line would start it.
_COMMAND = (sys.executable, "-c", "from fairway.cli.main import app; app()")


class ServerProcess(NamedTuple):
    """A server that answers."""

    pid: int
    port: int
    http_port: int
    #: Of its first start; empty on a later one.
    api_key: str

    def megabytes(self) -> float:
        """What it holds in memory."""
        return _status(self.pid, "VmRSS") / 1024

    def most_megabytes(self) -> float:
        """The most that it ever held."""
        return _status(self.pid, "VmHWM") / 1024

    def cpu_seconds(self) -> float:
        """What it has computed so far: Linux has a clock for each process, which counts nanoseconds and not ticks."""
        return time.clock_gettime((~self.pid << 3) | _SCHEDULED)

    async def cpu_share(self, seconds: float) -> float:
        """How much of a core it takes, from now on for so long."""
        before, start = self.cpu_seconds(), time.monotonic()
        await asyncio.sleep(seconds)
        return (self.cpu_seconds() - before) / (time.monotonic() - start)

    async def cpu_look(self, seconds: float) -> str:
        """The same in words, with the least and the most of the parts of this time."""
        shares = [await self.cpu_share(seconds / _PARTS) * 100 for _ in range(_PARTS)]
        spread = f"{min(shares):.2f} to {max(shares):.2f} in {_PARTS} × {seconds / _PARTS:.0f} s"
        return f"{sum(shares) / _PARTS:.2f} % ({spread})"

    async def calm(self) -> float:
        """Wait until it has done what it does when it starts, and say how many seconds that took."""
        start = time.monotonic()
        while await self.cpu_share(1.0) > _CALM and time.monotonic() - start < _CALM_SECONDS:
            pass
        return time.monotonic() - start


@contextlib.asynccontextmanager
async def a_server(data: Path, database: str = "") -> AsyncIterator[ServerProcess]:
    """A server on free ports, stopped at the end."""
    options = ("--data", str(data), "--listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0")
    named = ("--database", database) if database else ()
    process = await asyncio.create_subprocess_exec(
        *_COMMAND, "server", *options, *named, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        said = await asyncio.wait_for(_announcement(process), _START_SECONDS)
        ports = re.search(r"listens on .*?:(\d+)", said), re.search(r"HTTP: .*:(\d+)", said)
        assert ports[0], said
        assert ports[1], said
        key = re.search(r"API key, shown this once: (\S+)", said)
        yield ServerProcess(process.pid, int(ports[0][1]), int(ports[1][1]), key[1] if key else "")
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _announcement(process: asyncio.subprocess.Process) -> str:
    assert process.stdout is not None
    said = ""
    while "HTTP: " not in said:
        line = await process.stdout.readline()
        assert line, f"the server ended: {said}"
        said += line.decode()
    return said


def _status(pid: int, name: str) -> int:
    found = re.search(rf"^{name}:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1])
