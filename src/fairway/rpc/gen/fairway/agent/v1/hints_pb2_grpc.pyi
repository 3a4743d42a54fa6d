from collections.abc import AsyncIterator

from grpc import aio

from fairway.rpc.gen.fairway.agent.v1 import hints_pb2 as pb

class HintServiceStub:
    def __init__(self, channel: aio.Channel) -> None: ...
    Watch: aio.UnaryStreamMultiCallable[pb.WatchRequest, pb.Hint]

class HintServiceServicer:
    def Watch(self, request: pb.WatchRequest, context: aio.ServicerContext[pb.WatchRequest, pb.Hint]) -> AsyncIterator[pb.Hint]: ...

def add_HintServiceServicer_to_server(
    servicer: HintServiceServicer, server: aio.Server
) -> None: ...
