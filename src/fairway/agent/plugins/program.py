"""How processes of plugins are started: one that hosts all Python plugins, and one for each foreign executable.

What is ours gets its orders by a pipe, which nobody else reads and which closes when the agent dies. A foreign one is
started as PipeCD starts plugins, with its configuration as an argument; where the machine can, the kernel ends it with
its agent. Each process leads a group of its own, so that what it leaves behind can be found.
"""

import asyncio
import shutil
import socket
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec

from fairway import __version__
from fairway.config.agent import PluginConfig
from fairway.sdk.host import HostOrder


class Launched(NamedTuple):
    """A process that has been started, and where each plugin in it will listen."""

    process: asyncio.subprocess.Process
    addresses: Mapping[str, str]


class Program(Protocol):
    """One process to be kept running."""

    @property
    def name(self) -> str:
        """How it is called in logs."""
        ...

    @property
    def plugins(self) -> tuple[str, ...]:
        """The plugins it serves."""
        ...

    @property
    def version(self) -> str:
        """Which version of it runs; empty when that is not known yet."""
        ...

    async def launch(self) -> Launched:
        """Start it."""
        ...


class PythonHost:
    """All Python plugins in one process, each on a socket of its own."""

    name = "host"
    version = __version__

    def __init__(self, order: HostOrder) -> None:
        self._order = order
        self.plugins = tuple(each.name for each in order.plugins)

    async def launch(self) -> Launched:
        """Start the host and tell it what to serve."""
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "fairway.sdk.host", stdin=asyncio.subprocess.PIPE, start_new_session=True
        )
        if process.stdin is None:
            raise AssertionError("the pipe was asked for")
        process.stdin.write(msgspec.json.encode(self._order) + b"\n")
        await process.stdin.drain()
        return Launched(process, {each.name: each.address for each in self._order.plugins})


class Executable:
    """A plugin of any maker, started with the arguments that PipeCD's plugins know."""

    def __init__(self, plugin: PluginConfig, fetch: Callable[[], Awaitable[Path]], agent: str) -> None:
        self._plugin = plugin
        self._fetch = fetch
        self._agent = agent
        self.name = plugin.name
        self.plugins = (plugin.name,)
        #: The beginning of its checksum: what executables say of themselves differs from maker to maker.
        self.version = ""

    async def launch(self) -> Launched:
        """Start it on its port, or on one that is free when the file names none."""
        path = await self._fetch()
        self.version = path.name.rpartition("-")[2]
        port = self._plugin.port or _free_port()
        config = msgspec.json.encode(wire_config(self._plugin, path, port)).decode()
        process = await asyncio.create_subprocess_exec(
            *_ended_with_us(),
            str(path),
            "start",
            "--piped-plugin-service",
            self._agent,
            "--config",
            config,
            stdin=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        return Launched(process, {self._plugin.name: f"127.0.0.1:{port}"})


def wire_config(plugin: PluginConfig, path: Path, port: int) -> dict[str, Any]:
    """What a plugin is told about itself, in PipeCD's words. Its URL is where it lies: the schemes that PipeCD knows
    are fewer than ours, and its plugins check them."""
    return {
        "name": plugin.name,
        "url": path.as_uri(),
        "port": port,
        "config": plugin.config,
        "deployTargets": [
            {"name": each.name, "labels": each.labels, "config": each.config} for each in plugin.deploy_targets
        ],
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _ended_with_us() -> tuple[str, ...]:
    """What to put before a command so that the kernel ends it when this process dies."""
    setpriv = shutil.which("setpriv")
    return (setpriv, "--pdeathsig", "TERM", "--") if setpriv else ()
