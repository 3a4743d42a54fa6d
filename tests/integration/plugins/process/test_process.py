"""The process platform through a real agent: real processes, real connections, and not one of them lost."""

from collections import Counter
from pathlib import Path

import pytest

from fairway.model.command import ApproveStage
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.stage import StageStatus
from tests.integration.agent.running import World, a_world, an_agent_at_work, until
from tests.integration.git.repositories import an_origin
from tests.integration.plugins.process.applications import (
    PLUGINS,
    Shop,
    a_stage,
    directory,
    instances,
    nothing_left,
    seen,
    somebody_asking,
)
from tests.patience import PATIENCE_SECONDS
from tests.ports import a_free_port

CANARY = (
    a_stage("PROCESS_CANARY_ROLLOUT", replicas="50%"),
    a_stage("PROCESS_TRAFFIC_ROUTING", canary=50),
)
REST = (a_stage("PROCESS_PRIMARY_ROLLOUT"), a_stage("PROCESS_CANARY_CLEAN"))


def stages_of(deployment: Deployment) -> list[tuple[str, StageStatus]]:
    return [(stage.name, stage.status) for stage in deployment.stages]


async def reached(world: World, number: int, name: str) -> Deployment:
    """The deployment of that number, once a stage runs."""

    async def look() -> Deployment | None:
        found = (await world.deployments())[number - 1 : number]
        running = [
            each.name for deployment in found for each in deployment.stages if each.status is StageStatus.RUNNING
        ]
        return found[0] if running == [name] else None

    return await until(look)


async def test_a_quick_sync_runs_the_replicas_and_the_next_replaces_them_without_a_lost_request(tmp_path: Path) -> None:
    shop = Shop(a_free_port())
    origin = an_origin(tmp_path, shop.files("one"))
    with nothing_left(tmp_path):
        async with a_world(tmp_path, origin) as world, an_agent_at_work(world, PLUGINS):
            await world.add_application()
            first = await world.ended()
            assert first.status is DeploymentStatus.SUCCEEDED, first.stages[0].status_reason
            async with somebody_asking(shop) as asked:
                origin.commit({"web/version": "two"})
                second = await world.ended(2)

            assert second.status is DeploymentStatus.SUCCEEDED, second.stages[0].status_reason
            assert asked.failures == []
            assert set(asked.answers) == {"one primary", "two primary"}
            assert await shop.answers(4) == Counter({"two primary": 4})
            assert len(instances(world, "primary")) == 2
            assert len({await shop.ask() for _ in range(4)}) == 2


async def test_a_canary_gets_its_share_and_then_becomes_the_primary(tmp_path: Path) -> None:
    shop = Shop(a_free_port())
    stages = (*CANARY, a_stage("WAIT_APPROVAL"), *REST)
    origin = an_origin(tmp_path, shop.files("one", *stages))
    with nothing_left(tmp_path):
        async with a_world(tmp_path, origin) as world, an_agent_at_work(world, PLUGINS):
            await world.add_application()
            await world.ended()
            async with somebody_asking(shop) as asked:
                origin.commit({"web/version": "two"})
                deployment = await reached(world, 2, "WAIT_APPROVAL")
            shared = await shop.answers(10)
            async with somebody_asking(shop) as asked_after:
                stage = next(stage for stage in deployment.stages if stage.name == "WAIT_APPROVAL")
                await world.approve(ApproveStage(deployment_id=deployment.id, stage_id=stage.id), "ada")
                ended = await world.ended(2)

            assert ended.status is DeploymentStatus.SUCCEEDED, [each.status_reason for each in ended.stages]
            assert shared == Counter({"one primary": 5, "two canary": 5})
            assert asked.failures + asked_after.failures == []
            assert await shop.answers(4) == Counter({"two primary": 4})
            assert instances(world, "canary") == []


@pytest.mark.parametrize(
    ("version", "patience", "reason"),
    [
        pytest.param("broken", PATIENCE_SECONDS, "this version is broken", id="broken"),
        # Enough for it to be asked, also on a busy machine.
        pytest.param("sick", 10, "GET /healthz answers 500", id="sick"),
    ],
)
async def test_a_version_that_does_not_get_well_never_serves_and_is_rolled_back(
    tmp_path: Path, version: str, patience: float, reason: str
) -> None:
    shop, stage = Shop(a_free_port()), a_stage("PROCESS_PRIMARY_ROLLOUT")
    origin = an_origin(tmp_path, shop.files("one", stage))
    with nothing_left(tmp_path):
        async with a_world(tmp_path, origin) as world, an_agent_at_work(world, PLUGINS):
            await world.add_application()
            await world.ended()
            before = instances(world, "primary")
            async with somebody_asking(shop) as asked:
                origin.commit(Shop(shop.port, patience=patience).files(version, stage))
                deployment = await world.ended(2)

            assert stages_of(deployment) == [
                ("PROCESS_PRIMARY_ROLLOUT", StageStatus.FAILED),
                ("PROCESS_ROLLBACK", StageStatus.SUCCEEDED),
            ]
            assert (asked.failures, set(asked.answers)) == ([], {"one primary"})
            assert [each.process for each in instances(world, "primary")] == [each.process for each in before]
            assert reason in deployment.stages[0].status_reason


async def test_a_rollback_of_a_first_deployment_leaves_no_process(tmp_path: Path) -> None:
    shop = Shop(a_free_port())
    origin = an_origin(tmp_path, shop.files("broken"))
    with nothing_left(tmp_path):
        async with a_world(tmp_path, origin) as world, an_agent_at_work(world, PLUGINS):
            await world.add_application()
            deployment = await world.ended()

            assert stages_of(deployment)[-1] == ("PROCESS_ROLLBACK", StageStatus.SUCCEEDED)
            assert seen(world).instances == ()
            assert list((directory(world) / "releases").iterdir()) == []


async def test_what_was_rolled_out_already_is_replaced_again_without_a_lost_request(tmp_path: Path) -> None:
    shop = Shop(a_free_port())
    stages = (*CANARY, *REST, a_stage("SCRIPT_RUN", run="test $(cat version) = one"))
    origin = an_origin(tmp_path, shop.files("one", *stages))
    with nothing_left(tmp_path):
        async with a_world(tmp_path, origin) as world, an_agent_at_work(world, PLUGINS):
            await world.add_application()
            await world.ended()
            async with somebody_asking(shop) as asked:
                origin.commit({"web/version": "two"})
                deployment = await world.ended(2)

            assert deployment.status is DeploymentStatus.FAILED
            assert [status for _, status in stages_of(deployment)][-3:] == [
                StageStatus.SUCCEEDED,
                StageStatus.FAILED,
                StageStatus.SUCCEEDED,
            ]
            assert asked.failures == []
            assert set(asked.answers) == {"one primary", "two canary", "two primary"}
            assert await shop.answers(4) == Counter({"one primary": 4})
