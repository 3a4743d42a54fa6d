"""What the agent makes of a server that answers as PipeCD's does, over a real line."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc
import pytest
from grpc import aio

from fairway.agent.control_plane import ControlPlane, ServerAway
from fairway.rpc.agent_api import AgentServicer, messages, register_agent_service
from fairway.rpc.convert.deployment import to_wire_deployment
from tests.unit.model.builders import a_deployment

Listed = messages.ListNotCompletedDeploymentsResponse


class OneGoodPage(AgentServicer):
    """Has one deployment and points to another page, which it cannot give."""

    def __init__(self, code: grpc.StatusCode) -> None:
        self._code = code

    async def ListNotCompletedDeployments(
        self,
        request: messages.ListNotCompletedDeploymentsRequest,
        context: aio.ServicerContext[messages.ListNotCompletedDeploymentsRequest, Listed],
    ) -> Listed:
        if request.cursor:
            await context.abort(self._code, "no such page")
        return Listed(deployments=[to_wire_deployment(a_deployment(id="d-1"))], cursor="more")


@asynccontextmanager
async def asked(servicer: AgentServicer) -> AsyncIterator[ControlPlane]:
    server = aio.server()
    register_agent_service(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    control_plane = ControlPlane(aio.insecure_channel(f"127.0.0.1:{port}"), "p,a,k")
    try:
        yield control_plane
    finally:
        await control_plane.close()
        await server.stop(None)


async def test_a_cursor_that_its_own_server_stumbles_over_ends_the_list() -> None:
    async with asked(OneGoodPage(grpc.StatusCode.INTERNAL)) as server:
        assert [each.id for each in await server.open_deployments()] == ["d-1"]


async def test_a_list_that_breaks_off_is_no_list() -> None:
    async with asked(OneGoodPage(grpc.StatusCode.UNAVAILABLE)) as server:
        with pytest.raises(ServerAway):
            await server.open_deployments()
