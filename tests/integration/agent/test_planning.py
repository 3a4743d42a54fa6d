"""Whatever keeps a deployment from being planned ends it with that reason; nothing stays pending for ever."""

from functools import partial
from pathlib import Path

import msgspec
from sqlalchemy import Connection

from fairway.model.application import GitPath, Repository
from fairway.model.command import CancelDeployment, CommandStatus
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.trigger import SyncStrategy
from fairway.server.store import deployments
from tests.integration.agent.foreign import a_foreign_plugin
from tests.integration.agent.running import World, a_world, an_agent_at_work, an_application_file, script, until
from tests.integration.agent.test_cancelling import appears, there
from tests.integration.git.repositories import an_origin
from tests.ports import a_free_port
from tests.unit.model.builders import a_commit, a_deployment, a_trigger

GONE = "0123456789012345678901234567890123456789"
SEALED = "  encryptedSecrets: {key: AgEi}\n"
ATTACHED = "  attachment: {sources: {own: app.pipecd.yaml}, targets: [one, two]}\n"
FILES = {
    "web/app.pipecd.yaml": an_application_file(script("true")),
    "broken/app.pipecd.yaml": "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec: {pipelin: []}\n",
    "sealed/app.pipecd.yaml": an_application_file(script("echo {{ .encryptedSecrets.key }}"), spec=SEALED),
    "unknown/app.pipecd.yaml": an_application_file("{name: TELEPORT, with: {}}"),
    "bare/app.pipecd.yaml": an_application_file(script("true")).partition("  pipeline:")[0],
    "wrong/app.pipecd.yaml": an_application_file("{name: MY_OWN, with: {}}", script("true", retry=1000)),
    "twice/app.pipecd.yaml": an_application_file(script("true", retry=1000), script("true", retry=2000)),
    "attached/app.pipecd.yaml": an_application_file(script("true"), spec=ATTACHED),
}


class Left(msgspec.Struct, frozen=True, kw_only=True):
    """A deployment that an agent has left before it was planned, and the reason with which it ends."""

    directory: str = "web"
    #: The head of the repository, unless it is given.
    commit: str = ""
    repository: str = "r-1"
    strategy: SyncStrategy = SyncStrategy.AUTO
    reason: str = ""

    def made(self, id: str, head: str) -> Deployment:
        place = GitPath(
            repository=Repository(id=self.repository), path=self.directory, config_filename="app.pipecd.yaml"
        )
        trigger = a_trigger(commit=a_commit(hash=self.commit or head), sync_strategy=self.strategy)
        return a_deployment(id=id, application_id="a-web", git_path=place, trigger=trigger)


LEFT = {
    "repository": Left(repository="r-9", reason="this agent has no repository 'r-9'; its file lists r-1"),
    "commit": Left(commit=GONE, reason="cannot fetch 0123456"),
    "missing": Left(directory="nowhere", reason="has no file nowhere/app.pipecd.yaml"),
    "broken": Left(directory="broken", reason="pipelin"),
    "options": Left(directory="wrong", reason="stages[1].with.retry: is 1000; expected 0 to 100"),
    "several options": Left(directory="twice", reason="is 1000; expected 0 to 100; twice/app.pipecd.yaml:"),
    "several files": Left(
        directory="attached",
        reason="'one' does not exist in the application's directory; attachment.targets: 'two' does not exist",
    ),
    "secret": Left(directory="sealed", reason="this agent has no private key to open sealed values with"),
    "stage": Left(directory="unknown", reason="is 'TELEPORT', which no plugin of the agent has"),
    "plugin": Left(directory="bare", reason="The application names no plugin"),
    "pipeline": Left(
        directory="bare",
        strategy=SyncStrategy.PIPELINE,
        reason="The pipeline was asked for, but the application's file has no pipeline.stages",
    ),
}


async def test_what_cannot_be_planned_ends_with_the_reason(tmp_path: Path) -> None:
    origin = an_origin(tmp_path, FILES)
    async with a_world(tmp_path, origin) as world:
        await world.add_application()
        for id, left in LEFT.items():
            await world.store.write(partial(insert, left.made(id, origin.head())))
        async with an_agent_at_work(world):
            ended = {id: await until(partial(ended_one, world, id)) for id in LEFT}

    assert {each.status for each in ended.values()} == {DeploymentStatus.FAILED}
    wrong = {id: each.status_reason for id, each in ended.items() if LEFT[id].reason not in each.status_reason}
    assert wrong == {}


def insert(deployment: Deployment, connection: Connection) -> None:
    deployments.insert_deployment(connection, deployment)


async def test_a_repository_that_cannot_be_cloned_is_the_reason(tmp_path: Path) -> None:
    origin = an_origin(tmp_path, FILES)
    async with a_world(tmp_path, origin) as world:
        await world.add_application()
        made = Left().made("left", origin.head())
        await world.store.write(partial(insert, made))
        origin.bare.rename(tmp_path / "away")
        async with an_agent_at_work(world):
            ended = await until(partial(ended_one, world, made.id))

    assert ended.status is DeploymentStatus.FAILED
    assert ended.status_reason.startswith(f"cannot clone {origin.bare}: there is no such repository")


async def ended_one(world: World, deployment_id: str) -> Deployment | None:
    found = [each for each in await world.deployments() if each.id == deployment_id and each.status.is_terminal]
    return found[0] if found else None


async def test_a_deployment_is_cancelled_while_it_is_being_planned(tmp_path: Path) -> None:
    config = {"diary": str(tmp_path / "diary"), "plansWhen": str(tmp_path / "plans")}
    plugin = {"name": "foreign", "url": str(a_foreign_plugin(tmp_path)), "port": a_free_port(), "config": config}
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


async def test_a_plan_that_two_plugins_could_make_says_nothing_of_others_that_do_not_start(tmp_path: Path) -> None:
    config, url = {"diary": str(tmp_path / "diary")}, str(a_foreign_plugin(tmp_path))
    listed = [{"name": name, "url": url, "port": a_free_port(), "config": config} for name in ("one", "two")]
    listed.append({"name": "broken", "url": str(tmp_path / "nowhere")})
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file("{name: FOREIGN_RUN, with: {}}")})
    async with a_world(tmp_path, origin) as world:
        await world.add_application()
        async with an_agent_at_work(world, msgspec.json.encode(listed).decode()):
            ended = await world.ended()

    assert (ended.status, ended.status_reason) == (
        DeploymentStatus.FAILED,
        "Plugins one and two both have FOREIGN_RUN; list exactly one of them under spec.plugins of the application, "
        "or register the application with a deploy target of one of them (stage 1)",
    )
