"""Opens the plugins of an agent, and the desk that they call.

Plugins made with the SDK call by a socket that only this user can open, and show a token. Each of the others has a door
of its own on the loopback address.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from grpc import aio

from fairway.agent.left_alone import LeftAlone
from fairway.agent.plugins.callers import Tokens
from fairway.agent.plugins.door import Door
from fairway.agent.plugins.host_service import HostDesk, HostService
from fairway.agent.plugins.keeper import Patience
from fairway.agent.plugins.supervisor import PluginPlaces, Supervisor
from fairway.config.agent import PluginConfig
from fairway.rpc.channel import SERVER_OPTIONS
from fairway.rpc.plugin_api import (
    register_application_service,
    register_host_service,
    register_live_state_hint_service,
    register_secret_service,
)
from fairway.temporary_directory import temporary_directory

#: How long calls of plugins may go on when the agent stops.
_GRACE_SECONDS = 1.0


@asynccontextmanager
async def open_plugins(
    plugins: Sequence[PluginConfig], data: Path, desk: HostDesk, patience: Patience | None = None
) -> AsyncIterator[Supervisor]:
    """The plugins, running while the block lasts."""
    async with AsyncExitStack() as stack:
        sockets = stack.enter_context(temporary_directory())
        tokens = Tokens()
        service = HostService(desk, tokens.caller)
        await _serve(stack, service, sockets / "agent.sock")
        doors = {}
        foreign = (each.name for each in plugins if not each.unusable and each.is_foreign)
        for number, plugin in enumerate(foreign):
            inside = sockets / f"door-{number}.sock"
            await _serve(stack, service.behind_door(plugin), inside)
            doors[plugin] = await stack.enter_async_context(Door.open(plugin, inside))
        places = PluginPlaces(
            sockets=sockets,
            state=data / "plugins",
            left_alone=LeftAlone(data).path,
            agent=f"unix:{sockets / 'agent.sock'}",
            tokens=tokens,
            doors=doors,
            mask=desk.mask,
        )
        yield await stack.enter_async_context(Supervisor.open(plugins, places, patience))


async def _serve(stack: AsyncExitStack, service: HostService, path: Path) -> None:
    server = aio.server(options=SERVER_OPTIONS)
    register_host_service(service, server)
    register_secret_service(service, server)
    register_live_state_hint_service(service, server)
    register_application_service(service, server)
    server.add_insecure_port(f"unix:{path}")
    await server.start()
    stack.push_async_callback(server.stop, _GRACE_SECONDS)
