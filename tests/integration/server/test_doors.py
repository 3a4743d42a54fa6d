"""Both ways to open the ports, with real clients, and what a stopping server still answers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import httpx
import pytest
from grpc import aio
from litestar import Litestar, get

from fairway.rpc.channel import SERVER_OPTIONS
from fairway.server.doors import AddressInUse, Doors, Ports, open_doors, unready_when
from tests.patience import PATIENCE_SECONDS

ONE_OR_TWO = pytest.mark.parametrize("single", [pytest.param(False, id="two ports"), pytest.param(True, id="one port")])


class Slow:
    """A call and a request that are answered when the test says so."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.go_on = asyncio.Event()

    async def work(self) -> str:
        self.begun.set()
        await self.go_on.wait()
        return "done"

    async def call(self, _request: bytes, _context: object) -> bytes:
        return (await self.work()).encode()


@asynccontextmanager
async def opened(single: bool, slow: Slow, stopping: asyncio.Event) -> AsyncIterator[Ports]:
    @get("/slow")
    async def slowly() -> str:
        return await slow.work()

    @get("/readyz")
    async def readyz() -> str:
        return "ok"

    server = aio.server(options=SERVER_OPTIONS)
    methods: dict[str, Any] = {"Slow": grpc.unary_unary_rpc_method_handler(slow.call)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("test", methods),))
    web = unready_when(stopping, Litestar([slowly, readyz], logging_config=None))
    doors = Doors(listen="127.0.0.1:0", http_listen="127.0.0.1:0", single_port=single)
    async with open_doors(doors, server, web) as ports:
        yield ports


@ONE_OR_TWO
async def test_what_is_under_way_is_finished_when_the_doors_close(single: bool) -> None:
    slow = Slow()
    async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE_SECONDS) as client:
        async with opened(single, slow, asyncio.Event()) as ports:
            channel = aio.insecure_channel(f"127.0.0.1:{ports.grpc}")
            call: aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary("/test/Slow")
            called = asyncio.ensure_future(call(b""))
            await slow.begun.wait()
            slow.begun.clear()
            asked = asyncio.create_task(client.get(f"http://127.0.0.1:{ports.http}/slow"))
            await slow.begun.wait()
            # By then the doors are closing.
            asyncio.get_running_loop().call_later(0.05, slow.go_on.set)

        assert (await called, (await asked).text) == (b"done", "done")
        await channel.close()


@ONE_OR_TWO
async def test_a_stopping_server_says_so_to_who_asks_whether_it_is_ready(single: bool) -> None:
    stopping = asyncio.Event()
    async with (
        opened(single, Slow(), stopping) as ports,
        httpx.AsyncClient(trust_env=False, timeout=PATIENCE_SECONDS) as client,
    ):
        before = await client.get(f"http://127.0.0.1:{ports.http}/readyz")
        stopping.set()
        after = await client.get(f"http://127.0.0.1:{ports.http}/readyz")

    assert (before.status_code, before.text) == (200, "ok")
    assert (after.status_code, after.json()) == (
        503,
        {"error": {"code": "unavailable", "message": "the server is stopping; ask another one"}},
    )


async def test_one_port_is_one_port() -> None:
    async with opened(True, Slow(), asyncio.Event()) as ports:
        assert ports.grpc == ports.http


async def test_a_port_in_use_is_named() -> None:
    async with opened(False, Slow(), asyncio.Event()) as ports:
        doors = Doors(listen=f"127.0.0.1:{ports.grpc}", http_listen="127.0.0.1:0")
        server = aio.server(options=SERVER_OPTIONS)

        with pytest.raises(AddressInUse, match=f"cannot listen on 127.0.0.1:{ports.grpc}: it is in use"):
            async with open_doors(doors, server, Litestar([], logging_config=None)):
                pass
