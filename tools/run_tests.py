"""What `make test` runs: checks, every test that needs no cluster, and then those that need one.

A cluster's programs are built once for each user, which takes many minutes of two cores. So the build is started first
and runs beside everything else with the lowest priority, such that no test waits for it; the tests of a cluster are
last, and whoever waits for the build is told what for. With everything built before, nothing of this is seen. Where a
program cannot be had, one loud line says what is not tested; with CI=true that is a failure.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.peers.catalogue import CLUSTER, locate

_ROOT = Path(__file__).parents[1]
#: How far the build is.
LOG = _ROOT / ".venv" / "peers.log"
_CLUSTER_TESTS = [name for name in ("tests/cluster", "tests/acceptance/kubernetes") if (_ROOT / name).is_dir()]
#: What a shell says of a command that Ctrl-C ended.
_INTERRUPTED = 130


class Run:
    """The parts one after another, each with its time; the first that fails is the last."""

    def __init__(self) -> None:
        self._took: dict[str, float] = {}
        self._child: subprocess.Popen[bytes] | None = None
        self._interrupted = False

    def part(self, name: str, *command: str) -> None:
        """Run it; it says itself what went wrong."""
        began = time.monotonic()
        with subprocess.Popen(command, cwd=_ROOT) as self._child:
            code = self._child.wait()
        self._child = None
        self._took[name] = time.monotonic() - began
        if self._interrupted:
            sys.exit(_INTERRUPTED)
        if code != 0:
            sys.exit(code)

    def wait_for(self, build: "Build") -> None:
        """The part in which nothing is to do but to wait."""
        began = time.monotonic()
        for line in build.news():
            if self._interrupted:
                sys.exit(_INTERRUPTED)
            if line:
                print(line, flush=True)
        if (waited := time.monotonic() - began) >= 1:
            self._took["waiting for the build"] = waited

    def interrupt(self, signum: int, _: object) -> None:
        """Ctrl-C reaches the part that runs as well, which has things to clean up; another signal is passed on."""
        self._interrupted = True
        if signum != signal.SIGINT and self._child is not None:
            self._child.send_signal(signum)

    def tell(self) -> None:
        """How long each part took."""
        parts = ", ".join(f"{name} {_duration(seconds)}" for name, seconds in self._took.items())
        say(f"{parts}; {_duration(sum(self._took.values()))} in all")


class Build:
    """The programs of a cluster, being built in the background, or there already."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start building what is missing."""
        if not (missing := _missing()):
            return
        say(f"building {', '.join(missing)} in the background, once; progress: {os.path.relpath(LOG, _ROOT)}")
        # It ends with us, where the machine can see to it, also when we are killed.
        with_us = ("setpriv", "--pdeathsig=TERM") if shutil.which("setpriv") else ()
        command = (*with_us, "nice", "-n", "19", sys.executable, "-m", "tools.peers", "cluster")
        with LOG.open("wb") as log:
            # Ctrl-C is for us: we end it.
            self._process = subprocess.Popen(
                command, cwd=_ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log, process_group=0
            )

    def news(self) -> Iterator[str]:
        """Its lines from the last one on, until it has ended; an empty one whenever there is none."""
        if self._process is None:
            return
        if self._process.poll() is None:
            say(f"waiting for the build of {', '.join(_missing())}")
        with LOG.open(errors="replace") as log:
            lines = log.read().splitlines()
            yield from lines[-1:]
            while self._process.poll() is None:
                yield log.readline().rstrip()
                time.sleep(0.2)
            yield from log.read().splitlines()

    def end(self) -> None:
        """It stops; the next one goes on from there."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()


def main(workers: str) -> None:
    """All parts."""
    run, build = Run(), Build()
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, run.interrupt)
    # Who has nothing left takes over from others; otherwise one of them works alone for the last minutes.
    pytest = (sys.executable, "-m", "pytest", "-q", "-n", workers, "--dist", "worksteal")
    with _ended(build), _told(run):
        run.part("checks", "make", "--no-print-directory", "check")
        run.part("PostgreSQL", "tools/postgres")
        say("tests")
        run.part("tests", *pytest, "tests", *(f"--ignore={name}" for name in _CLUSTER_TESTS))
        if missing := still_missing(run, build):
            not_tested(missing)
        say("tests on a real cluster")
        run.part("cluster tests", *pytest, *_CLUSTER_TESTS)


def still_missing(run: Run, build: Build) -> list[str]:
    """What is not there when the build has ended; where somebody relies on it, it is tried twice."""
    run.wait_for(build)
    if _missing() and _is_relied_on():
        # What kept it from being built, such as a registry that was away, may be over by now.
        build.start()
        run.wait_for(build)
    return _missing()


def not_tested(missing: list[str]) -> None:
    """Say so, once and loudly; where somebody relies on it, that is the end."""
    say(f"NOT TESTED is whatever needs {', '.join(missing)}: they could not be built, and the build said last:")
    print("\n".join(LOG.read_text(errors="replace").splitlines()[-10:]), flush=True)
    if _is_relied_on():
        sys.exit(1)


def _is_relied_on() -> bool:
    return os.environ.get("CI") == "true"


def _missing() -> list[str]:
    return [peer.name for peer in CLUSTER if not locate(peer.name).exists()]


@contextmanager
def _ended(build: Build) -> Iterator[None]:
    build.start()
    try:
        yield
    finally:
        build.end()


@contextmanager
def _told(run: Run) -> Iterator[None]:
    try:
        yield
    finally:
        run.tell()


def say(line: str) -> None:
    """As the Makefile does."""
    print(f"\033[1m▸ {line}\033[0m", flush=True)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", default="auto", help="how many tests run at once")
    main(parser.parse_args().workers)
