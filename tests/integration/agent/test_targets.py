"""Several plugins, several versions of one, several deploy targets: who does what, and a result for each."""

from pathlib import Path
from typing import Any

import msgspec

from fairway.model.command import ApproveStage
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.stage import StageStatus
from tests.integration.agent.running import a_world, an_agent_at_work, an_application_file, script, until
from tests.integration.git.repositories import an_origin

SPREAD = "python:tests.integration.agent.spreading:Spread"


def two_versions(**broken: bool) -> str:
    """One plugin in two versions side by side, each with the same two deploy targets."""
    targets = [{"name": name, "config": {"broken": broken.get(name, False)}} for name in ("east", "west")]
    entries: list[dict[str, Any]] = [
        {"name": f"spread-{version}", "url": SPREAD, "config": {"version": version}, "deployTargets": targets}
        for version in ("v1", "v2")
    ]
    return msgspec.json.encode(entries).decode()


FILE = an_application_file(script("echo begin"), "{name: SPREAD, with: {}}", spec="  plugins: {spread-v2: {}}\n")


async def test_each_target_has_its_result_and_the_version_that_was_meant_works(tmp_path: Path) -> None:
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": FILE})) as world:
        await world.add_application(deploy_targets_by_plugin={"spread-v2": ("east", "west")})
        async with an_agent_at_work(world, two_versions()):
            deployment = await world.ended()
        log = await world.log(deployment, 1)

    assert deployment.status is DeploymentStatus.SUCCEEDED, deployment.status_reason
    results = {"east": "succeeded: web by v2", "west": "succeeded: web by v2"}
    kept = deployment.stages[1].metadata
    assert {key: value for key, value in kept.items() if key.startswith("fairway/target/")} == {
        f"fairway/target/{name}": result for name, result in results.items()
    }
    assert sorted(log.splitlines()) == [f"{name}: {result}" for name, result in results.items()]


async def test_one_target_that_fails_is_named_and_the_whole_is_taken_back(tmp_path: Path) -> None:
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": FILE})) as world:
        await world.add_application(deploy_targets_by_plugin={"spread-v2": ("east", "west")})
        async with an_agent_at_work(world, two_versions(west=True)):
            deployment = await world.ended()
        taken = await world.log(deployment, 2)

    _, spread, undone = deployment.stages
    assert (spread.status, spread.status_reason) == (
        StageStatus.FAILED,
        "1 of 2 deploy targets failed: west: out of order",
    )
    assert spread.metadata["pipecd/stage-display-metadata"] == (
        "east: succeeded: web by v2\nwest: failed: out of order"
    )
    assert (undone.name, undone.status, taken) == ("SPREAD_ROLLBACK", StageStatus.SUCCEEDED, "taken from east, west")


async def test_only_the_targets_of_the_application_are_worked_on(tmp_path: Path) -> None:
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": FILE})) as world:
        await world.add_application(deploy_targets_by_plugin={"spread-v2": ("east",), "spread-v1": ("west",)})
        async with an_agent_at_work(world, two_versions(west=True)):
            deployment = await world.ended()

    assert deployment.status is DeploymentStatus.SUCCEEDED, deployment.status_reason
    assert "fairway/target/west" not in deployment.stages[1].metadata


def spread_over(*targets: str) -> str:
    """One plugin with these deploy targets."""
    deploy_targets = [{"name": name} for name in targets]
    entry = {"name": "spread", "url": SPREAD, "config": {"version": "v1"}, "deployTargets": deploy_targets}
    return msgspec.json.encode([entry]).decode()


async def test_an_application_that_names_no_target_goes_to_the_only_one(tmp_path: Path) -> None:
    file = an_application_file("{name: SPREAD, with: {}}", spec="  plugins: {spread: {}}\n")
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application(platform_provider="", deploy_targets_by_plugin={})
        async with an_agent_at_work(world, spread_over("east")):
            deployment = await world.ended()

    assert deployment.status is DeploymentStatus.SUCCEEDED, deployment.status_reason
    assert deployment.stages[0].metadata["fairway/target/east"] == "succeeded: web by v1"


async def test_a_deployment_keeps_its_target_when_the_agent_gets_another(tmp_path: Path) -> None:
    file = an_application_file("{name: WAIT_APPROVAL}", "{name: SPREAD, with: {}}", spec="  plugins: {spread: {}}\n")
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application(platform_provider="", deploy_targets_by_plugin={})

        async def waiting() -> Deployment | None:
            found = await world.deployments()
            stages = found[0].stages if found else ()
            return found[0] if stages and stages[0].status is StageStatus.RUNNING else None

        async with an_agent_at_work(world, spread_over("east")):
            begun = await until(waiting)
        async with an_agent_at_work(world, spread_over("east", "west")):
            await world.approve(ApproveStage(deployment_id=begun.id, stage_id=begun.stages[0].id), "ada")
            deployment = await world.ended()

    assert deployment.status is DeploymentStatus.SUCCEEDED, deployment.status_reason
    assert deployment.stages[1].metadata["fairway/target/east"] == "succeeded: web by v1"
    assert "fairway/target/west" not in deployment.stages[1].metadata


async def test_an_application_that_names_none_of_several_targets_is_told_so_before_anything_is_done(
    tmp_path: Path,
) -> None:
    file = an_application_file("{name: SPREAD, with: {}}", spec="  plugins: {spread: {}}\n")
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application(platform_provider="", deploy_targets_by_plugin={})
        async with an_agent_at_work(world, spread_over("east", "west")):
            deployment = await world.ended()

    assert (deployment.stages, deployment.status_reason) == (
        (),
        "Planning failed: plugin spread has several deploy targets (east, west), and the application names none of "
        "them; name those that are meant: fairway app change web --target spread:east",
    )


async def test_an_application_goes_to_the_targets_that_its_stages_name(tmp_path: Path) -> None:
    stage = "{name: SPREAD, with: {multiTargets: [north, west]}}"
    file = an_application_file(stage, spec="  plugins: {spread: {}}\n")
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application(platform_provider="", deploy_targets_by_plugin={})
        async with an_agent_at_work(world, spread_over("east", "north", "west")):
            deployment = await world.ended()

    assert deployment.deploy_targets_by_plugin == {"spread": ("north", "west")}
    assert deployment.status is DeploymentStatus.SUCCEEDED, deployment.status_reason


async def test_two_plugins_with_one_stage_are_refused_until_the_application_says_which(tmp_path: Path) -> None:
    file = an_application_file("{name: SPREAD, with: {}}")
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application(platform_provider="", deploy_targets_by_plugin={})
        async with an_agent_at_work(world, two_versions()):
            deployment = await world.ended()

    assert "Plugins spread-v1 and spread-v2 both have SPREAD" in deployment.status_reason


async def test_an_application_registered_with_a_deploy_target_uses_the_plugin_of_it(tmp_path: Path) -> None:
    file = an_application_file("{name: SPREAD, with: {}}")
    async with a_world(tmp_path, an_origin(tmp_path, {"web/app.pipecd.yaml": file})) as world:
        await world.add_application(platform_provider="", deploy_targets_by_plugin={"spread-v2": ("east",)})
        async with an_agent_at_work(world, two_versions()):
            deployment = await world.ended()

    assert deployment.status is DeploymentStatus.SUCCEEDED, deployment.status_reason
    assert deployment.stages[0].metadata["fairway/target/east"] == "succeeded: web by v2"
