"""What the agent says of a plugin that answers with an error, and of one that does not answer."""

import grpc
import pytest
from grpc import aio

from fairway.agent.plugins.client import PluginClient, PluginGone, PluginRefused
from fairway.errors import FairwayError


class Answering(grpc.GenericRpcHandler):
    """Answers every call with one status."""

    def __init__(self, code: grpc.StatusCode) -> None:
        self._code = code

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> "grpc.RpcMethodHandler[bytes, bytes]":
        async def answer(_: bytes, context: "aio.ServicerContext[bytes, bytes]") -> bytes:
            await context.abort(self._code, "the cluster is unreachable")

        return grpc.unary_unary_rpc_method_handler(answer)


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        (grpc.StatusCode.UNAVAILABLE, PluginGone, "plugin p failed FetchDefinedStages: the cluster is unreachable"),
        (
            grpc.StatusCode.FAILED_PRECONDITION,
            PluginRefused,
            "plugin p refused FetchDefinedStages (FAILED_PRECONDITION): the cluster is unreachable",
        ),
    ],
)
async def test_an_error_that_a_plugin_answers_is_not_called_silence(
    code: grpc.StatusCode, kind: type[FairwayError], words: str
) -> None:
    server = aio.server()
    server.add_generic_rpc_handlers((Answering(code),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        async with aio.insecure_channel(f"127.0.0.1:{port}") as channel:
            with pytest.raises(kind) as raised:
                await PluginClient("p", channel).defined_stages()
    finally:
        await server.stop(None)

    assert str(raised.value) == words
