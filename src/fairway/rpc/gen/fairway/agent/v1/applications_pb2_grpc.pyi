from collections.abc import AsyncIterator

from grpc import aio

from fairway.rpc.gen.fairway.agent.v1 import applications_pb2 as pb

class ApplicationServiceStub:
    def __init__(self, channel: aio.Channel) -> None: ...
    Find: aio.UnaryUnaryMultiCallable[pb.FindRequest, pb.FindAnswer]
    ReportUnusableFiles: aio.UnaryUnaryMultiCallable[pb.ReportUnusableFilesRequest, pb.ReportUnusableFilesAnswer]

class ApplicationServiceServicer:
    async def Find(self, request: pb.FindRequest, context: aio.ServicerContext[pb.FindRequest, pb.FindAnswer]) -> pb.FindAnswer: ...
    async def ReportUnusableFiles(self, request: pb.ReportUnusableFilesRequest, context: aio.ServicerContext[pb.ReportUnusableFilesRequest, pb.ReportUnusableFilesAnswer]) -> pb.ReportUnusableFilesAnswer: ...

def add_ApplicationServiceServicer_to_server(
    servicer: ApplicationServiceServicer, server: aio.Server
) -> None: ...
