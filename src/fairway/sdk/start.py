"""A plugin as a program of its own, started as PipeCD's agent starts plugins and as ours starts foreign ones:

    NAME start --piped-plugin-service HOST:PORT --config JSON
    NAME start --handover pipe

The executable of a plugin is one line, `fairway.sdk.start.main(MyPlugin)`. It runs under either agent: one that ends
stages by Stop says so before the first stage, any other ends them by breaking off the call. By the second line it is
told everything by its standard input, and the process list shows nothing.
"""

import argparse
import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from fairway.config.agent_file import DeployTarget
from fairway.errors import UserError
from fairway.interpreter import give_memory_back
from fairway.sdk.host import BadStart, serve_orders
from fairway.sdk.plugin import Plugin, PluginSettings
from fairway.sdk.serve import Host, Served, serving


class StartConfig(msgspec.Struct, frozen=True, rename="camel"):
    """What an agent tells a plugin about itself."""

    name: str
    port: int
    config: dict[str, Any] | None = None
    deploy_targets: tuple[dict[str, Any], ...] | None = None


def main(kind: type[Plugin], arguments: Sequence[str] | None = None, *, program: str | None = None) -> None:
    """Serve the plugin until the process is told to end; `program` is how it was called, where that is many words."""
    parser = argparse.ArgumentParser(prog=program, description=f"The plugin {kind.name}, for an agent to start.")
    parser.add_argument("command", choices=["start"])
    parser.add_argument("--piped-plugin-service", metavar="HOST:PORT", help="where the agent listens")
    parser.add_argument("--config", metavar="JSON", help="the plugin's entry in the agent's file")
    parser.add_argument(
        "--handover", choices=["arguments", "pipe"], default="arguments", help="pipe: told by standard input instead"
    )
    told = parser.parse_args(arguments)
    if told.handover == "arguments" and not (told.piped_plugin_service and told.config):
        parser.error("--piped-plugin-service and --config are needed, or --handover pipe")
    # Children are made by exec alone; gRPC need not prepare for a fork.
    os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
    give_memory_back()
    try:
        if told.handover == "pipe":
            serve_orders(lambda _entry: kind)
        else:
            config = start_config(told.config)
            asyncio.run(_serve(kind(settings_of(config)), config.port, told.piped_plugin_service))
    except UserError as error:
        sys.exit(f"{kind.name}: {error}")


def start_config(text: str) -> StartConfig:
    """What `--config` says."""
    try:
        config = msgspec.json.decode(text, type=StartConfig)
    except msgspec.DecodeError as error:
        raise BadStart(f"--config cannot be used: {error}; expected a plugin's entry of an agent's file") from error
    if not 0 < config.port < 65536:
        raise BadStart(f"--config says port {config.port}; expected 1 to 65535")
    return config


def settings_of(config: StartConfig) -> PluginSettings:
    """The same, as the plugin is told; it keeps its files in the user's directory for such things."""
    base = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    targets = [{key: value for key, value in each.items() if value is not None} for each in config.deploy_targets or ()]
    return PluginSettings(
        name=config.name,
        config=config.config or {},
        targets=tuple(msgspec.convert(targets, list[DeployTarget])),
        state=Path(base).expanduser() / "fairway" / "plugins" / config.name,
    )


async def _serve(plugin: Plugin, port: int, agent: str) -> None:
    leave = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, leave.set)
    # By this name, because it is what PipeCD's agent calls, and it may mean either family of addresses.
    served = [Served(plugin, f"localhost:{port}")]
    async with serving(served, Host(address=agent, stops_stages=False)):
        await leave.wait()
