"""Hints over a real gRPC server on loopback."""

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import grpc
import pytest
from grpc import aio

from fairway.rpc.agent_api import HintStub, hint_messages, register_hint_service
from fairway.rpc.channel import CHANNEL_OPTIONS, SERVER_OPTIONS
from fairway.rpc.context import CallContext
from fairway.server.hint_service import HintService
from fairway.server.hints import Hint, HintBoard, HintTopic

Stream = aio.UnaryStreamCall[hint_messages.WatchRequest, hint_messages.Hint]

ANYTHING, COMMANDS, DEPLOYMENTS, APPLICATIONS, REPOSITORY, LEASE = hint_messages.Hint.Subject.values()


class Doorkeeper:
    """Believes what the header says, unless the agent was shown the door."""

    def __init__(self) -> None:
        self.refused: set[str] = set()

    async def authenticate(self, context: CallContext) -> str:
        agent_id = dict(context.invocation_metadata() or ()).get("authorization", "")
        if not agent_id or agent_id in self.refused:
            await context.abort(grpc.StatusCode.UNAUTHENTICATED, "who are you?")
        return str(agent_id)


class ObservedBoard(HintBoard):
    """Tells when a watch has ended."""

    def __init__(self) -> None:
        super().__init__()
        self.ended = asyncio.Event()

    async def watch(self, agent_id: str, resume_token: str = "") -> AsyncGenerator[Hint]:
        try:
            async with aclosing(super().watch(agent_id, resume_token)) as hints:
                async for hint in hints:
                    yield hint
        finally:
            self.ended.set()


class Served:
    """A board behind a server, and the means to watch it as an agent."""

    def __init__(self, board: ObservedBoard, doorkeeper: Doorkeeper, stub: HintStub) -> None:
        self.board = board
        self.doorkeeper = doorkeeper
        self._stub = stub

    def watch(self, agent_id: str, token: str = "") -> Stream:
        request = hint_messages.WatchRequest(resume_token=token)
        return self._stub.Watch(request, metadata=(("authorization", agent_id),))


@asynccontextmanager
async def served() -> AsyncIterator[Served]:
    board, doorkeeper = ObservedBoard(), Doorkeeper()
    server = aio.server(options=SERVER_OPTIONS)
    register_hint_service(HintService(board, doorkeeper.authenticate), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with aio.insecure_channel(f"127.0.0.1:{port}", options=CHANNEL_OPTIONS) as channel:
            yield Served(board, doorkeeper, HintStub(channel))
    finally:
        await server.stop(grace=None)


async def subjects(stream: Stream, count: int) -> list[int]:
    return [(await next_hint(stream)).subject for _ in range(count)]


def memory_bytes() -> int:
    """How much of this process is in memory now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def next_hint(stream: Stream) -> hint_messages.Hint:
    hint = await stream.read()
    assert isinstance(hint, hint_messages.Hint), "the stream has ended"
    return hint


async def test_a_first_watch_hears_of_anything_and_then_of_each_topic() -> None:
    async with served() as server:
        stream = server.watch("agent")
        assert await subjects(stream, 1) == [ANYTHING]

        for topic in HintTopic:
            server.board.publish("agent", topic)
            server.board.publish("other", topic)

        assert await subjects(stream, 6) == [ANYTHING, COMMANDS, DEPLOYMENTS, APPLICATIONS, REPOSITORY, LEASE]


async def test_an_agent_that_comes_back_with_its_token_hears_what_it_missed_once() -> None:
    async with served() as server:
        stream = server.watch("agent")
        token = (await next_hint(stream)).token
        stream.cancel()
        for topic in [HintTopic.COMMANDS, HintTopic.DEPLOYMENTS, HintTopic.COMMANDS]:
            server.board.publish("agent", topic)

        again = server.watch("agent", token)

        assert await subjects(again, 2) == [DEPLOYMENTS, COMMANDS]


async def test_a_token_of_another_server_hears_of_anything() -> None:
    async with served() as one, served() as other:
        token = (await next_hint(one.watch("agent"))).token

        assert await subjects(other.watch("agent", token), 1) == [ANYTHING]


async def test_an_agent_that_hangs_up_is_forgotten() -> None:
    async with served() as server:
        stream = server.watch("agent")
        await next_hint(stream)
        assert server.board.watcher_count == 1

        stream.cancel()
        await server.board.ended.wait()

        assert server.board.watcher_count == 0


async def test_a_stopping_server_ends_the_streams_without_an_error() -> None:
    async with served() as server:
        stream = server.watch("agent")
        await next_hint(stream)

        server.board.close()

        assert await stream.read() is aio.EOF
        assert await stream.code() is grpc.StatusCode.OK


async def test_a_stranger_hears_nothing() -> None:
    async with served() as server:
        with pytest.raises(aio.AioRpcError) as raised:
            await server.watch("").read()

    assert raised.value.code() is grpc.StatusCode.UNAUTHENTICATED


async def test_an_agent_whose_key_was_withdrawn_hears_nothing_more() -> None:
    async with served() as server:
        stream = server.watch("agent")
        await next_hint(stream)

        server.doorkeeper.refused.add("agent")
        server.board.publish("agent", HintTopic.COMMANDS)

        with pytest.raises(aio.AioRpcError) as raised:
            await stream.read()
        assert raised.value.code() is grpc.StatusCode.UNAUTHENTICATED


async def test_an_agent_that_does_not_read_holds_up_nobody() -> None:
    async with served() as server:
        deaf, stream = server.watch("agent"), server.watch("agent")
        await next_hint(stream)
        await deaf.initial_metadata()

        # More than fits into the window of a stream that nobody reads.
        for _ in range(5_000):
            server.board.publish("agent", HintTopic.COMMANDS)
            assert await subjects(stream, 1) == [COMMANDS]

        deaf.cancel()


async def test_a_thousand_streams_are_open_at_once_in_little_memory() -> None:
    async with served() as server:
        await next_hint(server.watch("first"))
        before = memory_bytes()
        streams = [server.watch(f"agent-{number}") for number in range(1000)]
        assert await asyncio.gather(*(subjects(stream, 1) for stream in streams)) == [[ANYTHING]] * 1000

        for _ in range(100):
            for number in range(1000):
                server.board.publish(f"agent-{number}", HintTopic.COMMANDS)

        assert await asyncio.gather(*(subjects(stream, 1) for stream in streams)) == [[COMMANDS]] * 1000
        # Both ends of each stream are in this process.
        assert memory_bytes() - before < 150_000_000
