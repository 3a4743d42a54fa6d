"""A commit that loses its safety by a typo is not deployed; one that loses it on purpose says so in its summary."""

from pathlib import Path

import msgspec

from fairway.agent.status import read_state
from fairway.model.application import SyncStatus, UnusableFile
from fairway.server.store import agents
from tests.integration.agent.running import World, a_world, an_agent_at_work, until
from tests.integration.agent.test_drift import plugins, until_it_is
from tests.integration.git.repositories import an_origin

PIPELINE = {"stages": [{"name": "WAIT", "with": {"duration": "1ms"}}]}
TARGETS = {"drifting": ("here",)}


def a_file(**spec: object) -> str:
    common = {"name": "web", "plugins": {"drifting": {}}, "planner": {"alwaysUsePipeline": True}}
    file = {"apiVersion": "pipecd.dev/v1beta1", "kind": "Application", "spec": {**common, **spec}}
    return msgspec.json.encode(file).decode()


async def test_a_typo_is_not_deployed_and_a_pipeline_that_is_gone_is_said(tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": a_file(pipeline=PIPELINE)})
    async with a_world(tmp_path, origin) as world:
        await world.add_application(deploy_targets_by_plugin=TARGETS)
        async with an_agent_at_work(world, plugins(tmp_path / "runs")):
            first = await world.ended()
            origin.commit({"web/app.pipecd.yaml": a_file(piepline=PIPELINE)})
            await until_it_is(world, SyncStatus.INVALID_CONFIG)
            state, refused = (await world.application()).sync_state, await world.deployments()
            origin.commit({"web/app.pipecd.yaml": a_file()})
            second = await world.ended(2)

    assert state is not None
    assert "spec.piepline: is not a field of this; did you mean 'pipeline'?" in state.reason
    assert [each.id for each in refused] == [first.id]
    assert second.summary.endswith("; the pipeline of the last deployment (1 stage) is gone: quick sync to 100 %")


async def test_an_agent_that_allows_unknown_fields_deploys_and_says_what_it_ignored(tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": a_file(piepline=PIPELINE)})
    async with a_world(tmp_path, origin) as world:
        await world.add_application(deploy_targets_by_plugin=TARGETS)
        async with an_agent_at_work(world, f"{plugins(tmp_path / 'runs')}\n  allowUnknownFields: true"):
            deployment = await world.ended()

    assert deployment.summary.endswith("; the agent allows unknown fields (allowUnknownFields); ignored: spec.piepline")


async def test_a_file_that_breaks_while_the_agent_runs_is_reported_until_it_is_mended(tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": a_file(pipeline=PIPELINE)})
    nameless = a_file(pipeline=PIPELINE).replace('"name":"web",', "")

    async def unusable(world: World, count: int) -> tuple[UnusableFile, ...]:
        async def look() -> tuple[tuple[UnusableFile, ...]] | None:
            agent = await world.store.read(lambda connection: agents.load_agent(connection, "agent-1"))
            return (agent.unusable_files,) if len(agent.unusable_files) == count else None

        return (await until(look))[0]

    async def in_status(world: World, files: tuple[UnusableFile, ...]) -> None:
        async def look() -> bool | None:
            return read_state(world.data).unusable == files or None

        await until(look)

    async with a_world(tmp_path, origin) as world:
        await world.add_application(deploy_targets_by_plugin=TARGETS)
        async with an_agent_at_work(world, plugins(tmp_path / "runs")):
            await world.ended()
            origin.commit(
                {"web/app.pipecd.yaml": "a: [", "bad/app.pipecd.yaml": "a: [", "no/app.pipecd.yaml": nameless}
            )
            found = await unusable(world, 3)
            await in_status(world, found)
            origin.commit({"web/app.pipecd.yaml": a_file(pipeline=PIPELINE), "bad/app.pipecd.yaml": a_file()})
            left = await unusable(world, 1)
            await in_status(world, left)

    assert [(each.repository_id, each.file, each.application_id, each.nameless) for each in found] == [
        ("r-1", "web/app.pipecd.yaml", "a-web", False),
        ("r-1", "bad/app.pipecd.yaml", "", False),
        ("r-1", "no/app.pipecd.yaml", "", True),
    ]
    assert "bad/app.pipecd.yaml:1:1: error:" in found[1].reason
    assert left == (found[2],)


async def test_a_stage_that_no_plugin_of_the_agent_has_is_not_deployed(tmp_path: Path) -> None:
    pipeline = {"stages": [{"name": "TELEPORT"}]}
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": a_file(plugins={}, pipeline=pipeline)})
    async with a_world(tmp_path, origin) as world:
        await world.add_application()
        async with an_agent_at_work(world):
            await until_it_is(world, SyncStatus.INVALID_CONFIG)
            state, deployments = (await world.application()).sync_state, await world.deployments()

    assert state is not None
    assert "TELEPORT" in state.reason
    assert list(deployments) == []
