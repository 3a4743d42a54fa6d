"""Mirror: cloning, fetching, asking for news, history and comparison, against real repositories."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fairway.git.changes import Change, ChangeKind
from fairway.git.errors import GitInputError, GitLocalError, GitNotFound
from fairway.git.history import Commit
from fairway.git.mirror import Mirror
from fairway.git.process import Completed, Git
from tests.integration.git.repositories import Origin, a_mirror, an_origin, git, patient

HELLO_BLOB = "ce013625030ba8dba906f756967f9e9ca394464a"  # of "hello\n"


async def test_a_mirror_follows_its_remote_when_it_fetches(tmp_path: Path) -> None:
    origin = an_origin(tmp_path)
    async with await a_mirror(origin) as mirror:
        before = await mirror.head("main")

        newest = origin.commit({"app.yaml": "name: shop\n"})
        unfetched = await mirror.head("main")
        await mirror.fetch()

        assert (unfetched, await mirror.head("main")) == (before, newest)
        assert await mirror.read_file(newest, "app.yaml") == b"name: shop\n"


@pytest.mark.parametrize("form", [pytest.param("{}", id="plain path"), pytest.param("file://{}", id="file address")])
async def test_the_remotes_head_is_known_without_fetching(tmp_path: Path, form: str) -> None:
    origin = an_origin(tmp_path)
    async with await Mirror.open(tmp_path / "m.git", form.format(origin.bare), patient()) as mirror:
        newest = origin.commit({"b": "b"})
        git(origin.work, "push", "--quiet", "origin", "HEAD~1:refs/heads/x/refs/heads/main")

        heads = (await mirror.remote_head("main"), await mirror.remote_head("absent"))

    assert heads == (newest, None)


async def test_branches_that_are_gone_at_the_remote_go_and_names_may_turn_into_directories(tmp_path: Path) -> None:
    origin = an_origin(tmp_path)
    feature = origin.commit({"f": "f"}, branch="feature")
    async with await a_mirror(origin) as mirror:
        assert await mirror.head("feature") == feature

        git(origin.bare, "update-ref", "-d", "refs/heads/feature")
        nested = origin.commit({"g": "g"}, branch="feature/one")
        await mirror.fetch()

        assert (await mirror.head("feature"), await mirror.head("feature/one")) == (None, nested)


async def test_callers_at_the_same_time_share_a_fetch(tmp_path: Path) -> None:
    origin = an_origin(tmp_path)
    async with await a_mirror(origin) as mirror:
        calls: list[tuple[str, ...]] = []
        real = mirror.git.remote_output

        async def counting(what: str, url: str, *arguments: str, git_dir: Path | None = None) -> bytes:
            calls.append(arguments)
            return await real(what, url, *arguments, git_dir=git_dir)

        mirror.git.remote_output = counting  # type: ignore[method-assign]  # counts, then calls the real one
        await asyncio.gather(*(mirror.fetch() for _ in range(20)))

    assert len(calls) == 1


async def test_a_commit_is_read_with_its_people_times_and_trailers(tmp_path: Path) -> None:
    origin = an_origin(tmp_path)
    message = "Release ✓\n\nBody.\n\nReviewed-by: Eve\nFairway-Trace: abc\n"
    newest = origin.commit({"x": "1"}, message=message)
    async with await a_mirror(origin) as mirror:
        first = (await mirror.history(newest, limit=5))[1]
        commit = await mirror.commit(newest)

    assert commit == Commit(
        hash=newest,
        parents=(first.hash,),
        author="Ada",
        email="ada@example.com",
        authored_at=datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC),
        committer="Bob",
        committed_at=datetime(2023, 11, 14, 22, 14, 20, tzinfo=UTC),
        message=message.strip(),
        trailers=(("Reviewed-by", "Eve"), ("Fairway-Trace", "abc")),
    )
    assert (commit.subject, commit.trailer("fairway-trace"), commit.trailer("none")) == ("Release ✓", "abc", None)


async def test_history_stops_at_the_limit_and_at_the_commit_known_before(tmp_path: Path) -> None:
    origin = an_origin(tmp_path)
    first = origin.head()
    second, third = origin.commit({"a": "2"}), origin.commit({"a": "3"})
    async with await a_mirror(origin) as mirror:
        limited = [commit.hash for commit in await mirror.history(third, limit=2)]
        since = [commit.hash for commit in await mirror.history(third, limit=9, after=first)]
        ancestry = (await mirror.is_ancestor(first, third), await mirror.is_ancestor(third, first))

    assert (limited, since, ancestry) == ([third, second], [third, second], (True, False))


async def test_changes_name_both_paths_of_a_rename_and_odd_names_survive(tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"old name.yaml": "hello\n", 'q"\n\tü': "1"})
    first = origin.head()
    (origin.work / "old name.yaml").rename(origin.work / "new.yaml")
    (origin.work / "caf\udce9").write_bytes(b"2")  # the bytes c a f 0xe9: not UTF-8
    second = origin.commit_all()
    async with await a_mirror(origin) as mirror:
        changes = await mirror.changes(first, second)

    assert changes == [
        Change("caf\udce9", ChangeKind.ADDED, None, "d8263ee9860594d2806b0dfd1bfd17528b0ba2a4"),
        Change("new.yaml", ChangeKind.ADDED, None, HELLO_BLOB),
        Change("old name.yaml", ChangeKind.DELETED, HELLO_BLOB, None),
    ]


async def test_the_changes_of_a_first_commit_are_all_its_files(tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"a/b.txt": "hello\n"})
    async with await a_mirror(origin) as mirror:
        changes = await mirror.changes(None, origin.head())

    assert changes == [Change("a/b.txt", ChangeKind.ADDED, None, HELLO_BLOB)]


async def test_a_commit_that_a_forced_push_removed_can_still_be_fetched_by_its_hash(tmp_path: Path) -> None:
    origin = an_origin(tmp_path)
    git(origin.bare, "config", "uploadpack.allowAnySHA1InWant", "true")
    lost = origin.commit({"lost": "1"})
    git(origin.work, "reset", "--quiet", "--hard", "HEAD~1")
    origin.commit({"kept": "1"})
    async with await a_mirror(origin) as mirror:
        with pytest.raises(GitNotFound, match="was the branch rewritten"):
            await mirror.tree(lost)
        await mirror.fetch_commit(lost)

        assert await mirror.read_file(lost, "lost") == b"1"


async def test_a_second_owner_of_the_same_directory_is_refused(tmp_path: Path) -> None:
    origin = an_origin(tmp_path)
    async with await a_mirror(origin):
        with pytest.raises(GitLocalError, match="used by another process"):
            await a_mirror(origin)


async def test_an_empty_remote_has_no_branches(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--bare", "empty.git")
    origin = Origin(bare=tmp_path / "empty.git", work=tmp_path)
    async with await a_mirror(origin) as mirror:
        await mirror.fetch()

        assert (await mirror.head("main"), await mirror.remote_head("main")) == (None, None)


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param("HEAD", id="a name"),
        pytest.param("--output=/tmp/x", id="an option"),
        pytest.param("abc123", id="an abbreviation"),
        pytest.param("0" * 40 + "^", id="an expression"),
    ],
)
async def test_only_whole_hashes_name_commits(tmp_path: Path, bad: str) -> None:
    async with await a_mirror(an_origin(tmp_path)) as mirror:
        for call in (mirror.tree(bad), mirror.read_file(bad, "a"), mirror.changes(bad, bad), mirror.commit(bad)):
            with pytest.raises(GitInputError, match="is not a commit hash"):
                await call


class KilledGit(Git):
    """A git whose local commands are all killed."""

    async def run(self, *_arguments: str, git_dir: Path | None = None, stdin: bytes = b"") -> Completed:
        return Completed(code=-9, stdout=b"", stderr="")


async def test_a_question_whose_git_was_killed_has_no_answer(tmp_path: Path) -> None:
    origin = an_origin(tmp_path)
    async with await a_mirror(origin) as mirror:
        mirror.git = KilledGit()
        with pytest.raises(GitLocalError, match="merge-base failed"):
            await mirror.is_ancestor(origin.head(), origin.head())
