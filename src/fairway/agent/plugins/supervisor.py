"""The plugins of an agent: which there are, which stages they have, and how they stand.

Those that Fairway brings along share one process unless the agent's file says otherwise; each of the others is one of
its own, so that what is wrong with it harms nobody else. Two plugins may have a stage of the same name; then an
application says which of them it means. A plugin that every agent has gives way to one that the agent's file lists.
"""

import asyncio
import shlex
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Self

import msgspec
import structlog

from fairway.agent.plugins.callers import Tokens
from fairway.agent.plugins.client import PluginClient, PluginGone, PluginRefused
from fairway.agent.plugins.door import Door
from fairway.agent.plugins.fetch import Fetcher
from fairway.agent.plugins.identity import RunningFile
from fairway.agent.plugins.keeper import Keeper, Patience
from fairway.agent.plugins.output import NO_MASK, Mask
from fairway.agent.plugins.program import SHARED_HOST, Executable, Hosted, Program
from fairway.agent.plugins.stage_memory import StageMemory
from fairway.config.agent import PluginConfig
from fairway.config.built_in import ALWAYS
from fairway.config.plugin_source import PythonClass
from fairway.config.problems import did_you_mean
from fairway.sdk.host import HostOrder, PluginOrder

_log = structlog.get_logger()


class PluginPlaces(msgspec.Struct, frozen=True, kw_only=True):
    """Where plugins listen and keep files."""

    #: For sockets: private, and short, because the path of a socket may not be long.
    sockets: Path
    #: For files that outlive the plugins; a directory in that of the agent.
    state: Path
    #: Says until when what they have started may outlive the agent.
    left_alone: Path | None = None
    #: Where the agent's PluginService listens, for plugins of ours.
    agent: str
    #: What those show there.
    tokens: Tokens
    #: Where it listens for each foreign one.
    doors: Mapping[str, Door]
    #: What they write, as others may read it, is passed through this.
    mask: Mask = NO_MASK


class Supervisor:
    """The running plugins of one agent."""

    def __init__(
        self, keepers: Sequence[Keeper], given: frozenset[str], data: Path, unusable: Mapping[str, str]
    ) -> None:
        self._keepers = keepers
        self._data = data
        #: Plugins that this agent cannot start, and why.
        self.unusable = unusable
        #: Those that the agent's file does not list.
        self._given = given
        self._keeper_of = {plugin: keeper for keeper in keepers for plugin in keeper.program.plugins}

    @classmethod
    @asynccontextmanager
    async def open(
        cls, plugins: Sequence[PluginConfig], places: PluginPlaces, patience: Patience | None = None
    ) -> AsyncIterator[Self]:
        """The plugins of an agent's file and those that every agent has, running while the block lasts."""
        running = RunningFile(places.state / "running.json")
        await running.end_leftovers()
        unusable = {each.name: each.unusable for each in plugins if each.unusable}
        for name, reason in unusable.items():
            _log.error("a plugin cannot be started", plugin=name, reason=reason)
        memory, patience = StageMemory(places.state / "stages.json"), patience or Patience()
        keepers = [Keeper(program, patience, running.note, memory) for program in _programs(plugins, places)]
        given = frozenset(ALWAYS) - {each.name for each in plugins}
        supervisor = cls(keepers, given, places.state.parent, unusable)
        watching: list[asyncio.Task[None]] = []
        try:
            watching += [asyncio.create_task(each.run(), name=f"plugin {each.program.name}") for each in keepers]
            with suppress(TimeoutError):
                async with asyncio.timeout(patience.together):
                    await asyncio.gather(*(each.tried.wait() for each in keepers))
            yield supervisor
        finally:
            for task in watching:
                task.cancel()
            await asyncio.gather(*watching, return_exceptions=True)
            await asyncio.gather(*(keeper.close() for keeper in keepers))

    @property
    def plugins_of_stage(self) -> Mapping[str, tuple[str, ...]]:
        """Stage name → the plugins that serve it."""
        found: dict[str, list[str]] = {}
        for keeper in self._keepers:
            for plugin, stages in keeper.stages.items():
                for stage in stages:
                    found.setdefault(stage, []).append(plugin)
        return {stage: self._listed_before_given(plugins) for stage, plugins in found.items()}

    @property
    def silent(self) -> tuple[str, ...]:
        """The plugins that are starting and have never named their stages."""
        unheard = (keeper for keeper in self._keepers if not keeper.has_answered and not keeper.given_up)
        return tuple(name for keeper in unheard for name, stages in keeper.stages.items() if not stages)

    @property
    def keepers(self) -> Sequence[Keeper]:
        """The processes."""
        return self._keepers

    def missing(self) -> str:
        """Which plugins have not started, and why; empty when all have. PluginGone while that may change soon."""
        missing = [keeper for keeper in self._keepers if not keeper.has_answered]
        said = "; ".join(
            [
                *(f"plugin {each.program.name} {each.not_started}" for each in missing),
                *(f"plugin {name} cannot be started: {reason}" for name, reason in self.unusable.items()),
            ]
        )
        if any(not each.given_up for each in missing):
            raise PluginGone(said)
        if not missing:
            return said
        # What it wrote may hold secrets: that is for who looks after the agent, not for all who see a deployment.
        look = f"fairway agent status --data {shlex.quote(str(self._data.absolute()))}"
        return f"{said}; `{look}` shows its last words"

    async def settled(self) -> None:
        """Wait until each plugin has answered, or has failed to start several times."""
        await asyncio.gather(*(keeper.settled() for keeper in self._keepers))

    def client(self, name: str) -> PluginClient:
        """The plugin of that name; PluginRefused when this agent has none, PluginGone before it first answered."""
        return self._keeper(name).client(name)

    async def reached(self, name: str) -> PluginClient:
        """The plugin as it was last seen; one that is starting once it answers, PluginGone when it does not."""
        with suppress(PluginGone):
            return self.client(name)
        return await self.back(name)

    async def back(self, name: str) -> PluginClient:
        """The plugin once its process answers; PluginGone when it does not come back."""
        return await self._keeper(name).back(name)

    def _keeper(self, name: str) -> Keeper:
        if name in self.unusable:
            raise PluginRefused(f"this agent cannot start plugin {name!r}: {self.unusable[name]}")
        if name not in self._keeper_of:
            known = ", ".join(self._keeper_of)
            near = did_you_mean(name, self._keeper_of)
            raise PluginRefused(f"this agent has no plugin {name!r}, it has {known}; add it to the agent's file{near}")
        return self._keeper_of[name]

    def _listed_before_given(self, plugins: list[str]) -> tuple[str, ...]:
        return tuple(each for each in plugins if each not in self._given) or tuple(plugins)


def _programs(plugins: Sequence[PluginConfig], places: PluginPlaces) -> list[Program]:
    named = {each.name for each in plugins}
    given = [PluginConfig(name=name, url=f"builtin:{name}") for name in ALWAYS if name not in named]
    shared: list[PluginOrder] = []
    programs: list[Program] = []
    fetcher = Fetcher(places.state / "bin")
    usable = [each for each in plugins if not each.unusable]
    for number, plugin in enumerate([*usable, *given]):
        source = plugin.source
        fetch = None if isinstance(source, PythonClass) else partial(fetcher.fetch, plugin, source)
        if fetch is not None and plugin.is_foreign:
            programs.append(Executable(plugin, places.mask, fetch, places.doors[plugin.name]))
            continue
        entry = source.entry if isinstance(source, PythonClass) else ""
        order = _order(plugin, entry, places, f"unix:{places.sockets / f'{number}.sock'}")
        if fetch is None and plugin.shares_process:
            shared.append(order)
        else:
            alone = HostOrder(agent=places.agent, plugins=(order,))
            programs.append(Hosted(plugin.name, alone, places.mask, fetch))
    if shared:
        together = HostOrder(agent=places.agent, plugins=tuple(shared))
        programs.insert(0, Hosted(SHARED_HOST, together, places.mask))
    return programs


def _order(plugin: PluginConfig, entry: str, places: PluginPlaces, address: str) -> PluginOrder:
    return PluginOrder(
        entry=entry,
        name=plugin.name,
        address=address,
        token=places.tokens.issue(plugin.name),
        state=str(places.state / plugin.name),
        left_alone=None if places.left_alone is None else str(places.left_alone),
        config=plugin.config,
        targets=plugin.deploy_targets,
    )
