"""A real `fairway server` process, as a person starts it."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

FAIRWAY = Path(sys.executable).with_name("fairway")


class ServerProcess(NamedTuple):
    """The process, and what it said when it was ready."""

    process: subprocess.Popen[str]
    address: str
    said: str

    @property
    def api_key(self) -> str:
        found = re.search(r"API key, shown this once: (\S+)", self.said)
        assert found is not None, self.said
        return found[1]

    def kill(self) -> None:
        """As a power cut would."""
        self.process.kill()
        self.process.wait()


@contextmanager
def a_server(data: Path, listen: str = "127.0.0.1:0") -> Iterator[ServerProcess]:
    """A server on a free port; it is stopped at the end of the block if it still runs."""
    is_first = not (data / "fairway.db").exists()
    process = subprocess.Popen(
        [FAIRWAY, "server", "--data", data, "--listen", listen, "--http-listen", "127.0.0.1:0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    try:
        said = "".join(process.stdout.readline() for _ in range(4 if is_first else 2))
        address = re.search(r"listens on (\S+)", said)
        assert address is not None, said
        yield ServerProcess(process, address[1], said)
    finally:
        process.terminate()
        process.wait(timeout=30)
        process.stdout.close()
