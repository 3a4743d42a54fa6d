"""Which applications a commit deploys, from real repositories: nothing is missed, and nothing deployed for nothing."""

from pathlib import Path

import msgspec
import pytest

from fairway.agent.applications import ApplicationReader, KnownApplication, Whose, view
from fairway.agent.triggering import Asked, NewDeployment, asked_for, examine, new_deployment
from fairway.delivery.trigger import TriggerOutcome
from fairway.git.mirror import Mirror
from fairway.model.application import Application, ApplicationKind, DeploymentReference, GitPath, Repository
from fairway.model.trigger import SyncStrategy, TriggerKind
from tests.integration.agent.running import an_application_file
from tests.integration.git.repositories import Origin, a_mirror, an_origin
from tests.unit.model.builders import NOW, a_commit, a_trigger, an_application

FILE = an_application_file("{name: WAIT, with: {duration: 1s}}")
NAMES = ("web", "shop")


def an_origin_of_two(folder: Path) -> Origin:
    return an_origin(folder, {f"{name}/app.pipecd.yaml": FILE for name in NAMES})


def registered(name: str, last: str = "") -> Application:
    """An application that was deployed at a commit last; never, without one."""
    place = GitPath(repository=Repository(id="r-1"), path=name, config_filename="app.pipecd.yaml")
    trigger = a_trigger(commit=a_commit(hash=last))
    reference = DeploymentReference(deployment_id="d-0", trigger=trigger, started_at=NOW) if last else None
    return an_application(f"a-{name}", name=name, git_path=place, last_triggered=reference)


async def known(mirror: Mirror, commit: str, last: str = "") -> tuple[KnownApplication, ...]:
    readings = await ApplicationReader().at_commit(mirror, commit)
    whose = Whose(repository_id="r-1", agent_id="agent-1")
    return view(commit, readings, [registered(name, last) for name in NAMES], whose).known


async def deployed(mirror: Mirror, commit: str, last: str, examined: dict[str, str]) -> list[str]:
    """The names of those that are deployed at a commit."""
    triggered = await examine(mirror, await known(mirror, commit, last), examined, NOW)
    return [each.known.application.name for each in triggered if each.decision.outcome is TriggerOutcome.TRIGGER]


async def test_what_was_never_deployed_is_and_then_only_what_a_commit_touches(tmp_path: Path) -> None:
    origin = an_origin_of_two(tmp_path)
    first = origin.head()
    second = origin.commit({"shop/version": "2"})
    examined: dict[str, str] = {}
    async with await a_mirror(origin) as mirror:
        assert await deployed(mirror, first, "", examined) == ["web", "shop"]
        assert await deployed(mirror, first, first, examined) == []
        assert await deployed(mirror, second, first, examined) == ["shop"]

    assert examined == {"a-web": second}


async def test_commits_that_came_while_nobody_looked_are_seen_together(tmp_path: Path) -> None:
    origin = an_origin_of_two(tmp_path)
    first = origin.head()
    origin.commit({"web/version": "2"})
    third = origin.commit({"other/version": "3"})
    async with await a_mirror(origin) as mirror:
        assert await deployed(mirror, third, first, {}) == ["web"]


async def test_what_was_examined_is_compared_from_there(tmp_path: Path) -> None:
    origin = an_origin_of_two(tmp_path)
    first = origin.head()
    second = origin.commit({"other": "2"})
    third = origin.commit({"web/version": "3"})
    examined: dict[str, str] = {}
    async with await a_mirror(origin) as mirror:
        assert await deployed(mirror, second, first, examined) == []
        # A change that was undone since is no change; from where it was examined there is one.
        assert await deployed(mirror, third, first, examined) == ["web"]

    assert examined == {"a-web": second, "a-shop": third}


async def test_after_a_forced_push_over_what_was_deployed_everything_may_have_changed(tmp_path: Path) -> None:
    origin, gone = an_origin_of_two(tmp_path), "0" * 40
    async with await a_mirror(origin) as mirror:
        assert await deployed(mirror, origin.head(), gone, {}) == ["web", "shop"]


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        pytest.param("KubernetesApp", ApplicationKind.KUBERNETES, id="kubernetes"),
        pytest.param("LambdaApp", ApplicationKind.LAMBDA, id="lambda"),
        pytest.param("Application", None, id="second generation"),
    ],
)
async def test_a_deployment_has_the_kind_of_its_file(tmp_path: Path, file: str, kind: ApplicationKind | None) -> None:
    """On the wire, who was registered without a kind has the first one."""
    text = FILE.replace("kind: Application", f"kind: {file}")
    origin, asked = an_origin(tmp_path, {"web/app.pipecd.yaml": text}), Asked(kind=TriggerKind.COMMAND)
    async with await a_mirror(origin) as mirror:
        web, *_ = await known(mirror, origin.head())
        first = msgspec.structs.replace(web.application, kind=ApplicationKind.KUBERNETES)
        new = NewDeployment(
            triggered=asked_for(msgspec.structs.replace(web, application=first), asked, NOW),
            commit=await mirror.commit(origin.head()),
            repository=Repository(id="r-1", remote="the remote", branch="main"),
            mirror=mirror,
            asked=asked,
        )

        assert new_deployment(new, lambda: "d-1", NOW).kind is kind


async def test_a_deployment_carries_its_commit_its_cause_and_its_place(tmp_path: Path) -> None:
    origin = an_origin_of_two(tmp_path)
    asked = Asked(kind=TriggerKind.COMMAND, strategy=SyncStrategy.QUICK_SYNC, commander="ada")
    async with await a_mirror(origin) as mirror:
        web, _ = await known(mirror, origin.head())
        new = NewDeployment(
            triggered=asked_for(web, asked, NOW),
            commit=await mirror.commit(origin.head()),
            repository=Repository(id="r-1", remote="the remote", branch="main"),
            mirror=mirror,
            asked=asked,
        )
        made = new_deployment(new, lambda: "d-1", NOW)

    assert (made.id, made.application_id, made.status_reason) == ("d-1", "a-web", "ada asked for it")
    assert (made.trigger.commit.hash, made.trigger.sync_strategy) == (origin.head(), SyncStrategy.QUICK_SYNC)
    assert made.git_path == GitPath(repository=new.repository, path="web", config_filename="app.pipecd.yaml")
