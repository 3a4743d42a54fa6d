"""Whatever keeps a deployment from being planned ends it with that reason; nothing stays pending for ever."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fairway.model.application import GitPath, Repository
from fairway.model.command import CancelDeployment, CommandStatus
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.trigger import SyncStrategy
from fairway.server.store import deployments
from tests.integration.agent.foreign import a_foreign_plugin
from tests.integration.agent.running import World, a_world, an_agent_at_work, an_application_file, script, until
from tests.integration.agent.test_cancelling import appears, there
from tests.integration.git.repositories import an_origin
from tests.unit.model.builders import a_commit, a_deployment, a_trigger

GONE = "0123456789012345678901234567890123456789"
SEALED = "  encryptedSecrets: {key: AgEi}\n"
FILES = {
    "web/app.pipecd.yaml": an_application_file(script("true")),
    "broken/app.pipecd.yaml": "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec: {pipelin: []}\n",
    "sealed/app.pipecd.yaml": an_application_file(script("echo {{ .encryptedSecrets.key }}"), spec=SEALED),
    "unknown/app.pipecd.yaml": an_application_file("{name: TELEPORT, with: {}}"),
    "bare/app.pipecd.yaml": an_application_file(script("true")).partition("  pipeline:")[0],
    "wrong/app.pipecd.yaml": an_application_file("{name: MY_OWN, with: {}}", script("true", retry=1000)),
}


Left = Callable[[str], Deployment]


def left_pending(directory: str = "web", *, commit: str = "", repository: str = "r-1", **trigger: Any) -> Left:
    """A deployment that an agent has left, of the repository's head unless told otherwise."""

    def made(head: str) -> Deployment:
        place = GitPath(repository=Repository(id=repository), path=directory, config_filename="app.pipecd.yaml")
        asked = a_trigger(commit=a_commit(hash=commit or head), **trigger)
        return a_deployment(id="d-left", application_id="a-web", git_path=place, trigger=asked)

    return made


@pytest.mark.parametrize(
    ("left", "reason"),
    [
        pytest.param(
            left_pending(repository="r-9"), "this agent has no repository 'r-9'; its file lists r-1", id="repository"
        ),
        pytest.param(left_pending(commit=GONE), "cannot fetch 0123456", id="a commit that is gone"),
        pytest.param(left_pending("nowhere"), "has no file nowhere/app.pipecd.yaml", id="a file that is missing"),
        pytest.param(left_pending("broken"), "pipelin", id="a file that is wrong"),
        pytest.param(
            left_pending("wrong"), "stages[1].with.retry: is 1000; expected 0 to 100", id="options that are wrong"
        ),
        pytest.param(left_pending("sealed"), "this agent has no private key to open sealed values with", id="a secret"),
        pytest.param(
            left_pending("unknown"), "No plugin of this agent has TELEPORT (stage 0)", id="a stage that nobody has"
        ),
        pytest.param(left_pending("bare"), "The application names no plugin", id="nobody to deploy it"),
        pytest.param(
            left_pending("bare", sync_strategy=SyncStrategy.PIPELINE),
            "The pipeline was asked for, but the application's file has no pipeline.stages",
            id="a pipeline that is not there",
        ),
    ],
)
async def test_what_cannot_be_planned_ends_with_the_reason(tmp_path: Path, left: Left, reason: str) -> None:
    origin = an_origin(tmp_path, FILES)
    async with a_world(tmp_path, origin) as world:
        await world.add_application()
        made = left(origin.head())
        await world.store.write(lambda connection: deployments.insert_deployment(connection, made))
        async with an_agent_at_work(world):
            ended = await until(lambda: ended_one(world, made.id))

    assert ended.status is DeploymentStatus.FAILED
    assert reason in ended.status_reason


async def test_a_repository_that_cannot_be_cloned_is_the_reason(tmp_path: Path) -> None:
    origin = an_origin(tmp_path, FILES)
    async with a_world(tmp_path, origin) as world:
        await world.add_application()
        made = left_pending()(origin.head())
        await world.store.write(lambda connection: deployments.insert_deployment(connection, made))
        origin.bare.rename(tmp_path / "away")
        async with an_agent_at_work(world):
            ended = await until(lambda: ended_one(world, made.id))

    assert ended.status is DeploymentStatus.FAILED
    assert ended.status_reason.startswith(f"cannot clone {origin.bare}: there is no such repository")


async def ended_one(world: World, deployment_id: str) -> Deployment | None:
    found = [each for each in await world.deployments() if each.id == deployment_id and each.status.is_terminal]
    return found[0] if found else None


async def test_a_deployment_is_cancelled_while_it_is_being_planned(tmp_path: Path) -> None:
    config = {"diary": str(tmp_path / "diary"), "plansWhen": str(tmp_path / "plans")}
    plugin = {"name": "foreign", "url": str(a_foreign_plugin(tmp_path)), "config": config}
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file("{name: FOREIGN_RUN, with: {}}")})
    async with a_world(tmp_path, origin) as world:
        await world.add_application()
        async with an_agent_at_work(world, msgspec.json.encode([plugin]).decode()):
            planning = await there(world, 1)
            await appears(tmp_path / "diary")
            answer = await world.answer(await world.command(CancelDeployment(deployment_id=planning.id)))
            cancelled = await world.ended()
            (tmp_path / "plans").touch()
            origin.commit({"web/version": "2"})
            second = await world.ended(2)

    assert (cancelled.status, cancelled.status_reason) == (
        DeploymentStatus.CANCELLED,
        "Cancelled by ada before it was planned",
    )
    assert answer.status is CommandStatus.SUCCEEDED
    assert second.status is DeploymentStatus.SUCCEEDED, second.status_reason
