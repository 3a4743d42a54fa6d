"""Application files from commit to commit: the same whether a commit is read by itself or after another."""

from pathlib import Path

from fairway.agent.applications import ApplicationReader
from tests.integration.agent.running import an_application_file
from tests.integration.git.repositories import Origin, a_mirror, an_origin, git


def a_history(folder: Path) -> tuple[Origin, list[str]]:
    file = an_application_file("{name: WAIT}")
    origin = an_origin(folder, {"web/app.pipecd.yaml": file, "shop/app.pipecd.yaml": file, "web/other": "1"})
    commits = [origin.head()]
    commits.append(origin.commit({"web/app.pipecd.yaml": file.replace("web", "changed"), "web/other": "2"}))
    commits.append(origin.commit({"shop/app.pipecd.yaml": None, "new/deep/app.pipecd.yaml": file}))
    commits.append(origin.commit({"web/other": "3"}))
    return origin, commits


async def test_what_has_changed_since_the_last_look_gives_the_same_as_everything(tmp_path: Path) -> None:
    origin, commits = a_history(tmp_path)
    reader = ApplicationReader()
    async with await a_mirror(origin) as mirror:
        for commit in (*commits, *reversed(commits)):
            assert await reader.at_commit(mirror, commit) == await ApplicationReader().at_commit(mirror, commit)


async def test_a_commit_that_is_gone_hides_nothing(tmp_path: Path) -> None:
    origin, commits = a_history(tmp_path)
    reader = ApplicationReader()
    async with await a_mirror(origin) as mirror:
        await reader.at_commit(mirror, commits[1])
        git(origin.work, "reset", "--quiet", "--hard", commits[0])
        newest = origin.commit({"other": "1"})
        await mirror.fetch()
        for ref in ("--expire=now", "--all"):
            git(mirror.git_dir, "reflog", "expire", ref)
        git(mirror.git_dir, "prune", "--expire=now")

        found = await reader.at_commit(mirror, newest)

    assert sorted(found) == ["shop/app.pipecd.yaml", "web/app.pipecd.yaml"]
