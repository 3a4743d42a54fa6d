"""The files with which what runs is compared: there for as long as a plugin looks at them."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fairway.agent.applications import KnownApplication, Registered
from fairway.agent.healing import Healing, HealingDesk
from fairway.agent.live_state import LiveStateDesk, LiveStates
from fairway.agent.repositories import Repositories
from fairway.agent.workspace import Source, Wanted, Workspace
from fairway.clock import SystemClock
from fairway.config.read import read_application
from fairway.model.application import Application, GitPath, Repository
from tests.integration.agent.running import agent_config, an_application_file, script
from tests.integration.git.repositories import Origin, an_origin
from tests.unit.model.builders import an_application

FILE = an_application_file(script("true"), spec="  plugins:\n    platform: {}\n")


class Reader:
    """A plugin, all others of the agent, and the deployments. While it looks, newer commits are deployed."""

    plugins_of_stage: Mapping[str, Any] = {}
    silent = ()

    def __init__(self, origin: Origin, repositories: Repositories, workspace: Workspace) -> None:
        self._origin, self._repositories, self._workspace = origin, repositories, workspace
        self.found: list[list[str]] = []
        self.asked = asyncio.Event()

    def client(self, _name: str) -> "Reader":
        return self

    def under_way(self, _application_id: str) -> str:
        return ""

    async def live_state(self, _application: Application, _agent: str, source: Source, *, under_way: bool) -> None:
        mirror = await self._repositories.by_id["r-1"].mirror()
        for number in range(6):
            self._origin.commit({"web/version": f"{number}\n"})
            await mirror.fetch()
            await self._workspace.source(f"d-{number}", "target", mirror, wanted(self._origin))
        self.found.append([] if under_way else [each.name for each in source.application_directory.glob("*")])
        self.asked.set()


def wanted(origin: Origin) -> Wanted:
    config = read_application(FILE.encode(), "web/app.pipecd.yaml")
    return Wanted(repository_id="r-1", commit=origin.head(), directory="web", file="web/app.pipecd.yaml", config=config)


def a_desk(reader: Any, origin: Origin, repositories: Repositories, workspace: Workspace) -> LiveStateDesk:
    place, files = GitPath(repository=Repository(id="r-1"), path="web"), wanted(origin)
    application = an_application(git_path=place)
    known = KnownApplication(application=application, commit=files.commit, file=files.file, config=files.config)
    return LiveStateDesk(
        config=agent_config(origin),
        known=lambda: [known],
        deployments=reader,
        repositories=repositories,
        workspace=workspace,
        plugins=reader,
        server=reader,
        clock=SystemClock(),
        healing=Healing(HealingDesk(registered=Registered(), find=reader, deploy=reader)),
    )


async def test_a_commit_that_a_plugin_looks_at_outlasts_newer_ones(tmp_path: Path) -> None:
    origin = an_origin(tmp_path, {"web/app.pipecd.yaml": FILE})
    workspace = Workspace(tmp_path / "data", None, tmp_path / "plugins")
    async with Repositories.open(tmp_path / "mirrors", agent_config(origin)) as repositories:
        reader = Reader(origin, repositories, workspace)
        states = LiveStates(a_desk(reader, origin, repositories, workspace))
        states.look_soon()
        running = asyncio.create_task(states.run())
        await asyncio.wait({running, asyncio.create_task(reader.asked.wait())}, return_when=asyncio.FIRST_COMPLETED)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    assert reader.found == [["app.pipecd.yaml"]]
