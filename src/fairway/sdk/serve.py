"""A plugin on an address, for as long as whoever started the process wants it.

Fairway's agent puts several built-in plugins into one process, each on its own socket; PipeCD's starts one process for
each, with the arguments that `start.main` reads.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import msgspec
from grpc import aio

from fairway.clock import SystemClock
from fairway.errors import UserError
from fairway.rpc.channel import CHANNEL_OPTIONS, SERVER_OPTIONS
from fairway.rpc.plugin_api import (
    register_deployment_service,
    register_live_state_service,
    register_plan_preview_service,
    register_stage_service,
)
from fairway.sdk.agent_client import AgentClient
from fairway.sdk.live_state import LiveStateService, can_look
from fairway.sdk.plan_preview import PlanPreviewService, can_preview
from fairway.sdk.plugin import Plugin
from fairway.sdk.refusing import Checked
from fairway.sdk.service import PluginService, files_from_wire

#: How long stages may take to let go when the process is told to end.
GRACE_SECONDS = 5.0


class CannotListen(UserError):
    """An address that somebody else has, or that is none of this machine."""


class Served(msgspec.Struct, frozen=True):
    """A plugin and where it listens: `unix:/path` or `host:port`."""

    plugin: Plugin
    address: str
    #: What it shows the agent when it calls; empty for an agent that gives none.
    token: str = ""


class Host(msgspec.Struct, frozen=True, kw_only=True):
    """The agent that plugins are served to."""

    #: Where its PluginService listens.
    address: str
    #: Whether it is known to end stages by Stop. An agent that cannot ends them by breaking off the call; one that can
    #: also shows it by calling Stop before it runs anything.
    stops_stages: bool


@asynccontextmanager
async def serving(served: Sequence[Served], host: Host) -> AsyncIterator[tuple[int, ...]]:
    """Serve plugins while the block lasts; the ports they listen on, 1 for a socket in the file system."""
    channel = aio.insecure_channel(host.address, options=CHANNEL_OPTIONS)
    servers: list[aio.Server] = []
    ports: list[int] = []
    try:
        for each in served:
            agent = AgentClient(each.plugin.settings.name, channel, each.token)
            each.plugin.meet(agent)
            service = PluginService(each.plugin, agent, SystemClock(), ends_with_call=not host.stops_stages)
            server = aio.server(options=SERVER_OPTIONS)
            name = each.plugin.settings.name
            register_deployment_service(Checked(service, name), server)
            if can_look(each.plugin):
                looks = LiveStateService(each.plugin, SystemClock(), files_from_wire)
                register_live_state_service(Checked(looks, name), server)
            if can_preview(each.plugin):
                previews = PlanPreviewService(each.plugin, files_from_wire)
                register_plan_preview_service(Checked(previews, name), server)
            register_stage_service(service, server)
            ports.append(_listen(server, each.address))
            await server.start()
            servers.append(server)
        yield tuple(ports)
    finally:
        await asyncio.gather(*(server.stop(GRACE_SECONDS) for server in servers))
        for each in served:
            await each.plugin.close()
        await channel.close()


def _listen(server: aio.Server, address: str) -> int:
    try:
        return server.add_insecure_port(address)
    except RuntimeError as error:
        raise CannotListen(
            f"cannot listen on {address}: it is in use, or not an address of this machine; "
            "a plugin of an agent that was killed may still be there"
        ) from error
