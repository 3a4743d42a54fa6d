"""Opens the plugins of an agent, and the desk that they call.

Our own plugins call by a socket that only this user can open. Foreign ones know ports only, so there is a port on the
loopback address when, and only when, the agent has such a plugin.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from grpc import aio

from fairway.agent.plugins.host_service import HostDesk, HostService
from fairway.agent.plugins.keeper import Patience
from fairway.agent.plugins.source import PythonClass, source_of
from fairway.agent.plugins.supervisor import PluginPlaces, Supervisor
from fairway.config.agent import PluginConfig
from fairway.rpc.channel import SERVER_OPTIONS
from fairway.rpc.plugin_api import register_host_service, register_secret_service

#: How long calls of plugins may go on when the agent stops.
_GRACE_SECONDS = 1.0


@asynccontextmanager
async def open_plugins(
    plugins: Sequence[PluginConfig], data: Path, desk: HostDesk, patience: Patience | None = None
) -> AsyncIterator[Supervisor]:
    """The plugins, running while the block lasts."""
    foreign = any(not isinstance(source_of(each), PythonClass) for each in plugins)
    async with AsyncExitStack() as stack:
        sockets = stack.enter_context(TemporaryDirectory(prefix="fairway-"))
        service = HostService(desk)
        address = f"unix:{sockets}/agent.sock"
        await _serve(stack, service, address, private=True)
        port = await _serve(stack, service, "127.0.0.1:0", private=False) if foreign else 0
        places = PluginPlaces(
            sockets=Path(sockets),
            state=data / "plugins",
            agent=address,
            agent_port=f"127.0.0.1:{port}" if foreign else "",
        )
        yield await stack.enter_async_context(Supervisor.open(plugins, places, patience))


async def _serve(stack: AsyncExitStack, service: HostService, address: str, private: bool) -> int:
    server = aio.server(options=SERVER_OPTIONS)
    register_host_service(service, server)
    if private:
        register_secret_service(service, server)
    port = server.add_insecure_port(address)
    await server.start()
    stack.push_async_callback(server.stop, _GRACE_SECONDS)
    return port
