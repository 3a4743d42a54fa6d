"""A server, or something in front of it, that answers with bytes that mean nothing: it counts as away."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import pytest
from grpc import aio

from fairway.agent.control_plane import ControlPlane, ServerAway
from fairway.agent.reports import deploying
from fairway.rpc.agent_api import lease_messages
from tests.integration.agent.test_control_plane import calling
from tests.patience import PATIENCE_SECONDS


class Garbled(grpc.GenericRpcHandler):
    """Answers everything, and nothing of it can be read."""

    def service(self, _details: Any) -> Any:
        async def answer(_request: bytes, _context: Any) -> bytes:
            return b"\xff\xff\xff"

        return grpc.unary_unary_rpc_method_handler(answer)


@asynccontextmanager
async def a_garbled_server() -> AsyncIterator[ControlPlane]:
    server = aio.server()
    server.add_generic_rpc_handlers((Garbled(),))
    async with calling(server) as control_plane:
        yield control_plane


async def test_whoever_asks_asks_again() -> None:
    async with a_garbled_server() as server:
        with pytest.raises(ServerAway, match="the answer to ListUnhandledCommands"):
            await server.waiting_commands()
        with pytest.raises(ServerAway, match="the answer to Hold"):
            await server.hold(lease_messages.HoldRequest(holder="one"), PATIENCE_SECONDS)


async def test_a_report_does_not_count_as_told() -> None:
    async with a_garbled_server() as server:
        with pytest.raises(ServerAway, match="the answer to ReportApplicationDeployingStatus"):
            await server.send(deploying("a-1", False))
