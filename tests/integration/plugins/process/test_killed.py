"""The process platform when somebody is killed: no process twice, none lost, none that is a stranger's."""

import os
import signal
from collections import Counter
from pathlib import Path

from fairway.model.deployment import DeploymentStatus
from fairway.model.stage import StageStatus
from fairway.plugins.process.identity import is_alive
from fairway.plugins.process.records import Identity, Instance
from tests.integration.agent.running import World, a_world, an_agent_at_work, until
from tests.integration.agent.test_deploying import parent_of
from tests.integration.git.repositories import an_origin
from tests.integration.plugins.process.applications import (
    PLUGINS,
    Shop,
    a_stage,
    instances,
    nothing_left,
    seen,
    somebody_asking,
)
from tests.ports import a_free_port


def kill_keeper(world: World) -> Identity:
    """Who was killed; it may take a moment to be gone."""
    keeper = seen(world).keeper
    assert keeper is not None
    os.kill(keeper.pid, signal.SIGKILL)
    return keeper


def plugin_host() -> int:
    """The process in which this test's agent has its plugins."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if b"fairway.sdk.host" in (entry / "cmdline").read_bytes() and is_ours(entry.name):
                return int(entry.name)
        except OSError:
            continue
    raise AssertionError("the agent has no plugins")


def is_ours(pid: str) -> bool:
    """Whether a process descends from this one."""
    parent = parent_of(pid)
    return parent == os.getpid() or (parent > 1 and is_ours(str(parent)))


def pids(found: list[Instance]) -> set[int]:
    return {each.process.pid for each in found if each.process}


def marked(world: World) -> int:
    """How many processes of this machine say that they are an instance of the application, children included."""
    ids = [f"FAIRWAY_INSTANCE={each.id}".encode() for each in seen(world).instances]
    count = 0
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            count += any(id in (entry / "environ").read_bytes() for id in ids)
        except OSError:
            continue
    return count


async def test_processes_serve_without_agent_and_plugin(tmp_path: Path) -> None:
    shop = Shop(a_free_port())
    origin = an_origin(tmp_path, shop.files("one"))
    with nothing_left(tmp_path):
        async with a_world(tmp_path, origin) as world:
            await world.add_application()
            async with an_agent_at_work(world, PLUGINS):
                await world.ended()
            before = pids(instances(world, "primary"))
            assert await shop.answers(4) == Counter({"one primary": 4})
            async with an_agent_at_work(world, PLUGINS):
                origin.commit({"web/other": "x"})
                second = await world.ended(2)

            assert second.status is DeploymentStatus.SUCCEEDED
            assert pids(instances(world, "primary")).isdisjoint(before)


async def test_a_process_that_dies_is_started_again(tmp_path: Path) -> None:
    shop = Shop(a_free_port())
    origin = an_origin(tmp_path, shop.files("one"))
    with nothing_left(tmp_path):
        async with a_world(tmp_path, origin) as world, an_agent_at_work(world, PLUGINS):
            await world.add_application()
            await world.ended()
            before = pids(instances(world, "primary"))
            victim = min(before)
            async with somebody_asking(shop):
                os.kill(victim, signal.SIGKILL)

                async def healed() -> set[int] | None:
                    now = [each for each in instances(world, "primary") if each.ready]
                    return pids(now) if len(now) == 2 and victim not in pids(now) else None

                after = await until(healed)

            assert len(after & before) == 1
            assert sorted(each.exits for each in seen(world).instances) == [0, 1]


async def test_a_killed_keeper_is_replaced_and_takes_over_the_same_processes(tmp_path: Path) -> None:
    shop = Shop(a_free_port())
    origin = an_origin(tmp_path, shop.files("one"))
    with nothing_left(tmp_path):
        async with a_world(tmp_path, origin) as world, an_agent_at_work(world, PLUGINS):
            await world.add_application()
            await world.ended()
            before = pids(instances(world, "primary"))
            killed = kill_keeper(world)
            origin.commit({"other/README": "nothing of web's, but a reason to look"})

            async def kept() -> bool:
                now = seen(world)
                return now.keeper != killed and is_alive(now.keeper) and bool(now.port)

            await until(kept)
            assert await shop.answers(4) == Counter({"one primary": 4})
            assert pids(instances(world, "primary")) == before


async def test_a_rollout_goes_on_when_plugin_and_keeper_are_killed_in_it(tmp_path: Path) -> None:
    shop = Shop(a_free_port())
    origin = an_origin(tmp_path, shop.files("one", a_stage("PROCESS_PRIMARY_ROLLOUT")))
    with nothing_left(tmp_path):
        async with a_world(tmp_path, origin) as world, an_agent_at_work(world, PLUGINS):
            await world.add_application()
            await world.ended()
            origin.commit({"web/version": "slow"})

            async def begun() -> bool:
                found = (await world.deployments())[1:]
                running = [each.status for deployment in found for each in deployment.stages]
                return StageStatus.RUNNING in running and len(instances(world, "primary")) == 4

            await until(begun)
            os.kill(plugin_host(), signal.SIGKILL)
            kill_keeper(world)
            deployment = await world.ended(2)

            assert deployment.status is DeploymentStatus.SUCCEEDED, deployment.stages[0].status_reason
            assert await shop.answers(4) == Counter({"slow primary": 4})
            assert (len(instances(world, "primary")), marked(world)) == (2, 2)
