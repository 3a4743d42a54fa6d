"""A deployment that others follow, block by block: each block waits for the one before it, and falls with it."""

import contextlib
from collections.abc import Mapping
from pathlib import Path

import pytest

from fairway.agent.status import NoStatus, read_state
from fairway.model.command import CancelDeployment
from fairway.model.deployment import Deployment, DeploymentStatus
from tests.integration.agent.running import World, a_world, an_agent_at_work, an_application_file, script, until
from tests.integration.git.repositories import Origin, an_origin

CHAIN = "  postSync:\n    chain:\n      applications:\n        - {name: second}\n        - {name: third}\n"
FOLLOWS = "  trigger:\n    onChain: {disabled: false}\n    onCommit: {disabled: true}\n"


def three_applications(folder: Path, first: str) -> Origin:
    """Each writes its name down; the first runs this script before that."""
    ran = folder / "ran"
    scripts = {"first": f"{first}; echo first >> {ran}", "second": f"echo second >> {ran}"}
    scripts["third"] = f"echo third >> {ran}"
    files = {
        name: an_application_file(script(each), spec=CHAIN if name == "first" else FOLLOWS).replace("web", name)
        for name, each in scripts.items()
    }
    return an_origin(folder, {f"{name}/app.pipecd.yaml": text for name, text in files.items()})


async def all_three(world: World) -> Mapping[str, Deployment]:
    async def look() -> dict[str, Deployment] | None:
        found = {each.application_name: each for each in await world.deployments()}
        return found if len(found) == 3 else None

    return await until(look)


async def ended(world: World) -> Mapping[str, Deployment]:
    async def look() -> Mapping[str, Deployment] | None:
        found = await all_three(world)
        return found if all(each.status.is_terminal for each in found.values()) else None

    return await until(look)


async def add_all(world: World) -> None:
    # Those that follow are there before the chain is made of them.
    for name in ("third", "second", "first"):
        await world.add_application(name)


async def test_each_block_waits_until_the_one_before_has_succeeded(tmp_path: Path) -> None:
    go = tmp_path / "go"
    origin = three_applications(tmp_path, f"while [ ! -e {go} ]; do sleep 0.02; done")
    async with a_world(tmp_path, origin) as world:
        await add_all(world)
        async with an_agent_at_work(world):
            waiting = await all_three(world)
            trouble = await until(lambda: waits_for(world, waiting["second"]))
            go.touch()
            found = await ended(world)

    assert trouble == "block 0 of its chain has not succeeded yet"
    turn = "its turn comes when block 1 of the chain has succeeded"
    assert waiting["third"].status_reason == f"It is part of a chain that another application has begun; {turn}"
    assert {each.status for each in found.values()} == {DeploymentStatus.SUCCEEDED}
    assert (tmp_path / "ran").read_text().split() == ["first", "second", "third"]
    assert len({each.chain_id for each in found.values()}) == 1
    assert [found[name].chain_block_index for name in ("first", "second", "third")] == [0, 1, 2]


async def test_an_agent_that_is_started_again_goes_on_waiting(tmp_path: Path) -> None:
    mark, go = tmp_path / "mark", tmp_path / "go"
    origin = three_applications(tmp_path, f"touch {mark}; while [ ! -e {go} ]; do sleep 0.02; done")
    async with a_world(tmp_path, origin) as world:
        await add_all(world)
        async with an_agent_at_work(world):
            waiting = await all_three(world)
            await until(lambda: waits_for(world, waiting["third"]))
        async with an_agent_at_work(world):
            await until(lambda: waits_for(world, waiting["third"]))
            go.touch()
            await ended(world)

    assert (tmp_path / "ran").read_text().split() == ["first", "second", "third"]


@pytest.mark.parametrize("by", ["failure", "cancel"])
async def test_a_chain_falls_with_its_block(tmp_path: Path, by: str) -> None:
    go = tmp_path / "go"
    wait = f"while [ ! -e {go} ]; do sleep 0.02; done"
    origin = three_applications(tmp_path, f"{wait}; exit 1" if by == "failure" else wait)
    async with a_world(tmp_path, origin) as world:
        await add_all(world)
        async with an_agent_at_work(world):
            waiting = await all_three(world)
            if by == "cancel":
                await until(lambda: waits_for(world, waiting["second"]))
                await world.command(CancelDeployment(deployment_id=waiting["second"].id))
                await until(lambda: has_ended(world, waiting["second"]))
            go.touch()
            found = await ended(world)

    statuses = [found[name].status for name in ("first", "second", "third")]
    first = DeploymentStatus.FAILED if by == "failure" else DeploymentStatus.SUCCEEDED
    assert statuses == [first, DeploymentStatus.CANCELLED, DeploymentStatus.CANCELLED]
    block, fell = (0, "failed") if by == "failure" else (1, "was cancelled")
    expected = f"Block {block} of chain {found['first'].chain_id} {fell}, so this one is not deployed"
    assert found["third"].status_reason == expected


async def waits_for(world: World, deployment: Deployment) -> str:
    """What a deployment waits for, as the agent says."""
    with contextlib.suppress(NoStatus):
        said = read_state(world.data).deployments
        return next((each.trouble for each in said if each.id == deployment.id), "")
    return ""


async def has_ended(world: World, deployment: Deployment) -> bool:
    return any(each.id == deployment.id and each.status.is_terminal for each in await world.deployments())
