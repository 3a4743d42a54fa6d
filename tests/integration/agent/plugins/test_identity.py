"""A restarted agent ends what its forerunner left behind, and never a stranger."""

import asyncio
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from fairway.agent.plugins.identity import Identity, Running, RunningFile, identity_of

GONE = Identity(os.getpid(), 1)


@pytest.fixture
def left() -> Iterator[Identity]:
    """A process with a child in its group, as a plugin leaves them."""
    process = subprocess.Popen(["/bin/sh", "-c", "sleep 1000 & wait"], start_new_session=True)
    found = identity_of(process.pid)
    assert found is not None
    yield found
    subprocess.run(["kill", "-9", "--", f"-{process.pid}"], stderr=subprocess.DEVNULL, check=False)
    process.wait()


def noted(folder: Path, agent: Identity, process: Identity) -> RunningFile:
    path = folder / "running.json"
    path.write_bytes(msgspec.json.encode(Running(agent, {"p": process})))
    return RunningFile(path)


async def test_what_a_gone_agent_has_left_is_ended(tmp_path: Path, left: Identity) -> None:
    await noted(tmp_path, GONE, left).end_leftovers(grace=5.0)

    assert not left.is_alive


@pytest.fixture
def oddly_named(tmp_path: Path) -> Iterator[int]:
    """A process of a stranger, under a name that is no text."""
    odd = os.fsencode(tmp_path) + b"/\xff(\xfe) "
    os.symlink("/bin/sleep", odd)
    with subprocess.Popen([odd, "1000"]) as process:
        yield process.pid
        process.kill()


async def test_a_process_with_an_odd_name_keeps_nobody_from_ending_others(
    tmp_path: Path, left: Identity, oddly_named: int
) -> None:
    await noted(tmp_path, GONE, left).end_leftovers(grace=5.0)

    assert (identity_of(oddly_named) is not None, left.is_alive) == (True, False)


async def test_a_stranger_with_the_same_number_is_left_alone(tmp_path: Path, left: Identity) -> None:
    await noted(tmp_path, GONE, Identity(left.pid, left.started + 1)).end_leftovers(grace=0.1)

    assert left.is_alive


async def test_what_a_living_agent_has_started_is_left_alone(tmp_path: Path, left: Identity) -> None:
    other = identity_of(os.getppid())
    assert other is not None

    await noted(tmp_path, other, left).end_leftovers(grace=0.1)

    assert left.is_alive


@pytest.mark.parametrize("text", [pytest.param(b"", id="empty"), pytest.param(b"[1]", id="something else")])
async def test_a_file_that_says_nothing_is_passed_over(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "running.json").write_bytes(text)
    file = RunningFile(tmp_path / "running.json")

    await file.end_leftovers()
    await asyncio.to_thread(file.note, "p", GONE)

    written = msgspec.json.decode((tmp_path / "running.json").read_bytes(), type=Running)
    assert written == Running(identity_of(os.getpid()) or GONE, {"p": GONE})
