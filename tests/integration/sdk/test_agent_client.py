"""A plugin's calls to its agent while that cannot do what it is asked: those of a running stage have no last try."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NoReturn

import grpc
import pytest
from grpc import aio

from fairway.git.retry import Retry
from fairway.rpc.context import CallContext
from fairway.rpc.plugin_api import HostServicer, register_host_service
from fairway.rpc.plugin_api import host_messages as m
from fairway.sdk.agent_client import AgentAway, AgentClient, NotInstalled

#: More often than an agent is asked that is being replaced.
OFTEN = 100


class Agent(HostServicer):
    """An agent whose server is away for that many calls."""

    def __init__(self, away: int) -> None:
        self._away = away
        self.noted: list[dict[str, str]] = []
        self.asked: list[str] = []

    async def _answer(self, context: CallContext) -> None:
        self._away -= 1
        if self._away >= 0:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "the server is away")

    async def PutStageMetadataMulti(
        self, request: m.PutStageMetadataMultiRequest, context: CallContext
    ) -> m.PutStageMetadataMultiResponse:
        await self._answer(context)
        self.noted.append(dict(request.metadata))
        return m.PutStageMetadataMultiResponse()

    async def GetApplicationSharedObject(
        self, _request: m.GetApplicationSharedObjectRequest, context: CallContext
    ) -> m.GetApplicationSharedObjectResponse:
        await self._answer(context)
        return m.GetApplicationSharedObjectResponse(object=b"kept")

    async def InstallTool(self, request: m.InstallToolRequest, context: CallContext) -> NoReturn:
        self.asked.append(request.name)
        await self._answer(context)
        await context.abort(grpc.StatusCode.ABORTED, "nowhere to be had")


@asynccontextmanager
async def a_client(agent: Agent) -> AsyncIterator[AgentClient]:
    """A plugin's line to the agent; it waits for nothing between two tries."""

    async def no_wait(_seconds: float) -> None:
        return None

    server = aio.server()
    register_host_service(agent, server)
    address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    await server.start()
    try:
        async with aio.insecure_channel(address) as channel:
            yield AgentClient("mine", channel, retry=Retry(attempts=30, sleep=no_wait))
    finally:
        await server.stop(None)


async def test_a_running_stage_waits_for_as_long_as_its_agent_has_to() -> None:
    agent = Agent(away=OFTEN)
    async with a_client(agent) as client:
        await client.stage("d-1", "s-1", "a-1").note_stage({"key": "value"})

    assert agent.noted == [{"key": "value"}]


async def test_an_object_that_only_the_server_has_is_waited_for_in_a_stage() -> None:
    async with a_client(Agent(away=OFTEN)) as client:
        assert await client.stage("d-1", "s-1", "a-1").get_object("key") == b"kept"


async def test_whoever_only_looks_at_what_runs_does_not_wait_for_ever() -> None:
    async with a_client(Agent(away=OFTEN)) as client:
        with pytest.raises(AgentAway, match="the server is away"):
            await client.application_object("a-1", "key")


async def test_an_agent_that_is_away_is_asked_for_a_tool_again_but_not_for_ever() -> None:
    async with a_client(Agent(away=OFTEN)) as client:
        with pytest.raises(AgentAway, match="the server is away"):
            await client.stage("d-1", "s-1", "a-1").install_tool("helm", "3.0.0", "true")


async def test_a_tool_that_an_agent_could_not_install_is_told_at_once_and_worth_another_try() -> None:
    agent = Agent(away=2)
    async with a_client(agent) as client:
        with pytest.raises(NotInstalled, match=r"^nowhere to be had$") as refused:
            await client.stage("d-1", "s-1", "a-1").install_tool("helm", "3.0.0", "true")

    assert refused.value.retry
    assert len(agent.asked) == 3
