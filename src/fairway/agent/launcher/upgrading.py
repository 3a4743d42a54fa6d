"""The agent's part in changing its version: ask the server, bring what it wants, and leave the rest to the launcher.

Nothing here stops anything: the agent goes on with its work until the launcher tells it to make room. What is refused
or has failed is said in the log, by `fairway agent status`, and to the server. What judges versions and wheels is
loaded when one is wanted: it has some megabytes.
"""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import structlog

import fairway
from fairway.agent.launcher.link import Link
from fairway.agent.launcher.record import INSTALLED, read_record
from fairway.config.upgrade import Upgrade
from fairway.errors import FairwayError
from fairway.git.retry import Retry

if TYPE_CHECKING:
    from fairway.agent.launcher.wanted import Bring

_log = structlog.get_logger()

#: How often the server is asked which version it wants, when nobody gives a hint.
ASK_SECONDS = 60.0
#: What the server is told of a trouble; it shows it beside the version.
_MOST_TOLD = 300


class UpgradeDesk(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent needs to change its version."""

    #: Where the launcher keeps versions.
    versions: Path
    link: Link
    upgrade: Upgrade | None
    #: Which version the server wants, in its words.
    ask: Callable[[], Awaitable[str]]
    #: Tell the server which version runs.
    tell: Callable[[str], Awaitable[None]]
    patience: Retry = Retry()


class Upgrader:
    """Asks for the wanted version, and brings it here."""

    def __init__(self, desk: UpgradeDesk) -> None:
        self._desk = desk
        #: What the server wants; empty before it was asked, and when it wants nothing.
        self.wanted = ""
        #: Why that does not run; empty when it does, or is on its way.
        self.trouble = ""
        #: What the server knows of our version; the agent introduces itself before it asks.
        self._told = running_version()
        self._due = asyncio.Event()

    def look_soon(self) -> None:
        """Ask again: somebody has given a hint."""
        self._due.set()

    async def run(self) -> None:
        """Ask and follow, until cancelled."""
        while True:
            self._due.clear()
            try:
                await self.look()
            except (FairwayError, OSError) as error:
                _log.warning("the wanted version is not known", reason=str(error))
            try:
                async with asyncio.timeout(ASK_SECONDS):
                    await self._due.wait()
            except TimeoutError:
                pass

    async def look(self) -> None:
        """Ask once, and do what follows."""
        desk = self._desk
        self.wanted = await desk.ask()
        if not self.wanted:
            await self._say("")
            return
        from fairway.agent.launcher.wanted import Bring, Circumstances, Return, Stay, decide_upgrade

        record = await asyncio.to_thread(read_record, desk.versions)
        decision = decide_upgrade(
            self.wanted,
            Circumstances(
                running=running_key(desk.versions),
                installed=record.installed if record else fairway.__version__,
                failures=record.failures if record else (),
                upgrade=desk.upgrade,
                launched=desk.link.is_launched,
            ),
        )
        match decision:
            case Stay():
                await self._say(decision.reason)
            case Return():
                await self._say("")
                self._switch(INSTALLED)
            case Bring():
                await self._bring(decision)

    async def _bring(self, bring: "Bring") -> None:
        from fairway.agent.launcher.fetch import fetched
        from fairway.agent.launcher.wheel import unpack

        versions, version = self._desk.versions, bring.wanted.version
        try:
            if not (versions / bring.wanted.key).is_dir():
                async with fetched(bring.wanted, bring.source, versions, self._desk.patience) as wheel:
                    await asyncio.to_thread(unpack, wheel, bring.wanted, versions)
        except FairwayError as error:
            await self._say(f"{version} is wanted, but {error}")
            return
        except OSError as error:
            await self._say(f"{version} is wanted, but the disk does not take it ({error.strerror})")
            return
        await self._say("")
        _log.info("another version is wanted and here", version=version)
        self._switch(bring.wanted.key)

    def _switch(self, key: str) -> None:
        upgrade = self._desk.upgrade or Upgrade()
        self._desk.link.switch(key, upgrade.ready_within.total_seconds(), upgrade.settle_for.total_seconds())

    async def _say(self, trouble: str) -> None:
        if trouble and trouble != self.trouble:
            _log.error("the wanted version does not run", wanted=self.wanted, reason=trouble)
        self.trouble = trouble
        said = f"{running_version()} ({trouble[:_MOST_TOLD]})" if trouble else running_version()
        if said != self._told:
            await self._desk.tell(said)
            self._told = said


def running_version() -> str:
    """What this agent says that it is."""
    return f"fairway-{fairway.__version__}"


def running_key(versions: Path) -> str:
    """The version from whose directory this process runs; the installed one when it is none of those."""
    root = Path(fairway.__file__).resolve().parents[1]
    return root.name if root.parent == versions.resolve() else INSTALLED
