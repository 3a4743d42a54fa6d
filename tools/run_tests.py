"""Runs the tests in groups, and ends with what took how long and which groups were not run.

`make test` runs the checks and every test that needs no compiled peer. `make test-cluster` builds the programs of a
Kubernetes cluster, once for each user, and runs the tests on it. `make test-peers` does the same for an S3 server, an
OIDC provider and a Git host. A program that cannot be built is named in one loud line; with CI=true that is a failure.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tools.peers.catalogue import CLUSTER, HEAVY, Peer, locate

_ROOT = Path(__file__).parents[1]
#: The exit status that a shell reports for a command ended by Ctrl-C.
_INTERRUPTED = 130


class Group(NamedTuple):
    """Tests that need the same programs."""

    #: What the tests run on, for the summary.
    what: str
    command: str
    folders: tuple[str, ...]
    #: Arguments of `python -m tools.peers`, and the programs that this builds.
    build: tuple[str, ...]
    peers: Sequence[Peer]
    #: Scripts that install what Debian packages.
    installs: tuple[str, ...] = ()
    #: How pytest-xdist distributes them.
    distribution: str = "worksteal"


GROUPS = {
    "cluster": Group(
        "a Kubernetes cluster",
        "make test-cluster",
        ("tests/cluster", "tests/acceptance/kubernetes"),
        ("cluster",),
        CLUSTER,
    ),
    "peers": Group(
        "an S3 server, an OIDC provider and a Git host",
        "make test-peers",
        ("tests/peers",),
        ("heavy", "helm", "kustomize"),
        HEAVY,
        ("tools/postgres", "tools/openssh"),
        "loadfile",
    ),
}


class Run:
    """Parts one after another, with their times. The first that fails ends the run."""

    def __init__(self) -> None:
        self._took: dict[str, float] = {}
        self._child: subprocess.Popen[bytes] | None = None
        self._interrupted = False

    def part(self, name: str, *command: str, may_fail: bool = False) -> bool:
        """Run a command, and return whether it succeeded."""
        began = time.monotonic()
        with subprocess.Popen(command, cwd=_ROOT) as self._child:
            code = self._child.wait()
        self._child = None
        self._took[name] = time.monotonic() - began
        if self._interrupted:
            sys.exit(_INTERRUPTED)
        if code != 0 and not may_fail:
            sys.exit(code)
        return code == 0

    def interrupt(self, signum: int, _: object) -> None:
        """The terminal sends Ctrl-C to the running part as well; any other signal is passed on."""
        self._interrupted = True
        if signum != signal.SIGINT and self._child is not None:
            self._child.send_signal(signum)

    def report_times(self) -> None:
        """Print how long each part took."""
        parts = ", ".join(f"{name} {_duration(seconds)}" for name, seconds in self._took.items())
        say(f"{parts}; {_duration(sum(self._took.values()))} in all")


def run_main(run: Run, workers: str) -> None:
    """The checks, and every test that needs no compiled peer."""
    run.part("checks", "make", "--no-print-directory", "check")
    run.part("PostgreSQL", "tools/postgres")
    say("tests")
    elsewhere = [folder for group in GROUPS.values() for folder in group.folders]
    run.part("tests", *_pytest(workers, "worksteal"), "tests", *(f"--ignore={folder}" for folder in elsewhere))


def run_group(run: Run, group: Group, workers: str) -> None:
    """Build the group's programs, unless they are there, and run its tests."""
    say(f"programs: {group.what}")
    for script in group.installs:
        run.part(Path(script).name, script)
    # A registry may be unreachable for a moment: CI, which needs every program, tries twice.
    attempts = 2 if _is_ci() else 1
    build = (sys.executable, "-m", "tools.peers", *group.build)
    built = any(run.part("build", *build, may_fail=True) for _ in range(attempts))
    if not built:
        say(f"NOT TESTED: tests that need {', '.join(missing(group.peers))}, which could not be built")
        if _is_ci():
            sys.exit(1)
    say(f"tests with {group.what}")
    run.part("tests", *_pytest(workers, group.distribution), *group.folders)


def not_run(names: Sequence[str]) -> list[str]:
    """One line for each group that was left out: what it is, and the command that runs it."""
    lines = []
    for name in names:
        group = GROUPS[name]
        state = "builds its programs first, once" if missing(group.peers) else "its programs are built"
        lines.append(f"not run: tests with {group.what}; `{group.command}` runs them ({state})")
    return lines


def missing(peers: Sequence[Peer]) -> list[str]:
    """The programs that are not there."""
    return [peer.name for peer in peers if not locate(peer.name).exists()]


def main(name: str, workers: str) -> None:
    """Run one group, or the main tests."""
    run = Run()
    for signum in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signum, run.interrupt)
    with _reported(run):
        if name == "main":
            run_main(run, workers)
        else:
            run_group(run, GROUPS[name], workers)
    for line in not_run(list(GROUPS)) if name == "main" else ():
        say(line)


def _pytest(workers: str, distribution: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "pytest", "-q", "-n", workers, "--dist", distribution)


def _is_ci() -> bool:
    return os.environ.get("CI") == "true"


@contextmanager
def _reported(run: Run) -> Iterator[None]:
    try:
        yield
    finally:
        run.report_times()


def say(line: str) -> None:
    """Print a line as the Makefile does."""
    print(f"\033[1m▸ {line}\033[0m", flush=True)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("group", nargs="?", default="main", choices=["main", *GROUPS])
    parser.add_argument("--workers", default="auto", help="how many tests run at once")
    arguments = parser.parse_args()
    main(arguments.group, arguments.workers)
