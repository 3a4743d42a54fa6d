"""Trees and their differences, read object by object, against what git itself says of the same commits."""

import os
from itertools import permutations
from pathlib import Path

import pytest

from fairway.git.changes import Change, ChangeKind
from fairway.git.errors import GitLocalError
from fairway.git.mirror import Mirror
from fairway.git.tree import Kind, TreeEntry, parse_tree
from tests.integration.git.repositories import Origin, a_mirror, an_origin, git


def changed_history(folder: Path) -> tuple[Origin, list[str]]:
    """Commits between which everything happens to a path that can."""
    origin = an_origin(folder, {"a": "1", "b/c/d": "1", "b/e": "1", "b-": "1", "b.x/y": "1", "run": "1"})
    commits = [origin.head()]
    commits.append(origin.commit({"b/c/d": "2", "new/deep/er/file": "1", 'q"\n\tü': "1"}))
    (origin.work / "a").unlink()
    commits.append(origin.commit({"a/was/a/file": "1", "b/c/d": None, "b/e": None}))
    os.chmod(origin.work / "run", 0o755)
    (origin.work / "b-").unlink()
    (origin.work / "b-").symlink_to("run")
    git(origin.work, "update-index", "--add", "--cacheinfo", f"160000,{commits[0]},module")
    commits.append(origin.commit_all())
    return origin, commits


def said_by_git(origin: Origin, old: str, new: str) -> list[Change]:
    fields = git(origin.bare, "diff-tree", "-r", "-z", "--raw", "--no-renames", old, new).split("\0")
    found = []
    for meta, path in zip(fields[:-1:2], fields[1::2], strict=True):
        _, _, before, after, letter = meta.lstrip(":").split(" ")
        both = [None if set(each) == {"0"} else each for each in (before, after)]
        found.append(Change(path, ChangeKind(letter), *both))
    return found


async def test_the_differences_of_two_commits_are_those_that_git_finds(tmp_path: Path) -> None:
    origin, commits = changed_history(tmp_path)
    async with await a_mirror(origin) as mirror:
        for old, new in permutations(commits, 2):
            assert await mirror.changes(old, new) == said_by_git(origin, old, new)
        assert await mirror.changes(commits[0], commits[0]) == []


async def test_a_small_tree_is_the_one_that_git_lists(tmp_path: Path) -> None:
    origin, commits = changed_history(tmp_path)
    async with await a_mirror(origin) as mirror:
        for commit in commits:
            listed = git(origin.bare, "ls-tree", "-r", "-z", "--full-tree", commit)
            assert list((await mirror.tree(commit)).items()) == list(
                parse_tree(listed.encode("utf-8", "surrogateescape")).items()
            )


async def test_a_tree_of_many_directories_is_whole_too(tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {f"{each}/file": "1" for each in range(100)})
    async with await a_mirror(origin) as mirror:
        tree = await mirror.tree(origin.head())

    blob = TreeEntry(Kind.FILE, "56a6051ca2b02b04ef92d5150c9ef600403cb1de")
    assert tree == {f"{each}/file": blob for each in range(100)}


async def test_no_process_is_started_for_what_is_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    origin, commits = changed_history(tmp_path)
    async with await a_mirror(origin) as mirror:
        await mirror.head("main")  # the process that stays

        async def refuse(*_arguments: object, **_options: object) -> bytes:
            raise GitLocalError("another git was started")

        monkeypatch.setattr(mirror.git, "run", refuse)
        found = await asked(mirror, commits)

    assert found == ("Ada", 6, [ChangeKind.MODIFIED, ChangeKind.ADDED, ChangeKind.ADDED])


async def asked(mirror: Mirror, commits: list[str]) -> tuple[str, int, list[ChangeKind]]:
    changes = await mirror.changes(commits[0], commits[1])
    return (
        (await mirror.commit(commits[1])).author,
        len(await mirror.tree(commits[0])),
        [change.kind for change in changes],
    )


async def test_a_commit_is_read_as_git_reads_it_whatever_is_in_its_message(tmp_path: Path) -> None:
    messages = ("one", "fix: one\n\nBody.\n\n\n", "t\n\nKey: value\nOther: x", "ü\nKey: no trailer", "", "\n\nlate: x")
    origin = an_origin(tmp_path)
    tree = git(origin.bare, "rev-parse", "main^{tree}")
    commits = [git(origin.bare, "commit-tree", tree, "-p", "main", stdin=each.encode()) for each in messages]
    commits.append(git(origin.bare, "-c", "i18n.commitEncoding=latin1", "commit-tree", tree, stdin=b"caf\xe9"))
    for number, commit in enumerate(commits):
        git(origin.bare, "update-ref", f"refs/heads/{number}", commit)
    async with await a_mirror(origin) as mirror:
        read = [await mirror.commit(commit) for commit in commits]
        said = [(await mirror.history(commit, limit=1))[0] for commit in commits]

    assert read == said
