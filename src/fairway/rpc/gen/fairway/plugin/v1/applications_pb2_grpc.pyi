from collections.abc import AsyncIterator

from grpc import aio

from fairway.rpc.gen.fairway.plugin.v1 import applications_pb2 as pb

class ApplicationServiceStub:
    def __init__(self, channel: aio.Channel) -> None: ...
    FindApplication: aio.UnaryUnaryMultiCallable[pb.FindApplicationRequest, pb.FindApplicationResponse]

class ApplicationServiceServicer:
    async def FindApplication(self, request: pb.FindApplicationRequest, context: aio.ServicerContext[pb.FindApplicationRequest, pb.FindApplicationResponse]) -> pb.FindApplicationResponse: ...

def add_ApplicationServiceServicer_to_server(
    servicer: ApplicationServiceServicer, server: aio.Server
) -> None: ...
