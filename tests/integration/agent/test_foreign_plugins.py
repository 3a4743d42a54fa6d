"""Plugins that are not ours, under our agent: run, killed, hung, left over; and who of two is meant."""

import os
import signal
from pathlib import Path

import msgspec

from fairway.agent.plugins.identity import identity_of
from fairway.model.command import CancelDeployment
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.stage import StageStatus
from fairway.server.logs import StageLog, StageLogKey
from tests.integration.agent.foreign import a_foreign_plugin
from tests.integration.agent.running import World, a_world, an_agent_at_work, an_application_file, until
from tests.integration.git.repositories import an_origin
from tests.ports import a_free_port


def plugins(folder: Path, **config: str) -> str:
    """The agent's list of plugins: one, which keeps a diary."""
    entry = {
        "name": "foreign",
        "url": str(a_foreign_plugin(folder / "made")),
        "port": a_free_port(),
        "config": {"diary": str(folder / "diary"), **config},
    }
    return msgspec.json.encode([entry]).decode()


def run_until(path: Path) -> str:
    """A stage of the foreign plugin that ends when a file appears."""
    return msgspec.json.encode({"name": "FOREIGN_RUN", "with": {"until": str(path)}}).decode()


async def diary(folder: Path, lines: int) -> list[list[str]]:
    """What the plugin has been asked for, once it is that much."""

    async def look() -> list[list[str]] | None:
        text = (folder / "diary").read_text() if (folder / "diary").exists() else ""
        found = [line.split() for line in text.splitlines()]
        return found if len(found) >= lines else None

    return await until(look)


async def log_of(world: World, deployment: Deployment) -> StageLog:
    """The log of the first stage."""
    return await world.logs.read(StageLogKey(deployment.id, deployment.stages[0].id, 0))


def how_it_ended(deployment: Deployment) -> tuple[DeploymentStatus, list[tuple[str, StageStatus]]]:
    return deployment.status, [(stage.name, stage.status) for stage in deployment.stages]


async def test_an_executable_of_another_maker_runs_a_stage(tmp_path: Path) -> None:
    file = an_application_file("{name: FOREIGN_RUN, with: {}}")
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world, plugins(tmp_path)):
            deployment = await world.ended()
            asked = await diary(tmp_path, 1)

        assert deployment.status is DeploymentStatus.SUCCEEDED, deployment.stages[0].status_reason
        assert await world.log(deployment, 0) == "FOREIGN_RUN of web"
        assert identity_of(int(asked[0][1])) is None


async def test_a_killed_plugin_fails_its_stage_and_undoes_it_once_it_is_back(tmp_path: Path) -> None:
    file = an_application_file(run_until(tmp_path / "go"))
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world, plugins(tmp_path)):
            (_, killed), (_, child) = await diary(tmp_path, 2)
            os.kill(int(killed), signal.SIGKILL)
            deployment = await world.ended()
            log = await log_of(world, deployment)
            left = identity_of(int(child))
            undone = (await diary(tmp_path, 3))[2]
            (tmp_path / "go").touch()
            world.origin.commit({"web/version": "2"})
            second = await world.ended(2)

    assert how_it_ended(deployment) == (
        DeploymentStatus.FAILED,
        [("FOREIGN_RUN", StageStatus.FAILED), ("FOREIGN_ROLLBACK", StageStatus.SUCCEEDED)],
    )
    assert "plugin foreign failed ExecuteStage" in deployment.stages[0].status_reason
    assert (log.blocks[-1].log, log.completed) == (deployment.stages[0].status_reason, True)
    assert undone[0] == "FOREIGN_ROLLBACK"
    assert undone[1] != killed
    assert left is None
    assert second.status is DeploymentStatus.SUCCEEDED, second.status_reason


async def test_a_cancel_breaks_off_the_call(tmp_path: Path) -> None:
    file = an_application_file(run_until(tmp_path / "never"))
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world, plugins(tmp_path)):
            await diary(tmp_path, 2)
            (running,) = await world.deployments()
            await world.command(CancelDeployment(deployment_id=running.id))
            deployment = await world.ended()
            asked = await diary(tmp_path, 4)

    assert how_it_ended(deployment) == (
        DeploymentStatus.CANCELLED,
        [("FOREIGN_RUN", StageStatus.CANCELLED), ("FOREIGN_ROLLBACK", StageStatus.SUCCEEDED)],
    )
    assert ["broken", "off"] in asked


async def test_a_restarted_agent_does_not_run_a_stage_twice_that_its_plugin_cannot_resume(tmp_path: Path) -> None:
    file = an_application_file(run_until(tmp_path / "never"))
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world, plugins(tmp_path)):
            await diary(tmp_path, 2)
        async with an_agent_at_work(world, plugins(tmp_path)):
            deployment = await world.ended()
            # Whether it had the time to note that its call was broken off is not what this is about.
            asked = [line[0] for line in await diary(tmp_path, 3)]
            log = await log_of(world, deployment)

    assert how_it_ended(deployment) == (
        DeploymentStatus.FAILED,
        [("FOREIGN_RUN", StageStatus.FAILED), ("FOREIGN_ROLLBACK", StageStatus.SUCCEEDED)],
    )
    assert "the agent was restarted" in deployment.stages[0].status_reason
    assert (log.blocks[-1].log, log.completed) == (deployment.stages[0].status_reason, True)
    assert (asked.count("FOREIGN_RUN"), asked.count("FOREIGN_ROLLBACK")) == (1, 1)


async def test_the_log_of_a_stage_that_was_cancelled_while_no_agent_was_there_has_an_end(tmp_path: Path) -> None:
    file = an_application_file(run_until(tmp_path / "never"))
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world, plugins(tmp_path)):
            await diary(tmp_path, 2)
        (left,) = await world.deployments()
        await world.command(CancelDeployment(deployment_id=left.id))
        async with an_agent_at_work(world, plugins(tmp_path)):
            deployment = await world.ended()
            log = await log_of(world, deployment)

    assert deployment.stages[0].status is StageStatus.CANCELLED
    assert (log.blocks[-1].log, log.completed) == ("Cancelled by ada", True)


async def test_a_plugin_that_never_starts_is_the_reason_of_a_plan_that_fails(tmp_path: Path) -> None:
    file = an_application_file("{name: FOREIGN_RUN, with: {}}")
    entry = "[{name: foreign, url: /bin/false}]"
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world, entry):
            deployment = await world.ended()

    assert deployment.status is DeploymentStatus.FAILED
    assert "No plugin of this agent has FOREIGN_RUN" in deployment.status_reason
    assert "plugin foreign ended with status 1 when it was started" in deployment.status_reason


async def test_of_two_plugins_with_one_stage_the_application_says_which(tmp_path: Path) -> None:
    path = str(a_foreign_plugin(tmp_path / "made"))
    entries = [
        {"name": name, "url": path, "port": a_free_port(), "config": {"diary": str(tmp_path / name)}}
        for name in ("one", "two")
    ]
    stages = "{name: FOREIGN_RUN, with: {}}"
    chosen = an_application_file(stages, spec="  plugins: {two: {}}\n")
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file(stages)})
    async with a_world(tmp_path, origin) as world:
        await world.add_application()
        async with an_agent_at_work(world, msgspec.json.encode(entries).decode()):
            refused = await world.ended()
            origin.commit({"web/app.pipecd.yaml": chosen})
            deployed = await world.ended(2)

    assert "Plugins one and two both have FOREIGN_RUN" in refused.status_reason
    assert deployed.status is DeploymentStatus.SUCCEEDED, deployed.status_reason
    assert [(tmp_path / name).exists() for name in ("one", "two")] == [False, True]


async def test_two_versions_of_a_plugin_work_side_by_side_each_for_the_application_that_names_it(
    tmp_path: Path,
) -> None:
    folders = {name: tmp_path / name for name in ("v1", "v2")}
    entries = [
        {
            "name": name,
            "url": str(a_foreign_plugin(folder)),
            "port": a_free_port(),
            "config": {"diary": str(folder / "diary")},
        }
        for name, folder in folders.items()
    ]
    stage = run_until(tmp_path / "go")
    files = {
        f"{name}/app.pipecd.yaml": an_application_file(stage, spec=f"  plugins: {{{name}: {{}}}}\n") for name in folders
    }
    async with a_world(tmp_path, an_origin(tmp_path, files)) as world:
        for name in folders:
            await world.add_application(name)
        async with an_agent_at_work(world, msgspec.json.encode(entries).decode()):
            # Neither has ended when the other has begun.
            asked = [await diary(folder, 2) for folder in folders.values()]
            (tmp_path / "go").touch()
            ended = [await world.ended(number) for number in (1, 2)]
        again = [await diary(folder, 2) for folder in folders.values()]

    assert [each.status for each in ended] == [DeploymentStatus.SUCCEEDED] * 2
    assert asked == again
    assert len({pid for ((_, pid), _) in asked}) == 2


async def test_a_rollback_that_two_plugins_of_an_application_would_serve_fails_the_plan(tmp_path: Path) -> None:
    path = str(a_foreign_plugin(tmp_path / "made"))
    entries = [
        {
            "name": name,
            "url": path,
            "port": a_free_port(),
            "config": {"diary": str(tmp_path / name), "run": f"{name.upper()}_RUN"},
        }
        for name in ("one", "two")
    ]
    file = an_application_file("{name: ONE_RUN, with: {}}", "{name: TWO_RUN, with: {}}")
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application()
        async with an_agent_at_work(world, msgspec.json.encode(entries).decode()):
            deployment = await world.ended()

    assert "plugin one planned FOREIGN_ROLLBACK. Plugins one and two both have" in deployment.status_reason
    assert [(tmp_path / name).exists() for name in ("one", "two")] == [False, False]
