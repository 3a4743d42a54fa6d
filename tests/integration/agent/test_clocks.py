"""An agent whose clock is behind another's, or behind its own of before: what comes last counts as the last."""

from datetime import timedelta
from pathlib import Path

import msgspec

from fairway.model.application import Application, DeploymentReference
from fairway.server.store import applications
from tests.integration.agent.running import World, a_world, an_agent_at_work, an_application_file, script, until
from tests.integration.git.repositories import an_origin

HOUR = timedelta(hours=1)


async def test_what_was_deployed_by_a_clock_that_was_ahead_is_followed_by_what_is_deployed_now(tmp_path: Path) -> None:
    file = an_application_file(script("cat version"))
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": file, "web/version": "1\n"})
    async with a_world(tmp_path, origin) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            await world.ended()
            await until(lambda: is_free(world))
        await world.store.write(lambda connection: applications.update_application(connection, "a-web", ahead))
        async with an_agent_at_work(world):
            origin.commit({"web/version": "2\n"})
            second = await world.ended(2)
            await until(lambda: is_free(world))
            origin.commit({"web/version": "3\n"})
            third = await world.ended(3)
            await until(lambda: is_free(world))
        application = await world.application()

    assert third.running_commit_hash == second.trigger.commit.hash
    last = (application.last_triggered, application.last_succeeded)
    assert [each.deployment_id for each in last if each is not None] == [third.id, third.id]


async def is_free(world: World) -> bool:
    """Whether everything of a deployment has been told."""
    return not (await world.application()).deploying


def ahead(application: Application) -> Application:
    """As if a clock had been an hour ahead when it was last deployed."""
    return msgspec.structs.replace(
        application,
        last_triggered=_later(application.last_triggered),
        last_succeeded=_later(application.last_succeeded),
    )


def _later(reference: DeploymentReference | None) -> DeploymentReference | None:
    if reference is None or reference.completed_at is None:
        return reference and msgspec.structs.replace(reference, started_at=reference.started_at + HOUR)
    return msgspec.structs.replace(
        reference, started_at=reference.started_at + HOUR, completed_at=reference.completed_at + HOUR
    )
