"""Commit and push: edits that arrive whole, once, on top of what others pushed."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fairway.errors import FairwayError
from fairway.git.commit import Changes, CommitText, Person, create_commit
from fairway.git.errors import GitInputError, GitNotFound, GitRejectedError, RemoteMoved
from fairway.git.push import Pushed, PushTarget, Read, push_edit
from tests.integration.git.repositories import Origin, a_mirror, an_origin, git, patient

TEXT = CommitText(
    message="Promote web\n",
    author=Person("Fairway", "bot@example.com"),
    at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    trailers=(("Fairway-Deployment", "d-1"),),
)
MAIN = PushTarget("main")


def writes(changes: Changes) -> Callable[[Read], Awaitable[Changes]]:
    async def edit(read: Read) -> Changes:
        return changes

    return edit


async def count_up(read: Read) -> Changes:
    return {"n": b"%d" % (int(await read("n") or b"0") + 1)}


def reject_pushes(origin: Origin, script: str) -> None:
    hook = origin.bare / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\n{script}\n")
    hook.chmod(0o755)


async def test_an_edit_becomes_a_commit_on_the_remote_and_in_the_mirror(tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"run.sh": "1", "gone": "x", "kept": "k"})
    (origin.work / "run.sh").chmod(0o755)
    parent = origin.commit_all()
    async with await a_mirror(origin) as mirror:
        edit = writes({"run.sh": b"2", "gone": None, 'new/"ü .yaml': b"\xff"})
        pushed = await push_edit(mirror, MAIN, edit, TEXT)
        known = await mirror.head("main")

    assert pushed == Pushed(origin.head(), origin.head())
    assert known == pushed.head
    entries = git(origin.bare, "ls-tree", "-r", "-z", "main").split("\0")[:-1]
    modes = {entry.split("\t")[1]: entry[:6] for entry in entries}
    assert modes == {"kept": "100644", 'new/"ü .yaml': "100644", "run.sh": "100755"}
    assert (origin.show("run.sh"), git(origin.bare, "rev-parse", "main^")) == ("2", parent)


async def test_the_commit_carries_people_time_message_and_trailers(tmp_path: Path) -> None:
    origin = an_origin(tmp_path)
    async with await a_mirror(origin) as mirror:
        await push_edit(mirror, MAIN, writes({"a": b"1"}), TEXT)

    shown = git(origin.bare, "log", "-1", "--format=%an|%ae|%cn|%aI|%B", "main")
    assert shown == ("Fairway|bot@example.com|Fairway|2026-01-02T03:04:05+00:00|Promote web\n\nFairway-Deployment: d-1")


async def test_an_edit_that_changes_nothing_makes_no_commit(tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"a": "same"})
    before = origin.head()
    async with await a_mirror(origin) as mirror:
        pushed = await push_edit(mirror, MAIN, writes({"a": b"same", "never/was": None}), TEXT)

    assert (pushed, origin.head()) == (Pushed(before, None), before)


async def test_an_edit_is_made_anew_when_somebody_pushed_first(tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"n": "1"})
    rivals = iter([{"n": "10"}, {"n": "20", "other": "kept"}])

    async def edit(read: Read) -> Changes:
        changes = await count_up(read)
        if rival := next(rivals, None):
            origin.commit(rival)
        return changes

    async with await a_mirror(origin) as mirror:
        await push_edit(mirror, MAIN, edit, TEXT)

    assert (origin.show("n"), origin.show("other")) == ("21", "kept")


async def test_a_remote_that_never_stands_still_is_given_up(tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"n": "1"})
    tries: list[int] = []

    async def edit(read: Read) -> Changes:
        tries.append(1)
        origin.commit({"other": str(len(tries))})
        return await count_up(read)

    async with await a_mirror(origin, patient(attempts=2)) as mirror:
        with pytest.raises(RemoteMoved, match="gave up after 2 tries"):
            await push_edit(mirror, MAIN, edit, TEXT)

    assert len(tries) == 2


async def test_a_new_branch_begins_at_its_base_and_a_repetition_changes_nothing(tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"v": "1"})
    base, target = origin.head(), PushTarget("promotion/web", base="main")
    async with await a_mirror(origin) as mirror:
        first = await push_edit(mirror, target, writes({"v": b"2"}), TEXT)
        again = await push_edit(mirror, target, writes({"v": b"2"}), TEXT)

    assert again == Pushed(first.head, None)
    assert (origin.head("promotion/web"), origin.head("main")) == (first.head, base)
    assert git(origin.bare, "rev-parse", "promotion/web^") == base


async def test_a_branch_that_was_merged_starts_again_from_its_base(tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"v": "1"})
    target = PushTarget("promotion", base="main")
    async with await a_mirror(origin) as mirror:
        first = await push_edit(mirror, target, writes({"v": b"2"}), TEXT)
        git(origin.bare, "update-ref", "refs/heads/main", first.head)
        git(origin.work, "pull", "--quiet", "origin", "main")
        newest = origin.commit({"other": "x"})
        await push_edit(mirror, target, writes({"v": b"3"}), TEXT)

    assert git(origin.bare, "rev-parse", "promotion^") == newest


async def test_a_push_that_the_remotes_rules_refuse_is_not_repeated(tmp_path: Path) -> None:
    origin = an_origin(tmp_path)
    reject_pushes(origin, f"echo try >> {tmp_path}/tries; echo 'main is frozen' >&2; exit 1")
    async with await a_mirror(origin) as mirror:
        with pytest.raises(GitRejectedError, match="main is frozen"):
            await push_edit(mirror, MAIN, writes({"a": b"1"}), TEXT)

    assert (tmp_path / "tries").read_text() == "try\n"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        pytest.param({"../a": b""}, "component '..'", id="path upwards"),
        pytest.param({".git/config": b""}, "component '.git'", id="git's own files"),
        pytest.param({"link": b""}, "'link' is a symlink", id="a link"),
        pytest.param({"dir": b""}, "'dir' is a directory", id="a directory"),
        pytest.param({"dir/f/g": b""}, "'dir/f' is not a directory", id="below a file"),
        pytest.param({"x": b"", "x/y": b""}, "'x' is not a directory", id="below a new file"),
    ],
)
async def test_changes_that_do_not_fit_the_tree_are_refused(tmp_path: Path, changes: Changes, words: str) -> None:
    origin = an_origin(tmp_path, {"dir/f": "1"})
    (origin.work / "link").symlink_to("dir/f")
    commit = origin.commit_all()
    async with await a_mirror(origin) as mirror:
        with pytest.raises(GitInputError) as caught:
            await create_commit(mirror, commit, changes, TEXT)

    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        pytest.param(PushTarget("absent"), GitNotFound, id="no such branch"),
        pytest.param(PushTarget("new", base="absent"), GitNotFound, id="no such base"),
        pytest.param(PushTarget("--mirror"), GitInputError, id="an option"),
        pytest.param(PushTarget("a..b"), GitInputError, id="a range"),
    ],
)
async def test_branches_that_cannot_be_pushed_to_are_refused(
    tmp_path: Path, target: PushTarget, kind: type[FairwayError]
) -> None:
    async with await a_mirror(an_origin(tmp_path)) as mirror:
        with pytest.raises(kind):
            await push_edit(mirror, target, count_up, TEXT)
