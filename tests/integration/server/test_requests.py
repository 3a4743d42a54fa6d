"""Requests at a real gRPC server: read from those who are known, where there is room, and in time."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import grpc
import msgspec
from grpc import aio

from fairway.rpc.channel import CHANNEL_OPTIONS, SERVER_OPTIONS
from fairway.rpc.context import CallContext
from fairway.server.requests import LIMITS, BoundRequests
from fairway.server.room import Limits, Room
from fairway.server.status_codes import BadCredentials
from tests.acceptance.server import raw
from tests.patience import PATIENCE_SECONDS

LARGE = b"x" * 9_000_000
#: For tests that are not about time, on a machine that does much else.
PATIENT = msgspec.structs.replace(LIMITS, patience_seconds=PATIENCE_SECONDS, slow_seconds=PATIENCE_SECONDS)


class Site(msgspec.Struct):
    """A server with three methods, and what reached them."""

    room: Room
    address: str
    channel: aio.Channel
    #: How long each request was that came in.
    lengths: list[int]
    #: Set while calls may end.
    may_end: asyncio.Event

    async def code(self, method: str, request: bytes, caller: str = "somebody") -> str:
        """The name of the status with which a call ends."""
        call: aio.UnaryUnaryMultiCallable[bytes, bytes] = self.channel.unary_unary(f"/a.Service/{method}")
        return (await call(request, metadata=(("authorization", caller),)).code()).name


@asynccontextmanager
async def a_site(limits: Limits = PATIENT) -> AsyncIterator[Site]:
    room, lengths, may_end = Room(limits), [], asyncio.Event()
    may_end.set()

    async def take(request: bytes, _: CallContext) -> bytes:
        lengths.append(len(request))
        await may_end.wait()
        return b"taken"

    async def listen(request: bytes, _: CallContext) -> AsyncIterator[bytes]:
        lengths.append(len(request))
        yield b"first"
        yield b"second"

    handlers: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
        "Take": grpc.unary_unary_rpc_method_handler(take),
        "Listen": grpc.unary_stream_rpc_method_handler(listen),
    }
    server = aio.server(options=SERVER_OPTIONS, interceptors=[BoundRequests(room, {"a.Service": identify})])
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("a.Service", handlers)])
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with aio.insecure_channel(f"127.0.0.1:{port}", options=CHANNEL_OPTIONS) as channel:
        yield Site(room, f"127.0.0.1:{port}", channel, lengths, may_end)
    await server.stop(None)


async def identify(context: CallContext) -> str:
    caller = dict(context.invocation_metadata() or ())["authorization"]
    if caller == "stranger":
        raise BadCredentials("nobody we know")
    return str(caller)


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not condition():  # noqa: ASYNC110  # what the server did shows only by looking
            await asyncio.sleep(0.01)


async def test_a_request_is_read_and_gone_when_it_was_answered() -> None:
    async with a_site() as site:
        codes = [await site.code("Take", request) for request in (b"", b"small", LARGE)]

        assert codes == ["OK"] * 3
        assert site.lengths == [0, 5, len(LARGE)]
        assert (site.room.held, site.room.callers) == (0, 0)


async def test_of_a_stranger_nothing_is_read() -> None:
    async with a_site() as site:
        stranger = raw.UnreadCalls(site.address)
        # Of these 16 MB no more than fits into a window is on its way; it is refused all the same.
        stranger.begin("/a.Service/Take", "stranger", 16_000_000, b"x" * 1_000)

        assert await asyncio.to_thread(stranger.status) == "16"
        assert await site.code("Take", LARGE, "stranger") == "UNAUTHENTICATED"
        assert site.lengths == []
        stranger.close()


async def test_a_stream_has_its_request_and_keeps_no_place() -> None:
    async with a_site() as site:
        listen: aio.UnaryStreamMultiCallable[bytes, bytes] = site.channel.unary_stream("/a.Service/Listen")
        stream = listen(b"topic", metadata=(("authorization", "somebody"),))

        first = await stream.read()
        callers = site.room.callers
        second = await stream.read()

    assert (first, second, callers, site.lengths) == (b"first", b"second", 0, [5])


async def test_the_request_of_a_stream_is_short() -> None:
    async with a_site() as site:
        listen: aio.UnaryStreamMultiCallable[bytes, bytes] = site.channel.unary_stream("/a.Service/Listen")
        stream = listen(b"x" * 100_000, metadata=(("authorization", "somebody"),))

        assert (await stream.code()).name == "INVALID_ARGUMENT"
        assert site.lengths == []


async def test_a_call_that_ends_without_a_request_is_the_callers_mistake() -> None:
    async with a_site() as site:
        call: aio.StreamUnaryMultiCallable[bytes, bytes] = site.channel.stream_unary("/a.Service/Take")
        asking = call(metadata=(("authorization", "somebody"),))
        await asking.done_writing()

        assert (await asking.code()).name == "INVALID_ARGUMENT"
        # The caller may know before the server has cleared up.
        await until(lambda: site.room.callers == 0)


async def test_large_requests_of_one_caller_are_read_a_few_at_a_time_and_others_go_by() -> None:
    async with a_site() as site:
        site.may_end.clear()
        greedy = [asyncio.create_task(site.code("Take", LARGE, "greedy")) for _ in range(8)]
        await until(lambda: site.lengths)
        modest = asyncio.create_task(site.code("Take", b"small", "modest"))
        await until(lambda: 5 in site.lengths)
        under_way = site.lengths.count(len(LARGE))
        site.may_end.set()

        assert await asyncio.gather(modest, *greedy) == ["OK"] * 9
        assert under_way <= LIMITS.unsized
        assert site.lengths.count(len(LARGE)) == 8


async def test_who_does_not_send_the_request_in_time_is_told_so() -> None:
    async with a_site(msgspec.structs.replace(PATIENT, slow_seconds=0.0)) as site:
        slow = raw.UnreadCalls(site.address)
        slow.begin("/a.Service/Take", "slow", 9_000_000, b"x" * 1_000)

        assert await asyncio.to_thread(slow.status) == "14"
        await until(lambda: site.room.callers == 0)
        slow.close()


async def test_callers_who_never_finish_keep_out_nobody() -> None:
    async with a_site(msgspec.structs.replace(PATIENT, slow_seconds=3600.0, hurried_seconds=0.0)) as site:
        slow = raw.UnreadCalls(site.address)
        for number in range(LIMITS.unsized_of_all):
            slow.begin("/a.Service/Take", f"slow {number}", 9_000_000, b"x" * 1_000)
        await until(lambda: site.room.callers == LIMITS.unsized_of_all)

        assert await site.code("Take", b"small", "modest") == "OK"
        slow.close()


async def test_who_leaves_while_sending_leaves_the_place() -> None:
    async with a_site(msgspec.structs.replace(PATIENT, slow_seconds=3600.0)) as site:
        gone = raw.UnreadCalls(site.address)
        gone.begin("/a.Service/Take", "gone", 9_000_000, b"x" * 1_000)
        await until(lambda: site.room.callers == 1)

        gone.close()

        await until(lambda: site.room.callers == 0)
