"""Pushes to a repository on this machine: when they are noticed, and what that costs."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from fairway.agent import repositories
from fairway.agent.file_watch import FileWatch
from fairway.agent.repositories import Repositories, WatchedRepository
from fairway.config.scalars import Duration
from tests.integration.agent.running import agent_config, until
from tests.integration.git.repositories import Origin, an_origin, git
from tests.patience import PATIENCE_SECONDS

#: Longer than any test: what happens meanwhile was not found by looking now and then.
NEVER = 3600.0


class Seen:
    """The commits that were told, one after the other."""

    def __init__(self) -> None:
        self.commits: asyncio.Queue[str | None] = asyncio.Queue()

    async def moved(self, repository: WatchedRepository) -> None:
        await self.commits.put(repository.head)

    async def next(self) -> str | None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await self.commits.get()


@asynccontextmanager
async def watching(origin: Origin, folder: Path, seen: Seen) -> AsyncIterator[WatchedRepository]:
    async with Repositories.open(folder / "mirrors", agent_config(origin)) as opened:
        task = asyncio.create_task(opened.watch(seen.moved, ask_seconds=NEVER))
        try:
            yield opened.by_id["r-1"]
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def test_a_remote_is_asked_as_often_as_the_agents_file_says(tmp_path: Path) -> None:
    config = msgspec.structs.replace(agent_config(an_origin(tmp_path)), sync_interval=Duration(minutes=5))
    async with Repositories.open(tmp_path / "mirrors", config) as opened:
        assert opened.ask_seconds == 300.0


async def test_the_kernel_tells_of_a_push(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repositories, "TOLD_SECONDS", NEVER)
    origin, seen, follows = an_origin(tmp_path), Seen(), asyncio.Event()

    class Told(FileWatch):
        def follow(self, directories: Iterable[Path]) -> bool:
            follows.set()
            return super().follow(directories)

    monkeypatch.setattr(repositories, "FileWatch", Told)
    async with watching(origin, tmp_path, seen):
        await seen.next()
        await follows.wait()
        pushed = origin.commit({"a": "2"})
        found = await seen.next()

    assert found == pushed


async def test_a_push_that_somebody_else_has_found_is_told_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FileWatch, "open", lambda _self: None)
    monkeypatch.setattr(repositories, "UNTOLD_SECONDS", NEVER)
    origin, seen = an_origin(tmp_path), Seen()
    async with watching(origin, tmp_path, seen) as repository:
        await seen.next()
        pushed = origin.commit({"a": "2"})
        # As somebody does who asks for a deployment.
        await repository.refresh()
        found = await seen.next()

    assert found == pushed


async def test_without_the_kernel_it_is_found_by_looking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FileWatch, "open", lambda _self: None)
    origin, seen = an_origin(tmp_path), Seen()
    async with watching(origin, tmp_path, seen):
        await seen.next()
        pushed = origin.commit({"a": "2"})
        found = await seen.next()

    assert found == pushed


async def test_a_push_while_the_one_before_is_acted_on_is_noticed_at_once(tmp_path: Path) -> None:
    origin = an_origin(tmp_path)

    class Pushing(Seen):
        pushed = ""

        async def moved(self, repository: WatchedRepository) -> None:
            self.pushed = self.pushed or origin.commit({"a": "2"})
            await super().moved(repository)

    seen = Pushing()
    async with watching(origin, tmp_path, seen):
        await seen.next()
        found = await seen.next()

    assert found == seen.pushed


async def test_refs_that_were_packed_are_asked_of_git(tmp_path: Path) -> None:
    origin, seen = an_origin(tmp_path), Seen()
    async with watching(origin, tmp_path, seen) as repository:
        await seen.next()
        pushed = origin.commit({"a": "2"})
        git(origin.bare, "pack-refs", "--all")
        found = await seen.next()
        has_moved = await repository.refresh()

    assert (found, has_moved) == (pushed, False)


async def test_whoever_is_told_of_a_push_asks_the_remote_once(tmp_path: Path) -> None:
    origin, seen = an_origin(tmp_path), Seen()
    async with watching(origin, tmp_path, seen) as repository:
        await seen.next()
        repository.refs, mirror = (), await repository.mirror()
        asked: list[str] = []
        real = mirror.git.remote_output

        async def counting(what: str, url: str, *arguments: str, git_dir: Path | None = None) -> bytes:
            asked.append(arguments[0])
            return await real(what, url, *arguments, git_dir=git_dir)

        mirror.git.remote_output = counting  # type: ignore[method-assign]  # counts, then calls the real one
        pushed = origin.commit({"a": "2"})
        repository.nudge()
        found = await seen.next()

    assert (found, asked) == (pushed, ["fetch"])


@pytest.mark.parametrize("nudged", [False, True], ids=["asked now and then", "told of a push"])
async def test_a_branch_that_is_there_no_longer_is_told_until_it_is_back(tmp_path: Path, nudged: bool) -> None:
    origin, seen = an_origin(tmp_path), Seen()
    async with watching(origin, tmp_path, seen) as repository:
        head = await seen.next()
        git(origin.bare, "branch", "--move", "main", "trunk")
        if nudged:
            repository.nudge()

        async def trouble() -> str:
            return repository.trouble

        told = await until(trouble)
        git(origin.bare, "branch", "main", "trunk")

        async def is_well() -> bool:
            return not repository.trouble

        await until(is_well)

    assert told == "repository r-1 has no branch 'main'; push it, or name another in the agent's file"
    assert repository.head == head
