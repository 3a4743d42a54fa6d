from collections.abc import AsyncIterator

from grpc import aio

from fairway.rpc.gen.fairway.plugin.v1 import live_states_pb2 as pb

class LiveStateHintServiceStub:
    def __init__(self, channel: aio.Channel) -> None: ...
    LiveStateChanged: aio.UnaryUnaryMultiCallable[pb.LiveStateChangedRequest, pb.LiveStateChangedResponse]

class LiveStateHintServiceServicer:
    async def LiveStateChanged(self, request: pb.LiveStateChangedRequest, context: aio.ServicerContext[pb.LiveStateChangedRequest, pb.LiveStateChangedResponse]) -> pb.LiveStateChangedResponse: ...

def add_LiveStateHintServiceServicer_to_server(
    servicer: LiveStateHintServiceServicer, server: aio.Server
) -> None: ...
