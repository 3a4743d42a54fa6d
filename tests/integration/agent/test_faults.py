"""What is away comes back: a Git remote, and a server that has not heard everything; nothing is lost or done twice."""

import asyncio
import contextlib
import shutil
from collections.abc import Collection
from pathlib import Path

import pytest

from fairway.agent.deployments import Deployments
from fairway.agent.status import NoStatus, read_state
from fairway.agent.workspace import Workspace
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.stage import WAITS_FOR
from tests.integration.agent.running import World, a_world, an_agent_at_work, an_application_file, script, until
from tests.integration.agent.test_foreign_plugins import diary, plugins
from tests.integration.git.repositories import an_origin
from tests.integration.git.web_server import a_web_server


async def test_a_push_is_deployed_when_its_remote_is_back(tmp_path: Path) -> None:
    file = an_application_file(script("cat version"))
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": file, "web/version": "1\n"})
    away = tmp_path / "away"
    async with a_world(tmp_path, origin) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            await world.ended()
            origin.bare.rename(away)
            await until(lambda: at_work(world))
            away.rename(origin.bare)
            origin.commit({"web/version": "2\n"})
            second = await world.ended(2)

        assert await world.output(second, 0) == "2"


async def test_a_deployment_whose_remote_is_gone_runs_from_what_the_agent_has(tmp_path: Path) -> None:
    mark, go = tmp_path / "mark", tmp_path / "go"
    holds = script(f"touch {mark}; while [ ! -e {go} ]; do sleep 0.02; done")
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file(holds, script("echo after"))})
    async with a_world(tmp_path, origin) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            await until(lambda: there(mark))
            origin.bare.rename(tmp_path / "away")
        async with an_agent_at_work(world):
            go.touch()
            deployment = await world.ended()

        assert deployment.status is DeploymentStatus.SUCCEEDED, deployment.status_reason
        assert await world.output(deployment, 1) == "after"


async def test_what_is_left_is_swept_up_before_anything_is_begun_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark, go = tmp_path / "mark", tmp_path / "go"
    holds = script(f"touch {mark}; while [ ! -e {go} ]; do sleep 0.02; done")
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": an_application_file(holds)})
    happened: list[str] = []
    sweep, take = Workspace.sweep, Deployments.take

    async def swept(workspace: Workspace, open_deployments: Collection[str]) -> None:
        await sweep(workspace, open_deployments)
        happened.append(f"swept, except of {len(open_deployments)}")

    def taken(deployments: Deployments, deployment: Deployment, telling: asyncio.Future[None] | None = None) -> None:
        happened.append("taken up")
        take(deployments, deployment, telling)

    async with a_world(tmp_path, origin) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            await until(lambda: there(mark))
        monkeypatch.setattr(Workspace, "sweep", swept)
        monkeypatch.setattr(Deployments, "take", taken)
        async with an_agent_at_work(world):
            go.touch()
            await world.ended()

    assert happened[:2] == ["swept, except of 1", "taken up"]


async def test_a_deployment_that_cannot_be_planned_without_its_remote_says_so_and_waits(tmp_path: Path) -> None:
    plans, file = tmp_path / "plans", an_application_file("{name: FOREIGN_RUN, with: {}}")
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": file})
    listed = plugins(tmp_path, plansWhen=str(plans))
    with a_web_server(tmp_path, "ada", "pw") as web:
        async with a_world(tmp_path, origin) as world:
            world.remote = f"{web.origin.replace('//', '//ada:pw@')}/{origin.bare.name}"
            await world.add_application()
            async with an_agent_at_work(world, listed):
                await diary(tmp_path, 1)
                # It is planned while the server is told of it.
                await until(world.deployments)
            # Another machine takes over, which has never seen the repository.
            shutil.rmtree(world.data)
            web.failures += [503] * 1000
            async with an_agent_at_work(world, listed):
                trouble = await until(lambda: waits_for(world))
                told = await until(lambda: told_to_the_server(world))
                web.failures.clear()
                plans.touch()
                deployment = await world.ended()

    assert "503" in trouble
    assert (told, deployment.shared_metadata[WAITS_FOR]) == (trouble, "")
    assert deployment.status is DeploymentStatus.SUCCEEDED, deployment.status_reason


async def waits_for(world: World) -> str:
    """What the deployment waits for, as the agent says."""
    with contextlib.suppress(NoStatus):
        return next((each.trouble for each in read_state(world.data).deployments), "")
    return ""


async def told_to_the_server(world: World) -> str:
    """The same, as the server knows it."""
    return next((each.shared_metadata.get(WAITS_FOR, "") for each in await world.deployments()), "")


async def there(path: Path) -> bool:
    return await asyncio.to_thread(path.exists)


async def at_work(world: World) -> bool:
    """Whether the agent answers still."""
    return bool(await world.deployments())
