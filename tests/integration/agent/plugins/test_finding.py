"""Which applications there are, as a plugin learns it: from our server, and from PipeCD's as far as that can tell."""

from functools import partial
from pathlib import Path

from fairway.model.deployment import DeploymentStatus
from fairway.server.store import applications
from tests.integration.agent.running import World, a_world, an_agent_at_work, an_application_file
from tests.integration.git.repositories import an_origin
from tests.unit.model.builders import an_application
from tests.unit.server.agent.test_references import a_reference

LOOKING = '[{name: looking, url: "python:tests.integration.agent.plugins.looking:Looking"}]'
FILE = an_application_file("{name: LOOK, with: {ids: [a-web, a-disabled, a-elsewhere, a-gone]}}")


async def _told(world: World) -> list[str]:
    disabled = an_application("a-disabled", name="off", disabled=True, last_triggered=a_reference("d"))
    elsewhere = an_application("a-elsewhere", name="away", project_id="other", agent_id="agent-9")
    for each in (disabled, elsewhere):
        await world.store.write(partial(applications.insert_application, application=each))
    await world.add_application()
    async with an_agent_at_work(world, LOOKING):
        deployment = await world.ended()
    assert deployment.status is DeploymentStatus.SUCCEEDED, deployment.status_reason
    return (await world.log(deployment, 0)).splitlines()


async def test_a_plugin_learns_of_every_application_from_our_server(tmp_path: Path) -> None:
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": FILE})) as world:
        assert await _told(world) == [
            "a-web is registered, web",
            "a-disabled is registered, off",
            "a-elsewhere is registered, without a name",
            "a-gone is gone, without a name",
        ]


async def test_a_plugin_learns_from_pipecds_server_what_that_lists_and_what_it_has_never_heard_of(
    tmp_path: Path,
) -> None:
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": FILE})) as world:
        await world.stop_serving()
        await world.serve(as_pipecd=True)

        assert await _told(world) == [
            "a-web is registered, web",
            "a-disabled is unknown, without a name",
            "a-elsewhere is unknown, without a name",
            "a-gone is gone, without a name",
        ]
