"""Git processes: allowed transports, deadlines, and nothing left behind."""

import asyncio
import os
from pathlib import Path

import pytest

from fairway.git import process
from fairway.git.errors import GitInputError, GitLocalError, GitRemoteError
from fairway.git.process import Git
from tests.patience import PATIENCE_SECONDS


def a_git_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `git` that starts a child, notes its number and waits for ever."""
    note, script = tmp_path / "child", tmp_path / "git"
    os.mkfifo(note)
    script.write_text(f"#!/bin/sh\nsleep 1000 & echo $! > {note}\nwait\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return note


def is_running(number: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1][:3]
    except (FileNotFoundError, ProcessLookupError):
        # Gone before it was looked at, or while it was.
        return False


async def test_git_itself_refuses_a_transport_helper(tmp_path: Path) -> None:
    url = f"ext::touch {tmp_path}/owned"
    with pytest.raises(GitInputError, match="this kind of address is not allowed"):
        await Git().remote_output("read", url, "ls-remote", "--", url)

    assert os.listdir(tmp_path) == []


async def test_a_cancelled_command_takes_its_children_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    note = a_git_that_hangs(tmp_path, monkeypatch)
    running = asyncio.create_task(Git().run("status"))
    child = int(await asyncio.to_thread(note.read_text))

    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    async with asyncio.timeout(PATIENCE_SECONDS):
        while is_running(child):  # noqa: ASYNC110 - nobody tells when a grandchild is gone
            await asyncio.sleep(0)

    assert running.cancelled()


def started_with(path: Path) -> list[int]:
    """The processes that look for programs in this directory."""
    found = []
    for process_directory in Path("/proc").glob("[0-9]*"):
        try:
            if os.fsencode(path) in (process_directory / "environ").read_bytes():
                found.append(int(process_directory.name))
        except OSError:
            continue  # gone, or somebody else's
    return [number for number in found if is_running(number)]


@pytest.mark.parametrize("steps", range(8))
async def test_a_command_that_is_cancelled_while_it_starts_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    a_git_that_hangs(tmp_path, monkeypatch)
    running = asyncio.create_task(Git().run("status"))
    for _ in range(steps):
        await asyncio.sleep(0)

    running.cancel()
    async with asyncio.timeout(PATIENCE_SECONDS):
        await asyncio.gather(running, return_exceptions=True)
        while started_with(tmp_path):  # noqa: ASYNC110 - nobody tells when a grandchild is gone
            await asyncio.sleep(0)

    assert running.cancelled()


async def test_a_command_that_does_not_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_git_that_hangs(tmp_path, monkeypatch)
    monkeypatch.setattr(process, "LOCAL_TIMEOUT", 0.05)

    with pytest.raises(GitLocalError, match=r"git status did not end within 0\.05 s"):
        await Git().run("status")


async def test_a_remote_that_says_nothing_is_asked_no_longer_than_a_question_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_git_that_hangs(tmp_path, monkeypatch)
    monkeypatch.setattr(process, "ASK_TIMEOUT", 0.05)

    with pytest.raises(GitRemoteError, match=r"git ls-remote of git://host/x did not end within 0\.05 s"):
        await Git().remote_output("read the branches of", "git://host/x", "ls-remote", "--", "git://host/x")


async def test_a_tree_that_repeats_itself_is_refused_above_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tree bomb: some kilobytes of objects, ten billion files."""
    monkeypatch.setattr(process, "MOST_OUTPUT", 1 << 20)
    git, repository = Git(), tmp_path / "bomb.git"
    await git.output("init", "--bare", "--quiet", str(repository))
    found = (await git.output("hash-object", "-w", "--stdin", git_dir=repository, stdin=b"x")).strip().decode()
    kind, mode = "blob", "100644"
    for _ in range(10):
        entries = "".join(f"{mode} {kind} {found}\t{name}\n" for name in range(10))
        found = (await git.output("mktree", git_dir=repository, stdin=entries.encode())).strip().decode()
        kind, mode = "tree", "040000"

    with pytest.raises(GitInputError, match=r"^git ls-tree wrote more than 1 MiB: the commit has too many files"):
        await git.output("ls-tree", "-r", "-z", found, git_dir=repository)
