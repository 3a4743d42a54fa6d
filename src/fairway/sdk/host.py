"""A process of plugins made with the SDK: an agent starts it, says by its standard input what to serve, and ends it by
closing that.

Orders come by a pipe and not by arguments, because a process list is everybody's to read and a plugin's configuration
may hold secrets. When the agent is killed, the pipe closes too, so no plugin outlives its agent.
"""

import asyncio
import importlib
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from fairway.config.agent_file import DeployTarget
from fairway.errors import UserError
from fairway.interpreter import give_memory_back
from fairway.sdk.plugin import Plugin, PluginSettings, Shared
from fairway.sdk.serve import Host, Served, serving


class BadStart(UserError):
    """A plugin that cannot be started as it was told to."""


class PluginOrder(msgspec.Struct, frozen=True, kw_only=True):
    """One plugin to serve."""

    #: Its class, as `module:Class`; empty for the executable of a plugin, which knows its own.
    entry: str
    #: How the agent's file names it.
    name: str
    #: Where it is to listen.
    address: str
    #: What it shows the agent when it calls.
    token: str
    #: Where it may keep files.
    state: str
    #: Says until when what it has started may outlive the agent; None where that is nobody's concern.
    left_alone: str | None = None
    config: dict[str, Any] = {}
    targets: tuple[DeployTarget, ...] = ()


class HostOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What a host is to do."""

    #: Where the agent's PluginService listens.
    agent: str
    plugins: tuple[PluginOrder, ...]


def plugin_class(entry: str) -> type[Plugin]:
    """The class of a plugin by `module:Class`; BadStart when there is none."""
    module, _, name = entry.partition(":")
    try:
        kind = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise BadStart(f"{entry!r} is no plugin: {error}; expected module:Class of something installed here") from error
    if not (isinstance(kind, type) and issubclass(kind, Plugin)):
        raise BadStart(f"{entry!r} is no plugin; expected a class that derives from fairway.sdk.Plugin")
    return kind


def serve_orders(kind_of: Callable[[str], type[Plugin]]) -> None:
    """Serve what standard input says, until it closes; `kind_of` finds the class of an entry."""
    if not stat.S_ISFIFO(os.fstat(sys.stdin.fileno()).st_mode):
        raise BadStart("standard input is no pipe; this is how an agent starts a plugin, not how people do")
    # Children are made by exec alone; gRPC need not prepare for a fork.
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
    give_memory_back()
    asyncio.run(_serve_orders(kind_of))


async def _serve_orders(kind_of: Callable[[str], type[Plugin]]) -> None:
    reader = asyncio.StreamReader(limit=64 * 1024 * 1024)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    try:
        order = msgspec.json.decode(await reader.readline(), type=HostOrder)
    except msgspec.DecodeError as error:
        raise BadStart(f"standard input does not say what to serve ({error}); an agent writes that") from error
    served = plugins_of(order, kind_of)
    leave = asyncio.Event()
    running = asyncio.create_task(_serve(served, order.agent, leave))
    closed = asyncio.create_task(reader.read())
    await asyncio.wait({running, closed}, return_when=asyncio.FIRST_COMPLETED)
    leave.set()
    await running


def plugins_of(order: HostOrder, kind_of: Callable[[str], type[Plugin]]) -> list[Served]:
    """The plugins to serve; what they have in common is there once."""
    shared = Shared()
    return [Served(kind_of(each.entry)(_settings(each, shared)), each.address, each.token) for each in order.plugins]


async def _serve(served: list[Served], agent: str, leave: asyncio.Event) -> None:
    async with serving(served, Host(address=agent, stops_stages=True)):
        await leave.wait()


def _settings(order: PluginOrder, shared: Shared) -> PluginSettings:
    return PluginSettings(
        name=order.name,
        config=order.config,
        targets=order.targets,
        state=Path(order.state),
        left_alone=Path(order.left_alone) if order.left_alone else None,
        shared=shared,
    )


def main() -> None:
    """Serve what standard input says, by classes that are installed here."""
    try:
        serve_orders(plugin_class)
    except UserError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
