"""What runs of an application whose file cannot be used any more since somebody was asked about it."""

import asyncio
from pathlib import Path

import msgspec

from fairway.agent.live_state import LiveStates
from fairway.agent.plugins.live_answer import LiveAnswer
from fairway.agent.reports import Report
from fairway.agent.repositories import Repositories
from fairway.agent.workspace import Source
from fairway.clock import SystemClock
from fairway.model.application import Application, SyncState, SyncStatus
from tests.integration.agent.running import agent_config
from tests.integration.agent.test_live_own_files import FILES, World, a_desk
from tests.integration.git.repositories import an_origin


class Changing(World):
    """While a plugin looks, a commit comes after which the file cannot be used."""

    told: list[str]

    async def live_state(  # type: ignore[override]  # this one answers
        self, _application: Application, _agent: str, _source: Source, *, under_way: bool
    ) -> LiveAnswer:
        self.now = msgspec.structs.replace(self.now, config=None, problem="it is no YAML")
        status = SyncStatus.UNKNOWN if under_way else SyncStatus.SYNCED
        return LiveAnswer((), SyncState(status=status, at=SystemClock().now()))

    async def send(self, *reports: Report) -> None:
        self.told += [each.method for each in reports]


async def test_what_was_asked_before_does_not_take_the_place_of_what_is_wrong_with_the_file(tmp_path: Path) -> None:
    origin = an_origin(tmp_path, FILES)
    async with Repositories.open(tmp_path / "mirrors", agent_config(origin)) as repositories:
        world = Changing(origin, repositories, tmp_path)
        world.told = []
        states = LiveStates(a_desk(world, origin, repositories))
        async with asyncio.TaskGroup() as group:
            states._begin(group, world.now, states._others)

    assert world.told == []
