"""One process for several Python plugins: an agent starts it, says by its standard input what to serve, and ends it by
closing that.

Orders come by a pipe and not by arguments, because a process list is everybody's to read and a plugin's configuration
may hold secrets. When the agent is killed, the pipe closes too, so no plugin outlives its agent.
"""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import msgspec

from fairway.config.agent_file import DeployTarget
from fairway.sdk.plugin import Plugin, PluginSettings
from fairway.sdk.serve import Host, Served, serving
from fairway.sdk.start import plugin_class


class PluginOrder(msgspec.Struct, frozen=True, kw_only=True):
    """One plugin to serve."""

    #: Its class, as `module:Class`.
    entry: str
    #: How the agent's file names it.
    name: str
    #: Where it is to listen.
    address: str
    #: Where it may keep files.
    state: str
    config: dict[str, Any] = {}
    targets: tuple[DeployTarget, ...] = ()


class HostOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What a host is to do."""

    #: Where the agent's PluginService listens.
    agent: str
    plugins: tuple[PluginOrder, ...]


def load_plugin(order: PluginOrder) -> Plugin:
    """The plugin, made with its settings."""
    settings = PluginSettings(name=order.name, config=order.config, targets=order.targets, state=Path(order.state))
    return plugin_class(order.entry)(settings)


async def run_host(order: HostOrder, leave: asyncio.Event) -> None:
    """Serve until told to leave."""
    served = [Served(load_plugin(each), each.address) for each in order.plugins]
    async with serving(served, Host(address=order.agent, stops_stages=True)):
        await leave.wait()


def main() -> None:
    """Serve what standard input says, until it closes."""

    async def serve() -> None:
        reader = asyncio.StreamReader(limit=64 * 1024 * 1024)
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        order = msgspec.json.decode(await reader.readline(), type=HostOrder)
        leave = asyncio.Event()
        running = asyncio.create_task(run_host(order, leave))
        closed = asyncio.create_task(reader.read())
        await asyncio.wait({running, closed}, return_when=asyncio.FIRST_COMPLETED)
        leave.set()
        await running

    # Children are made by exec alone; gRPC need not prepare for a fork.
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
    asyncio.run(serve())


if __name__ == "__main__":
    main()
