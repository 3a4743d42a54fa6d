"""The plugins of an agent: started, known by their stages, watched, and started again when they end.

All Python plugins share one process, each on a socket of its own in a private directory. A plugin is ready when it has
named its stages. Its process is watched: when it ends by itself it is started again, later each time that it does not
hold; who waits for it waits until it answers again.
"""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Self

import msgspec
import structlog
from grpc import aio

from fairway.agent.plugins.built_in import ALWAYS, BUILT_IN
from fairway.agent.plugins.client import PluginClient, PluginGone, PluginRefused
from fairway.config.agent import PluginConfig
from fairway.errors import UserError
from fairway.git.retry import Retry
from fairway.rpc.channel import CHANNEL_OPTIONS
from fairway.sdk.host import HostOrder, PluginOrder

_log = structlog.get_logger()

#: How long plugins may take from their start to their first answer.
READY_SECONDS = 30.0


class BadPlugin(UserError):
    """A plugin that this agent cannot have as its file says."""


class PluginPlaces(msgspec.Struct, frozen=True, kw_only=True):
    """Where plugins listen and keep files."""

    #: For sockets: private, and short, because the path of a socket may not be long.
    sockets: Path
    #: For files that outlive the plugins.
    state: Path
    #: Where the agent's PluginService listens.
    agent: str


class Supervisor:
    """The running plugins of one agent."""

    def __init__(self, order: HostOrder, patience: Retry) -> None:
        self._order = order
        self._patience = patience
        channels = {each.name: aio.insecure_channel(each.address, options=CHANNEL_OPTIONS) for each in order.plugins}
        self._channels = channels
        self._clients = {name: PluginClient(name, channel, resumes=True) for name, channel in channels.items()}
        self._plugin_of_stage: dict[str, str] = {}
        self._ready = asyncio.Event()
        self._process: asyncio.subprocess.Process | None = None

    @classmethod
    @asynccontextmanager
    async def open(
        cls, plugins: Sequence[PluginConfig], places: PluginPlaces, patience: Retry | None = None
    ) -> AsyncIterator[Self]:
        """The plugins of an agent's file and those that every agent has, running while the block lasts."""
        supervisor = cls(_order(plugins, places), patience or Retry(first_delay=0.1, longest_delay=30.0))
        await supervisor._start()
        watching = asyncio.create_task(supervisor._watch(), name="plugins")
        try:
            yield supervisor
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            await supervisor._stop()

    @property
    def plugin_of_stage(self) -> Mapping[str, str]:
        """Stage name → the plugin that serves it."""
        return self._plugin_of_stage

    @property
    def pid(self) -> int | None:
        """The process that hosts the plugins."""
        return None if self._process is None else self._process.pid

    def client(self, name: str) -> PluginClient:
        """The plugin of that name; PluginRefused when this agent has none."""
        if name not in self._clients:
            raise PluginRefused(f"this agent has no plugin {name!r}; it has {', '.join(self._clients)}")
        return self._clients[name]

    async def back(self, name: str) -> PluginClient:
        """The plugin once its process answers again."""
        await asyncio.sleep(0)
        await self._ready.wait()
        return self.client(name)

    async def _start(self) -> None:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "fairway.sdk.host", stdin=asyncio.subprocess.PIPE, start_new_session=True
        )
        self._process = process
        if process.stdin is None:
            raise AssertionError("the pipe was asked for")
        process.stdin.write(msgspec.json.encode(self._order) + b"\n")
        await process.stdin.drain()
        async with asyncio.timeout(READY_SECONDS):
            stages = {name: await self._first_answer(client, process) for name, client in self._clients.items()}
        self._plugin_of_stage = _owners(stages)
        self._ready.set()

    async def _first_answer(self, client: PluginClient, process: asyncio.subprocess.Process) -> tuple[str, ...]:
        while True:
            try:
                return await client.defined_stages(seconds=2.0)
            except PluginGone as error:
                if process.returncode is not None:
                    raise BadPlugin(f"the plugins ended with status {process.returncode} when they started") from error
                await asyncio.sleep(0.01)

    async def _watch(self) -> None:
        """Start the plugins again whenever they end."""
        failures = 0
        while True:
            process = self._process
            if process is not None:
                status = await process.wait()
                self._ready.clear()
                _log.error("the plugins ended by themselves; they are started again", status=status)
            try:
                await self._start()
                failures = 0
            except (BadPlugin, TimeoutError, OSError) as error:
                failures += 1
                _log.error("the plugins cannot be started", reason=str(error), failures=failures)
                await self._patience.sleep(self._patience.delay(failures))

    async def _stop(self) -> None:
        process = self._process
        if process is not None and process.returncode is None:
            if process.stdin is not None:
                process.stdin.close()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LEAVE_SECONDS):
                    await process.wait()
            if process.returncode is None:
                process.kill()
                await process.wait()
        for channel in self._channels.values():
            await channel.close()


#: How long plugins may take to leave before they are made to.
_LEAVE_SECONDS = 15.0


def _order(plugins: Sequence[PluginConfig], places: PluginPlaces) -> HostOrder:
    named = {each.name: each for each in plugins}
    extra = [PluginConfig(name=name, url=f"builtin:{name}") for name in ALWAYS if name not in named]
    orders = [
        PluginOrder(
            entry=_entry(each),
            name=each.name,
            address=f"unix:{places.sockets / f'{number}.sock'}",
            state=str(places.state / each.name),
            config=each.config,
            targets=each.deploy_targets,
        )
        for number, each in enumerate([*plugins, *extra])
    ]
    return HostOrder(agent=places.agent, plugins=tuple(orders))


def _entry(plugin: PluginConfig) -> str:
    scheme, _, rest = plugin.url.partition(":")
    if scheme == "builtin" and rest in BUILT_IN:
        return BUILT_IN[rest]
    if scheme == "python" and ":" in rest:
        return rest
    known = ", ".join(f"builtin:{name}" for name in BUILT_IN)
    raise BadPlugin(f"plugin {plugin.name}: {plugin.url!r} is no plugin that this agent can start; it knows {known}")


def _owners(stages: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    owners: dict[str, str] = {}
    for plugin, names in stages.items():
        for name in names:
            if name in owners:
                raise BadPlugin(f"plugins {owners[name]} and {plugin} both have a stage {name}; leave one of them out")
            owners[name] = plugin
    return owners
