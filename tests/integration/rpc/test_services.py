"""Our services on a real server on loopback: both paths, message sizes, and what is not served."""

from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager

import grpc
import pytest
from grpc import aio

from fairway.rpc import agent_api, channel, plugin_api, user_api
from fairway.rpc.agent_api import hint_messages, messages
from fairway.rpc.context import CallContext
from tests.patience import PATIENCE_SECONDS

EncryptRequest = user_api.messages.EncryptRequest
ExecuteStageRequest = plugin_api.deployment_messages.ExecuteStageRequest
GetLivestateRequest = plugin_api.live_state_messages.GetLivestateRequest
GetPlanPreviewRequest = plugin_api.plan_preview_messages.GetPlanPreviewRequest
InstallToolRequest = plugin_api.host_messages.InstallToolRequest

CURRENT = "/grpc.service.pipedservice.PipedService/ReportPipedMeta"
LEGACY = "/pipe.api.service.pipedservice.PipedService/ReportPipedMeta"


class Agents(agent_api.AgentServicer):
    """Answers with what it was told, so that a test sees its own request come back."""

    async def ReportPipedMeta(
        self,
        request: messages.ReportPipedMetaRequest,
        context: CallContext,
    ) -> messages.ReportPipedMetaResponse:
        return messages.ReportPipedMetaResponse(name=request.version, web_base_url=request.config)


class Hints(agent_api.HintServicer):
    """Two hints that continue from the token."""

    async def Watch(
        self,
        request: hint_messages.WatchRequest,
        context: CallContext,
    ) -> AsyncIterator[hint_messages.Hint]:
        for number in (1, 2):
            yield hint_messages.Hint(token=f"{request.resume_token}{number}")


@asynccontextmanager
async def a_channel() -> AsyncIterator[aio.Channel]:
    """A channel to a server with the two servicers above, both with the shipped options."""
    server = aio.server(options=channel.SERVER_OPTIONS)
    agent_api.register_agent_service(Agents(), server)
    agent_api.register_hint_service(Hints(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with aio.insecure_channel(f"127.0.0.1:{port}", options=channel.CHANNEL_OPTIONS) as to_server:
            yield to_server
    finally:
        await server.stop(grace=None)


async def call(to_server: aio.Channel, path: str) -> messages.ReportPipedMetaResponse:
    method = to_server.unary_unary(
        path,
        request_serializer=messages.ReportPipedMetaRequest.SerializeToString,
        response_deserializer=messages.ReportPipedMetaResponse.FromString,
    )
    return await method(messages.ReportPipedMetaRequest(version="v1"), timeout=PATIENCE_SECONDS)


async def code_of(call: Awaitable[object]) -> grpc.StatusCode:
    try:
        await call
    except aio.AioRpcError as error:
        return error.code()
    return grpc.StatusCode.OK


async def test_the_legacy_path_gives_the_same_answer() -> None:
    async with a_channel() as to_server:
        answers = [await call(to_server, path) for path in (CURRENT, LEGACY)]

    assert answers == [messages.ReportPipedMetaResponse(name="v1")] * 2


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("/pipe.api.service.pipedservice.PipedService/Nothing", id="unknown method, legacy name"),
        pytest.param("/grpc.service.pipedservice.PipedService/Nothing", id="unknown method"),
        pytest.param("/grpc.service.pipedservice.PipedService/ListApplications", id="method not overridden"),
        pytest.param("/pipe.api.service.apiservice.APIService/GetCommand", id="service not registered"),
    ],
)
async def test_what_is_not_served_is_unimplemented(path: str) -> None:
    async with a_channel() as to_server:
        code = await code_of(call(to_server, path))

    assert code is grpc.StatusCode.UNIMPLEMENTED


async def test_a_message_above_grpcs_own_limit_passes() -> None:
    request = messages.ReportPipedMetaRequest(version="v1", config="x" * (channel.MAX_MESSAGE_BYTES - 1000))
    async with a_channel() as to_server:
        answer = await agent_api.AgentStub(to_server).ReportPipedMeta(request, timeout=PATIENCE_SECONDS)

    assert len(answer.web_base_url) == len(request.config)


async def test_a_message_above_our_limit_is_refused() -> None:
    request = messages.ReportPipedMetaRequest(version="v1", config="x" * channel.MAX_MESSAGE_BYTES)
    async with a_channel() as to_server:
        code = await code_of(agent_api.AgentStub(to_server).ReportPipedMeta(request, timeout=PATIENCE_SECONDS))

    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED


async def test_hints_stream_from_the_token_on() -> None:
    async with a_channel() as to_server:
        stream = agent_api.HintStub(to_server).Watch(
            hint_messages.WatchRequest(resume_token="7."), timeout=PATIENCE_SECONDS
        )
        hints = [hint async for hint in stream]

    assert hints == [hint_messages.Hint(token="7.1"), hint_messages.Hint(token="7.2")]


async def test_a_second_server_on_the_same_port_does_not_start() -> None:
    first = aio.server(options=channel.SERVER_OPTIONS)
    port = first.add_insecure_port("127.0.0.1:0")
    second = aio.server(options=channel.SERVER_OPTIONS)

    with pytest.raises(RuntimeError, match="Failed to bind"):
        second.add_insecure_port(f"127.0.0.1:{port}")


async def test_a_service_whose_methods_are_not_written_is_unimplemented() -> None:
    server = aio.server(options=channel.SERVER_OPTIONS)
    user_api.register_user_service(user_api.UserServicer(), server)
    plugin_api.register_deployment_service(plugin_api.DeploymentServicer(), server)
    plugin_api.register_live_state_service(plugin_api.LiveStateServicer(), server)
    plugin_api.register_plan_preview_service(plugin_api.PlanPreviewServicer(), server)
    plugin_api.register_host_service(plugin_api.HostServicer(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()

    async with aio.insecure_channel(f"127.0.0.1:{port}") as to_server:
        codes = [
            await code_of(user_api.UserStub(to_server).Encrypt(EncryptRequest(), timeout=PATIENCE_SECONDS)),
            await code_of(
                plugin_api.DeploymentStub(to_server).ExecuteStage(ExecuteStageRequest(), timeout=PATIENCE_SECONDS)
            ),
            await code_of(
                plugin_api.LiveStateStub(to_server).GetLivestate(GetLivestateRequest(), timeout=PATIENCE_SECONDS)
            ),
            await code_of(
                plugin_api.PlanPreviewStub(to_server).GetPlanPreview(GetPlanPreviewRequest(), timeout=PATIENCE_SECONDS)
            ),
            await code_of(plugin_api.HostStub(to_server).InstallTool(InstallToolRequest(), timeout=PATIENCE_SECONDS)),
        ]
    await server.stop(grace=None)

    assert codes == [grpc.StatusCode.UNIMPLEMENTED] * 5


@pytest.mark.parametrize(
    "path",
    [CURRENT, LEGACY, "/fairway.agent.v1.HintService/Watch"],
    ids=["a call", "under the older path", "a stream"],
)
async def test_bytes_that_are_no_message_are_the_callers_mistake(path: str) -> None:
    async with a_channel() as to_server:
        call: aio.UnaryStreamMultiCallable[bytes, bytes] = to_server.unary_stream(path)
        with pytest.raises(aio.AioRpcError) as refusal:
            async for _ in call(b"\xff\xff\xff"):
                pass

    assert refusal.value.code() is grpc.StatusCode.INVALID_ARGUMENT
