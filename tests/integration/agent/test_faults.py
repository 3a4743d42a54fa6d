"""What is away comes back: a Git remote, and a server that has not heard everything; nothing is lost or done twice."""

import asyncio
from pathlib import Path

from fairway.model.deployment import DeploymentStatus
from tests.integration.agent.running import World, a_world, an_agent_at_work, an_application_file, script, until
from tests.integration.git.repositories import an_origin


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


async def there(path: Path) -> bool:
    return await asyncio.to_thread(path.exists)


async def at_work(world: World) -> bool:
    """Whether the agent answers still."""
    return bool(await world.deployments())
