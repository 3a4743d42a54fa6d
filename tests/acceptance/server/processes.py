"""A real `fairway server` process, as a person starts it."""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.patience import PATIENCE_SECONDS
from tests.ports import a_free_port

FAIRWAY = Path(sys.executable).with_name("fairway")


class ServerProcess(NamedTuple):
    """The process, where it listens, and the file with everything that it says."""

    process: subprocess.Popen[bytes]
    address: str
    http: str
    output: Path

    @property
    def said(self) -> str:
        return self.output.read_text(errors="replace")

    @property
    def api_key(self) -> str:
        found = re.search(r"API key, shown this once: (\S+)", self.said)
        assert found is not None, self.said
        return found[1]

    @property
    def resident_bytes(self) -> int:
        """How much memory the process holds now."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        assert found is not None, status
        return int(found[1]) * 1024

    def most_resident_bytes(self) -> int:
        """How much memory the process held at most since this was asked last."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")
        found = re.search(r"VmHWM:\s+(\d+) kB", status)
        assert found is not None, status
        return int(found[1]) * 1024

    @property
    def open_files(self) -> int:
        """How many files and connections the process has open now."""
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def kill(self) -> None:
        """As a power cut would."""
        self.process.kill()
        self.process.wait()


@contextmanager
def a_server(
    data: Path,
    *arguments: str | Path,
    listen: str = "127.0.0.1:0",
    environment: Mapping[str, str] | None = None,
) -> Iterator[ServerProcess]:
    """A server on free ports; it is stopped at the end of the block if it still runs.

    The ports stay free when it is killed, for the one that is started in its place.
    """
    addresses = ("--listen", listen, "--http-listen", "127.0.0.1:0", *arguments)
    options = [f"127.0.0.1:{a_free_port()}" if each == "127.0.0.1:0" else each for each in addresses]
    opened, output = tempfile.mkstemp(prefix=f"{data.name}-said-", dir=data.parent)
    process = subprocess.Popen(
        [FAIRWAY, "server", "--data", data, *options],
        stdout=opened,
        stderr=subprocess.STDOUT,
        env={**os.environ, **(environment or {}), "PYTHONUNBUFFERED": "1"},
    )
    os.close(opened)
    try:
        yield _ready(process, Path(output))
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE_SECONDS)


def _ready(process: subprocess.Popen[bytes], output: Path) -> ServerProcess:
    """The server once it has said where it listens; a deadline only for one that never will."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        said = output.read_text()
        address, http = re.search(r"listens on (\S+)", said), re.search(r"HTTP: (\S+)\n", said)
        if address and http:
            return ServerProcess(process, address[1], http[1], output)
        assert process.poll() is None, said
        assert time.monotonic() < deadline, said
        time.sleep(0.02)
