"""Runs a peer that `tools.peers` has built, as a child process on a free loopback port."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.patience import PATIENCE_SECONDS
from tools.peers.catalogue import find_peer


def the_peer(name: str) -> Path:
    """The peer's binary; without it the test is skipped with a line that says so, and fails on CI."""
    peer = find_peer(name)
    if not peer.binary.exists():
        if os.environ.get("CI") == "true":
            pytest.fail(peer.missing)
        # Without Go and the modules there is nothing to test against; CI has both, and fails above.
        pytest.skip(peer.missing)
    return peer.binary


@contextmanager
def running(
    command: list[str | Path], said: Path, answers: Callable[[], bool], environment: Mapping[str, str] | None = None
) -> Iterator[None]:
    """Run the program from the moment it answers to the end of the block; what it says goes to a file."""
    # It does not outlive a test run that is killed, where the machine can see to it.
    with_us: list[str | Path] = ["setpriv", "--pdeathsig=KILL"] if shutil.which("setpriv") else []
    with (
        said.open("wb") as log,
        subprocess.Popen(
            [*with_us, *command], stdout=log, stderr=subprocess.STDOUT, env={**os.environ, **(environment or {})}
        ) as process,
    ):
        try:
            deadline = time.monotonic() + PATIENCE_SECONDS
            while not answers():
                assert process.poll() is None, said.read_text()
                assert time.monotonic() < deadline, said.read_text()
                time.sleep(0.02)
            yield
        finally:
            process.kill()
