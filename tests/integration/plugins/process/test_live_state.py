"""What runs on the process platform, as the server sees it through a real agent."""

from pathlib import Path

import msgspec

from fairway.model.application import SyncState, SyncStatus
from fairway.model.live_state import Health, LiveState
from fairway.plugins.process.records import WANTED, Wanted, load, save
from fairway.server.store import live_states
from fairway.server.store.errors import NotFound
from tests.integration.agent.running import World, a_world, an_agent_at_work, until
from tests.integration.git.repositories import an_origin
from tests.integration.plugins.process.applications import (
    PLUGINS,
    Shop,
    directory,
    nothing_left,
)
from tests.ports import a_free_port


async def live_with(world: World, processes: int) -> LiveState:
    """What runs of the application, once it is well and so many processes."""

    async def look() -> LiveState | None:
        try:
            live = await world.store.read(lambda connection: live_states.load_live_state(connection, "a-web"))
        except NotFound:
            return None
        count = sum(resource.type == "Process" for resource in live.resources)
        return live if count == processes and live.health is Health.HEALTHY else None

    return await until(look)


async def in_state(world: World, status: SyncStatus) -> SyncState:
    """How the application compares with Git, once it is in that state."""

    async def look() -> SyncState | None:
        state = (await world.application()).sync_state
        return state if state and state.status is status else None

    return await until(look)


async def test_the_server_sees_what_runs_and_that_it_is_what_git_says(tmp_path: Path) -> None:
    shop = Shop(a_free_port())
    origin = an_origin(tmp_path, shop.files("one"))
    with nothing_left(tmp_path):
        async with a_world(tmp_path, origin) as world, an_agent_at_work(world, PLUGINS):
            await world.add_application()
            deployment = await world.ended()
            live = await live_with(world, processes=2)
            await in_state(world, SyncStatus.SYNCED)

    shown = [(each.type, each.parent_ids, each.health, each.plugin_name) for each in live.resources]
    assert shown == [
        ("TrafficSplitter", (), Health.HEALTHY, "process"),
        ("Variant", ("splitter",), Health.HEALTHY, "process"),
        ("Process", ("primary",), Health.HEALTHY, "process"),
        ("Process", ("primary",), Health.HEALTHY, "process"),
    ]
    commit = deployment.trigger.commit.hash
    assert live.resources[1].metadata == {"replicas": "2", "traffic": "100 %", "commit": commit}


async def test_what_somebody_changed_by_hand_is_drift_and_goes_with_the_next_deployment(tmp_path: Path) -> None:
    shop = Shop(a_free_port())
    origin = an_origin(tmp_path, shop.files("one"))
    with nothing_left(tmp_path):
        async with a_world(tmp_path, origin) as world, an_agent_at_work(world, PLUGINS):
            await world.add_application()
            await world.ended()
            await in_state(world, SyncStatus.SYNCED)
            wanted = load(directory(world), WANTED, Wanted) or Wanted()
            fewer = tuple(msgspec.structs.replace(group, replicas=1) for group in wanted.groups)
            save(directory(world), WANTED, msgspec.structs.replace(wanted, groups=fewer))
            origin.commit({"other/README": "nothing of web's, but a reason to look"})
            drifted = await in_state(world, SyncStatus.OUT_OF_SYNC)
            origin.commit({"web/version": "two"})
            await world.ended(2)
            await in_state(world, SyncStatus.SYNCED)

    assert drifted.short_reason == "The primary is to have 1 process where Git says 2"
