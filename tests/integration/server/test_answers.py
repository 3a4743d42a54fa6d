"""Answers at a real gRPC server that nobody takes: whoever else asks is answered all the same."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import grpc
import pytest
from google.protobuf.wrappers_pb2 import BytesValue
from grpc import aio

from fairway.rpc.channel import SERVER_OPTIONS
from fairway.rpc.context import CallContext
from fairway.server.answers import BoundAnswers
from fairway.server.room import Limits, Room
from fairway.server.single_port import single_port
from tests.acceptance.server import raw
from tests.integration.server.test_requests import until
from tests.patience import PATIENCE_SECONDS

#: Room for the answers of three callers.
LIMITS = Limits(
    each=300_000,
    crowded=600_000,
    everybody=900_000,
    unsized=8,
    unsized_of_all=32,
    patience_seconds=PATIENCE_SECONDS,
    untaken_seconds=0.0,
)
LARGE = b"x" * 100_000


@asynccontextmanager
async def a_site(room: Room, one_port: bool) -> AsyncIterator[str]:
    """The address of a server with one method, whose answer is large."""

    async def answer(_request: bytes, _context: CallContext) -> BytesValue:
        return BytesValue(value=LARGE)

    encode = BytesValue.SerializeToString
    handlers: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
        "List": grpc.unary_unary_rpc_method_handler(answer, response_serializer=encode)
    }
    server = aio.server(options=SERVER_OPTIONS, interceptors=[BoundAnswers(room)])
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("a.Service", handlers)])
    async with AsyncExitStack() as stack:
        if one_port:
            door, _ = await stack.enter_async_context(single_port("127.0.0.1:0"))
            server.add_insecure_port(f"unix:{door.grpc_socket}")
            await server.start()
            await door.start(None)
            yield f"127.0.0.1:{door.port}"
        else:
            port = server.add_insecure_port("127.0.0.1:0")
            await server.start()
            yield f"127.0.0.1:{port}"
        await server.stop(None)


@pytest.mark.parametrize("one_port", [pytest.param(False, id="two ports"), pytest.param(True, id="one port")])
async def test_callers_who_take_no_answer_keep_nobody_from_theirs(one_port: bool) -> None:
    room = Room(LIMITS)
    async with a_site(room, one_port) as address:
        deaf = [raw.UnreadCalls(address) for _ in range(3)]
        for number, caller in enumerate(deaf):
            caller.call("/a.Service/List", b"", f"deaf {number}")
        await until(lambda: room.held >= LIMITS.everybody)

        async with aio.insecure_channel(address) as channel:
            call: aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary("/a.Service/List")
            answer = await call(b"", metadata=(("authorization", "modest"),))

        assert BytesValue.FromString(answer).value == LARGE
        for caller in deaf:
            caller.close()
        await until(lambda: (room.held, room.callers) == (0, 0))
