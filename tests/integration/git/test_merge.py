"""Merging in a mirror: without a checkout, without moving a branch."""

from pathlib import Path

import pytest

from fairway.git.merge import MergeConflict, merge_commits
from tests.integration.git.repositories import Origin, a_mirror, an_origin, git


def a_branch(origin: Origin, files: dict[str, str | bytes | None]) -> str:
    git(origin.work, "checkout", "--quiet", "-B", "change", "origin/main")
    commit = origin.commit(files, branch="change")
    git(origin.work, "checkout", "--quiet", "main")
    return commit


async def test_a_merge_has_the_files_of_both_and_is_the_same_each_time(tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"a": "a", "b": "b"})
    head = a_branch(origin, {"a": "a of the branch"})
    base = origin.commit({"b": "b of main"})
    async with await a_mirror(origin) as mirror:
        merged = [await merge_commits(mirror, base, head) for _ in range(2)]

        files = [await mirror.read_file(merged[0], path) for path in ("a", "b")]
        commit, where = await mirror.commit(merged[0]), await mirror.head("main")

    assert files == [b"a of the branch", b"b of main"]
    assert merged[0] == merged[1]
    assert (commit.parents, where) == ((base, head), base)


async def test_where_one_contains_the_other_there_is_nothing_to_merge(tmp_path: Path) -> None:
    origin = an_origin(tmp_path)
    first = origin.head()
    second = origin.commit({"b": "b"})
    async with await a_mirror(origin) as mirror:
        found = [await merge_commits(mirror, first, second), await merge_commits(mirror, second, first)]

    assert found == [second, second]


async def test_a_conflict_names_the_files(tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"a": "a\n", "b": "b\n"})
    head = a_branch(origin, {"a": "one\n", "b": "one\n"})
    base = origin.commit({"a": "other\n", "b": "other\n"})
    async with await a_mirror(origin) as mirror:
        with pytest.raises(MergeConflict, match="both change a, b; merge the base"):
            await merge_commits(mirror, base, head)
