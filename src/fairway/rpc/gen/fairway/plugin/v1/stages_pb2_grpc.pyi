from collections.abc import AsyncIterator

from grpc import aio

from fairway.rpc.gen.fairway.plugin.v1 import stages_pb2 as pb

class StageServiceStub:
    def __init__(self, channel: aio.Channel) -> None: ...
    Stop: aio.UnaryUnaryMultiCallable[pb.StopRequest, pb.StopResponse]

class StageServiceServicer:
    async def Stop(self, request: pb.StopRequest, context: aio.ServicerContext[pb.StopRequest, pb.StopResponse]) -> pb.StopResponse: ...

def add_StageServiceServicer_to_server(
    servicer: StageServiceServicer, server: aio.Server
) -> None: ...
