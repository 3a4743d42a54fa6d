"""An agent whose call is refused because another one is at work; and one whose server knows no leases."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import grpc
from grpc import aio

from fairway.agent.control_plane import ControlPlane
from fairway.agent.lease import LeaseState
from fairway.agent.status import NoStatus, read_state
from fairway.rpc.agent_api import FENCING_METADATA, AgentServicer, messages, register_agent_service
from fairway.rpc.channel import CHANNEL_OPTIONS, SERVER_OPTIONS
from fairway.rpc.context import CallContext
from tests.integration.agent.running import a_world, an_agent_at_work, until
from tests.integration.git.repositories import an_origin


class Replacing(AgentServicer):
    """A server for which another agent is at work."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    async def ListApplications(
        self, request: messages.ListApplicationsRequest, context: CallContext
    ) -> messages.ListApplicationsResponse:
        self.shown += [str(value) for name, value in context.invocation_metadata() or () if name == FENCING_METADATA]
        await context.abort(grpc.StatusCode.FAILED_PRECONDITION, "host b is at work", ((FENCING_METADATA, "stale"),))


@asynccontextmanager
async def connected(servicer: AgentServicer) -> AsyncIterator[ControlPlane]:
    server = aio.server(options=SERVER_OPTIONS)
    register_agent_service(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with aio.insecure_channel(f"127.0.0.1:{port}", options=CHANNEL_OPTIONS) as channel:
        yield ControlPlane(channel, "shop,agent-1,key")
    await server.stop(None)


async def test_a_call_with_a_stale_token_is_told_and_never_goes_on() -> None:
    servicer, told = Replacing(), asyncio.Queue[str]()
    async with connected(servicer) as plane:
        plane.show(3)
        plane.replaced = told.put
        calling = asyncio.create_task(plane.applications())

        assert await told.get() == "host b is at work"
        await asyncio.sleep(0)
        assert not calling.done()
        calling.cancel()

    assert servicer.shown == ["3"]


async def test_against_a_server_without_leases_an_agent_is_at_work_and_its_status_says_why(tmp_path: Path) -> None:
    async with a_world(tmp_path, an_origin(tmp_path, {"x": "y"})) as world, an_agent_at_work(world):

        async def look() -> LeaseState | None:
            with suppress(NoStatus):
                found = read_state(world.data).lease
                return found if found.role == "active" else None
            return None

        found = await until(look)

    assert found == LeaseState("active", "this server gives no leases; see that no other agent has the same id")
