"""The files of an application in which something is opened: those of where it is now, and never such as are gone."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fairway.agent.applications import KnownApplication, Registered
from fairway.agent.healing import Healing, HealingDesk
from fairway.agent.live_state import LiveStateDesk, LiveStates
from fairway.agent.repositories import Repositories
from fairway.agent.workspace import Source, Workspace, WorkspaceError
from fairway.clock import SystemClock
from fairway.config.read import read_application
from fairway.model.application import Application, GitPath, Repository
from tests.integration.agent.running import agent_config, an_application_file, script, until
from tests.integration.git.repositories import Origin, an_origin
from tests.unit.model.builders import an_application

_OPENED = "  attachment:\n    sources: {note: note}\n    targets: [note]\n"
FILE = an_application_file(script("true"), spec=f"  plugins:\n    platform: {{}}\n{_OPENED}")
FILES = {
    f"{name}/{file}": text for name in ("web", "shop") for file, text in {"a.pipecd.yaml": FILE, "note": ""}.items()
}


class World:
    """Everybody whom the live states of one application ask."""

    plugins_of_stage: Mapping[str, Any] = {}
    silent = ()

    def __init__(self, origin: Origin, repositories: Repositories, folder: Path) -> None:
        self._commit = origin.head()
        self.workspace = Workspace(folder / "data", None, folder / "plugins")
        #: What each look has found.
        self.found: list[list[str]] = []
        self.now = self.at("web")
        self.states = LiveStates(a_desk(self, origin, repositories))

    def at(self, directory: str, commit: str = "") -> KnownApplication:
        """The application in that directory."""
        place, file = GitPath(repository=Repository(id="r-1"), path=directory), f"{directory}/a.pipecd.yaml"
        config = read_application(FILE.encode(), file)
        application = an_application(git_path=place)
        return KnownApplication(application=application, commit=commit or self._commit, file=file, config=config)

    def client(self, _name: str) -> "World":
        return self

    def under_way(self, _application_id: str) -> str:
        return ""

    async def live_state(self, _application: Application, _agent: str, source: Source, *, under_way: bool) -> None:
        here = source.application_directory
        self.found.append([] if under_way else [here.name, *sorted(each.name for each in here.glob("*"))])

    async def look(self, known: KnownApplication) -> None:
        """Look at the application as it is known now."""
        self.now, before = known, len(self.found)
        self.states.look_soon(known.application.id)

        async def looked() -> bool:
            return len(self.found) > before

        await until(looked)


def a_desk(world: Any, origin: Origin, repositories: Repositories) -> LiveStateDesk:
    return LiveStateDesk(
        config=agent_config(origin),
        known=lambda: [world.now],
        deployments=world,
        repositories=repositories,
        workspace=world.workspace,
        plugins=world,
        server=world,
        clock=SystemClock(),
        healing=Healing(HealingDesk(registered=Registered(), find=world, deploy=world)),
    )


@asynccontextmanager
async def a_world(folder: Path, origin: Origin) -> AsyncIterator[World]:
    async with Repositories.open(folder / "mirrors", agent_config(origin)) as repositories:
        world = World(origin, repositories, folder)
        running = asyncio.create_task(world.states.run())
        try:
            yield world
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


async def test_an_application_that_has_moved_is_compared_with_the_files_of_its_new_place(tmp_path: Path) -> None:
    async with a_world(tmp_path, an_origin(tmp_path, FILES)) as world:
        for directory in ("web", "shop"):
            await world.look(world.at(directory))

    assert world.found == [["web", "a.pipecd.yaml", "note"], ["shop", "a.pipecd.yaml", "note"]]


async def test_files_that_made_room_for_others_which_were_not_written_are_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin = an_origin(tmp_path, FILES)
    first = origin.head()
    async with a_world(tmp_path, origin) as world:
        await world.look(world.at("web"))
        refused = asyncio.Event()

        async def refuse(*_: object) -> Source:
            refused.set()
            raise WorkspaceError("no room")

        with monkeypatch.context() as full:
            full.setattr(world.workspace, "source", refuse)
            world.now = msgspec.structs.replace(world.now, commit=origin.commit({"web/note": "more"}))
            world.states.look_soon(world.now.application.id)
            await refused.wait()
        await world.look(world.at("web", first))

    assert world.found == [["web", "a.pipecd.yaml", "note"]] * 2


async def test_of_several_applications_that_are_gone_one_may_just_be_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    removed: list[str] = []
    async with a_world(tmp_path, an_origin(tmp_path, FILES)) as world:
        await world.look(world.at("web"))
        known = next(iter(world.states._sources.values()))
        world.states._sources = {"gone-1": known, "gone-2": known}

        async def remove(place: str) -> None:
            removed.append(place)
            # As whoever looks does before it writes the files of another commit.
            world.states._sources.clear()

        monkeypatch.setattr(world.workspace, "remove", remove)
        await world.states._keep(())

    assert sorted(removed) == ["live-gone-1", "live-gone-2"]
