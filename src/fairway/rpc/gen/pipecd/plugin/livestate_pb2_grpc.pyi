from collections.abc import AsyncIterator

from grpc import aio

from fairway.rpc.gen.pipecd.plugin import livestate_pb2 as pb

class LivestateServiceStub:
    def __init__(self, channel: aio.Channel) -> None: ...
    GetLivestate: aio.UnaryUnaryMultiCallable[pb.GetLivestateRequest, pb.GetLivestateResponse]

class LivestateServiceServicer:
    async def GetLivestate(self, request: pb.GetLivestateRequest, context: aio.ServicerContext[pb.GetLivestateRequest, pb.GetLivestateResponse]) -> pb.GetLivestateResponse: ...

def add_LivestateServiceServicer_to_server(
    servicer: LivestateServiceServicer, server: aio.Server
) -> None: ...
