"""The demo repository, and a user's own: real Git."""

from pathlib import Path

import msgspec
import pytest

from fairway.cli.lint import lint_paths
from fairway.cli.up.agent_file import AgentFile, WatchedRepository
from fairway.cli.up.demo import Demo, GitFailed, git
from fairway.cli.up.places import Places
from fairway.cli.up.repositories import choose_repositories, own_repository
from fairway.model.application import Application, DeploymentReference, GitPath, Repository
from tests.integration.git.repositories import an_origin
from tests.ports import a_free_port
from tests.unit.model.builders import NOW, a_trigger, an_application


@pytest.fixture(autouse=True)
def no_configuration_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


def deployed(path: str) -> Application:
    reference = DeploymentReference(deployment_id="d-1", trigger=a_trigger(), started_at=NOW)
    place = GitPath(repository=Repository(id="demo"), path=path)
    return an_application(f"a-{path}", git_path=place, last_succeeded=reference)


BOTH = [deployed("hello"), deployed("risky")]


def a_demo(folder: Path) -> Demo:
    demo = Demo(folder / "demo")
    demo.make()
    return demo


def test_the_demo_has_files_without_fault_and_lets_its_user_commit(tmp_path: Path) -> None:
    demo = a_demo(tmp_path)

    (demo.place / "hello" / "greeting.txt").write_text("Hello again\n")
    git(demo.place, "commit", "--quiet", "--all", "--message", "Greet")

    # Any user may approve in the demo, which lint warns of.
    warned = [each.message for each in lint_paths([demo.place]).problems]
    assert warned == ["is missing: any user with a role that allows it may approve; list who may"]
    assert git(demo.place, "log", "--format=%s") == "Greet\nTwo applications, version 1"
    assert demo.address("hello") != demo.address("risky")


def test_two_applications_of_a_demo_never_get_the_same_port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = a_free_port(), a_free_port()
    chosen = iter([one, one, other])
    monkeypatch.setattr("random.choice", lambda _: next(chosen))

    demo = a_demo(tmp_path)

    assert [demo.address(name) for name in ("hello", "risky")] == [f"http://127.0.0.1:{each}/" for each in (one, other)]


def test_version_2_is_committed_once_when_version_1_runs(tmp_path: Path) -> None:
    demo = a_demo(tmp_path)

    demo.play([deployed("hello")])
    too_early = git(demo.place, "rev-list", "--count", "HEAD")
    demo.play(BOTH)
    Demo(demo.place).play(BOTH)

    assert too_early == "1"
    assert git(demo.place, "log", "--format=%s") == "Two applications, version 2\nTwo applications, version 1"


def test_what_a_killed_up_has_written_is_committed_by_the_next(tmp_path: Path) -> None:
    demo = a_demo(tmp_path)
    (demo.place / "hello" / "greeting.txt").write_text("Hello from version 2\n")

    demo.play(BOTH)

    assert git(demo.place, "rev-list", "--count", "HEAD") == "2"
    assert git(demo.place, "status", "--short") == ""


def test_nothing_is_committed_over_the_users_own_changes(tmp_path: Path) -> None:
    demo = a_demo(tmp_path)
    (demo.place / "hello" / "greeting.txt").write_text("mine\n")

    demo.play(BOTH)

    assert git(demo.place, "rev-list", "--count", "HEAD") == "1"
    assert (demo.place / "hello" / "greeting.txt").read_text() == "mine\n"
    assert demo.expected(BOTH, approved=False).coming == ""


def test_an_own_repository_is_known_by_its_directory_bare_or_not(tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"words": "some"})
    (origin.work / "below").mkdir()

    found = [own_repository(each, set()) for each in (origin.bare, origin.work, origin.work / "below")]

    work = WatchedRepository(id=origin.work.name, path=origin.work, branch="main")
    bare = WatchedRepository(id=origin.bare.name.removesuffix(".git"), path=origin.bare, branch="main")
    assert found == [bare, work, work]
    assert own_repository(origin.work, {origin.work.name}).id == f"{origin.work.name}-2"


def test_a_directory_that_is_no_repository_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GitFailed, match="expected a Git repository that is on a branch"):
        own_repository(tmp_path, set())


def test_what_was_watched_before_is_watched_again(tmp_path: Path) -> None:
    places = Places(tmp_path / "data")
    places.data.mkdir()
    origin = an_origin(tmp_path, {"words": "some"})

    first = choose_repositories(places, Demo(places.demo), origin.work)
    AgentFile(places).write("agent-1", "127.0.0.1:1", first)
    second = choose_repositories(places, Demo(places.demo), None)

    assert [each.path for each in first] == [origin.work]
    assert second == first


def test_a_repository_that_is_named_again_is_watched_by_the_branch_that_it_is_on_now(tmp_path: Path) -> None:
    places = Places(tmp_path / "data")
    places.data.mkdir()
    origin = an_origin(tmp_path, {"words": "some"})
    first = choose_repositories(places, Demo(places.demo), origin.work)
    AgentFile(places).write("agent-1", "127.0.0.1:1", first)
    git(origin.work, "checkout", "-q", "-b", "other")

    unnamed = choose_repositories(places, Demo(places.demo), None)
    named = choose_repositories(places, Demo(places.demo), origin.work)

    assert unnamed == first
    assert named == [msgspec.structs.replace(first[0], branch="other")]
