"""How processes of plugins are started: those made with the SDK, alone or together, and foreign executables.

What is ours gets its orders by a pipe, which nobody else reads and which closes when the agent dies. A foreign one is
started as PipeCD starts plugins, with its configuration as an argument; where the machine can, the kernel ends it with
its agent. Each process leads a session of its own, so that what it leaves behind can be found.
"""

import asyncio
import contextlib
import os
import shutil
import socket
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from fairway import __version__
from fairway.agent.plugins.door import Door
from fairway.agent.plugins.identity import Identity, identity_of
from fairway.agent.plugins.output import Mask, Output, to_stderr
from fairway.agent.plugins.whose import holds, listeners
from fairway.config.agent import PluginConfig
from fairway.errors import UserError
from fairway.interpreter import python_module
from fairway.sdk.host import HostOrder

#: Where an executable lies, once it is there.
Fetch = Callable[[], Awaitable[Path]]


class Launched(NamedTuple):
    """A process that has been started, where each plugin in it will listen, and what it writes."""

    process: asyncio.subprocess.Process
    addresses: Mapping[str, str]
    output: Output


class Impostor(UserError):
    """Somebody who answers where a plugin should."""


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
    def targets(self) -> Mapping[str, tuple[str, ...]]:
        """The names of the deploy targets of each of them."""
        ...

    @property
    def version(self) -> str:
        """Which version of it runs; empty when that is not known yet."""
        ...

    async def launch(self) -> Launched:
        """Start it."""
        ...

    def verify(self, process: Identity) -> None:
        """Impostor when those who answer are not that process."""
        ...


#: The name of the process that several plugins share.
SHARED_HOST: Final = "host"


class Hosted:
    """Plugins made with the SDK in one process, each on a socket of its own."""

    def __init__(self, name: str, order: HostOrder, mask: Mask, fetch: Fetch | None = None) -> None:
        self._order = order
        self._mask = mask
        self._fetch = fetch
        self.name = name
        self.plugins = tuple(each.name for each in order.plugins)
        self.targets = {each.name: tuple(target.name for target in each.targets) for each in order.plugins}
        self.version = "" if fetch else __version__

    async def launch(self) -> Launched:
        """Start the process and tell it what to serve."""
        command = python_module("fairway.sdk.host")
        if self._fetch is not None:
            path = await self._fetch()
            self.version = _version_of(path)
            command = (str(path), "start", "--handover", "pipe")
        process, output = await _started(*command, stdin=asyncio.subprocess.PIPE, mask=self._mask)
        if process.stdin is None:
            raise AssertionError("the pipe was asked for")
        with contextlib.suppress(ConnectionError):
            # Of one that has ended already its status tells.
            process.stdin.write(msgspec.json.encode(self._order) + b"\n")
            await process.stdin.drain()
        return Launched(process, {each.name: each.address for each in self._order.plugins}, output)

    def verify(self, process: Identity) -> None:
        """Their sockets are in a directory that only this user can write to."""


class Executable:
    """A plugin of any maker, started with the arguments that PipeCD's plugins know."""

    def __init__(self, plugin: PluginConfig, mask: Mask, fetch: Fetch, door: Door) -> None:
        self._plugin = plugin
        self._mask = mask
        self._fetch = fetch
        self._door = door
        self.name = plugin.name
        self.plugins = (plugin.name,)
        self.targets = {plugin.name: tuple(target.name for target in plugin.deploy_targets)}
        #: The beginning of its checksum: what executables say of themselves differs from maker to maker.
        self.version = ""
        self._port = 0

    async def launch(self) -> Launched:
        """Start it on its port, or on one that is free when the file names none."""
        path = await self._fetch()
        self.version = _version_of(path)
        port = self._port = self._plugin.port or _free_port()
        config = msgspec.json.encode(wire_config(self._plugin, path, port)).decode()
        command = (*_ended_with_us(), str(path), "start", "--piped-plugin-service", self._door.address)
        self._door.admit(None)
        command += ("--config", config)
        process, output = await _started(*command, stdin=asyncio.subprocess.DEVNULL, mask=self._mask)
        self._door.admit(identity_of(process.pid))
        return Launched(process, {self._plugin.name: f"127.0.0.1:{port}"}, output)

    def verify(self, process: Identity) -> None:
        """A port is anybody's to take first, and what stages are told is not for everybody."""
        for owner in listeners(self._port):
            if owner.user != os.getuid() or holds(process, owner.inode) is False:
                raise Impostor(
                    f"somebody else listens on port {self._port}, where plugin {self.name} should (a process of user "
                    f"{owner.user}); end that, or give the plugin another port"
                )


async def _started(*command: str, stdin: int, mask: Mask) -> tuple[asyncio.subprocess.Process, Output]:
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=stdin,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    if process.stdout is None:
        raise AssertionError("the pipe was asked for")
    return process, Output(process.stdout, to_stderr, mask)


def _version_of(executable: Path) -> str:
    return executable.name.rpartition("-")[2]


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
