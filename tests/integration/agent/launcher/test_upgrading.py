"""The agent's part in changing its version: what it brings, what it tells the launcher and what the server."""

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from fairway import __version__
from fairway.agent.control_plane import ServerAway
from fairway.agent.launcher.link import Link
from fairway.agent.launcher.record import Failure, Record, write_record
from fairway.agent.launcher.upgrading import UpgradeDesk, Upgrader
from fairway.config.scalars import Duration
from fairway.config.upgrade import Upgrade
from fairway.git.retry import Retry
from tests.integration.agent.launcher.wheels import SOURCE, a_wheel
from tests.patience import PATIENCE_SECONDS

US = f"fairway-{__version__}"


class Server:
    """A server that wants something, and remembers what it was told."""

    def __init__(self) -> None:
        self.wants = ""
        self.told: list[str] = []
        self.is_away = False

    async def ask(self) -> str:
        return self.wants

    async def tell(self, version: str) -> None:
        if self.is_away:
            raise ServerAway("it does not answer")
        self.told.append(version)


class Launcher:
    """The other end of the pipe."""

    def __init__(self) -> None:
        self._pipe, self.theirs = os.pipe()
        os.set_blocking(self._pipe, False)

    @property
    def heard(self) -> list[dict[str, object]]:
        try:
            return [json.loads(line) for line in os.read(self._pipe, 65536).splitlines()]
        except BlockingIOError:
            return []

    def close(self) -> None:
        for each in (self._pipe, self.theirs):
            os.close(each)


@pytest.fixture
def launcher() -> Iterator[Launcher]:
    made = Launcher()
    yield made
    made.close()


def an_upgrader(folder: Path, server: Server, launcher: Launcher) -> Upgrader:
    """An upgrader that finds wheels in the folder."""
    upgrade = Upgrade(source=f"file://{folder}/{SOURCE}", settle_for=Duration(seconds=7))
    versions = folder / "versions"
    versions.mkdir(exist_ok=True)
    link = Link(launcher.theirs)
    return Upgrader(
        UpgradeDesk(
            versions=versions,
            link=link,
            upgrade=upgrade,
            ask=server.ask,
            tell=server.tell,
            patience=Retry(attempts=1),
        )
    )


@pytest.mark.parametrize("wish", ["", __version__, f"v{__version__}"])
async def test_nothing_is_said_where_nothing_is_to_change(tmp_path: Path, launcher: Launcher, wish: str) -> None:
    server = Server()
    server.wants = wish

    await an_upgrader(tmp_path, server, launcher).look()

    assert (server.told, launcher.heard) == ([], [])


async def test_a_wanted_version_is_brought_and_the_launcher_is_told(tmp_path: Path, launcher: Launcher) -> None:
    server = Server()
    server.wants = a_wheel(tmp_path, "7.0")
    key = server.wants.replace("@sha256:", "-")

    await an_upgrader(tmp_path, server, launcher).look()

    assert launcher.heard == [{"switch": key, "ready_seconds": 120.0, "settle_seconds": 7.0}]
    assert os.listdir(tmp_path / "versions") == [key]
    assert server.told == []


async def test_a_trouble_is_told_once_and_taken_back(tmp_path: Path, launcher: Launcher) -> None:
    server = Server()
    server.wants = f"7.0@sha256:{'a' * 64}"
    upgrader = an_upgrader(tmp_path, server, launcher)
    words = f"7.0 is wanted, but {tmp_path}/{SOURCE.format(version='7.0')} cannot be read (No such file or directory)"

    for _ in range(2):
        await upgrader.look()

    assert (upgrader.wanted, upgrader.trouble) == (server.wants, words)
    server.wants = ""
    await upgrader.look()
    assert server.told == [f"{US} ({words})", US]
    assert (upgrader.trouble, launcher.heard) == ("", [])


async def test_a_trouble_that_the_server_did_not_hear_is_told_again(tmp_path: Path, launcher: Launcher) -> None:
    server = Server()
    server.wants, server.is_away = "latest", True
    upgrader = an_upgrader(tmp_path, server, launcher)
    with pytest.raises(ServerAway):
        await upgrader.look()
    server.is_away = False

    await upgrader.look()

    assert [each.startswith(f"{US} ('latest' is no version") for each in server.told] == [True]


async def test_a_version_that_has_failed_is_not_brought_again(tmp_path: Path, launcher: Launcher) -> None:
    server = Server()
    server.wants = a_wheel(tmp_path, "7.0")
    upgrader = an_upgrader(tmp_path, server, launcher)
    failure = Failure(server.wants.replace("@sha256:", "-"), "it crashed", 1)
    write_record(tmp_path / "versions", Record(__version__, failures=(failure,)))

    await upgrader.look()

    assert upgrader.trouble == "7.0 was tried and left: it crashed; `fairway agent restart` lets it try again"
    assert launcher.heard == []


async def test_a_hint_makes_it_ask_again(tmp_path: Path, launcher: Launcher) -> None:
    server = Server()
    upgrader = an_upgrader(tmp_path, server, launcher)
    running = asyncio.create_task(upgrader.run())
    await asyncio.sleep(0)
    server.wants = "latest"

    upgrader.look_soon()

    async with asyncio.timeout(PATIENCE_SECONDS):
        while not server.told:  # noqa: ASYNC110  # what it tells has no event
            await asyncio.sleep(0.01)
    running.cancel()
    assert "is no version" in upgrader.trouble
