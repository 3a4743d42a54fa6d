"""Calls that come while the server is busy wait for it, however many agents call at once."""

import asyncio
import threading
from collections import Counter
from typing import Any

import grpc
from grpc import aio

from fairway.rpc.channel import SERVER_OPTIONS
from tests.patience import PATIENCE_SECONDS

CALLS = 2_500


async def test_calls_that_come_while_the_server_is_busy_are_all_answered() -> None:
    asked, busy = threading.Event(), threading.Event()

    async def answer(request: bytes, _: object) -> bytes:
        if request == b"be busy":
            busy.set()
            # In the event loop's own thread: nobody is answered until all have asked, and a little longer.
            asked.wait(PATIENCE_SECONDS)
            threading.Event().wait(1)
        return b"answer"

    server = aio.server(options=SERVER_OPTIONS)
    handlers: dict[str, grpc.RpcMethodHandler[Any, Any]] = {"Ask": grpc.unary_unary_rpc_method_handler(answer)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("test.Busy", handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()

    ends = await asyncio.to_thread(ask_all, port, busy, asked)
    await server.stop(None)

    assert ends == {grpc.StatusCode.OK: CALLS + 1}


def ask_all(port: int, busy: threading.Event, asked: threading.Event) -> Counter[grpc.StatusCode]:
    """From a thread of its own, because the event loop is busy."""
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        ask: Any = channel.unary_unary("/test.Busy/Ask")
        first = ask.future(b"be busy")
        assert busy.wait(PATIENCE_SECONDS)
        calls = [first, *(ask.future(b"question") for _ in range(CALLS))]
        asked.set()
        return Counter(call.code() for call in calls)
