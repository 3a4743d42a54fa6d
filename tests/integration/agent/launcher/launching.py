"""A real launcher with tiny agents: versions that start at once and do what a test says."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from fairway import __version__
from fairway.agent.launcher.record import Record, read_record, write_record
from tests.patience import PATIENCE_SECONDS

T = TypeVar("T")
FIRST, SECOND, THIRD = "1.0-aa", "2.0-bb", "3.0-cc"
READY = "say(ready=True)"
#: Runs `fairway.cli`, as the directory of a fetched version does.
_MAIN = "import runpy, sys\ndel sys.argv[0]\nrunpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)\n"
_AGENT = """
import json, os, signal, sys, time
pipe = int(os.environ["FAIRWAY_LAUNCHER"].split(",")[0])
folder = sys.argv[1]
def say(**words):
    os.write(pipe, json.dumps(words).encode() + b"\\n")
def note(what):
    with open(folder + "/log", "a") as log:
        log.write(f"{key} {what} {os.getpid()}\\n")
def leave(*_):
    note("leaves")
    while os.path.exists(folder + "/hold"):
        time.sleep(0.01)
    sys.exit(0)
signal.signal(signal.SIGTERM, leave)
key = os.path.basename(sys.path[0])
note("starts")
BEHAVIOUR
while True:
    order = folder + "/order-" + key
    if os.path.exists(order):
        with open(order) as file:
            text = file.read()
        os.unlink(order)
        exec(text)
    time.sleep(0.01)
"""


class Launching:
    """A launcher, the versions it may run, and what they have noted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.versions = folder / "versions"
        self.versions.mkdir(parents=True)
        (folder / "log").touch()
        self._processes: list[subprocess.Popen[bytes]] = []

    def add(self, key: str, behaviour: str) -> None:
        """A version that does that when it is started, and then what it is ordered to."""
        package = self.versions / key / "fairway" / "cli"
        package.mkdir(parents=True)
        (self.versions / key / "__main__.py").write_text(_MAIN)
        for each in (package.parent, package):
            (each / "__init__.py").touch()
        (package / "__main__.py").write_text(_AGENT.replace("BEHAVIOUR", behaviour))

    def start(self, record: Record | None = None) -> None:
        """Start the launcher."""
        if record is not None:
            write_record(self.versions, record)
        with open(self.folder / "said", "ab") as said:
            command = [sys.executable, "-m", "fairway.agent.launcher", str(self.folder), str(self.folder)]
            self._processes.append(subprocess.Popen(command, stdout=said, stderr=said))

    @property
    def launcher(self) -> "subprocess.Popen[bytes]":
        """The process that was started last."""
        return self._processes[-1]

    def order(self, key: str, text: str) -> None:
        """Let a version that runs do something."""
        unfinished = self.folder / "unfinished"
        unfinished.write_text(text)
        unfinished.rename(self.folder / f"order-{key}")

    def switch(self, of: str, to: str, ready: float = PATIENCE_SECONDS, settle: float = 0.05) -> None:
        """Let a version that runs ask for another in its place."""
        words = json.dumps({"switch": to, "ready_seconds": ready, "settle_seconds": settle})
        self.order(of, f"say(**{words})")

    @property
    def record(self) -> Record:
        """What the launcher has written down."""
        return read_record(self.versions) or Record("")

    @property
    def log(self) -> list[str]:
        """What the versions have noted: which, and what."""
        return [line.rpartition(" ")[0] for line in (self.folder / "log").read_text().splitlines()]

    @property
    def last(self) -> int:
        """The process of the version that was started last."""
        lines = [line for line in (self.folder / "log").read_text().splitlines() if " starts " in line]
        return int(lines[-1].rpartition(" ")[2])

    @property
    def said(self) -> str:
        """What the launcher has said."""
        return (self.folder / "said").read_text()

    def starts(self, key: str) -> int:
        """How often a version was started."""
        return self.log.count(f"{key} starts")

    def kill(self) -> None:
        """End the launcher as a power cut would."""
        self.launcher.kill()
        self.launcher.wait()

    def close(self) -> None:
        """End all that was started."""
        (self.folder / "hold").unlink(missing_ok=True)
        for each in self._processes:
            if each.poll() is None:
                each.terminate()
                each.wait(PATIENCE_SECONDS)


@contextmanager
def a_launcher(folder: Path) -> Iterator[Launching]:
    """A launcher that is ended with the block."""
    launching = Launching(folder / "data")
    try:
        yield launching
    finally:
        launching.close()


def running(current: str) -> Record:
    """A record that says that a version is healthy."""
    return Record(__version__, current=current)


def until(look: Callable[[], T | None]) -> T:
    """What `look` finds, as soon as it finds something."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        if found := look():
            return found
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


def is_alive(pid: int) -> bool:
    """Whether a process still runs."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def forget(pid: int) -> None:
    """Kill a process."""
    os.kill(pid, signal.SIGKILL)
