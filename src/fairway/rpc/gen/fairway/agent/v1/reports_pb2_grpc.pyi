from collections.abc import AsyncIterator

from grpc import aio

from fairway.rpc.gen.fairway.agent.v1 import reports_pb2 as pb

class ReportServiceStub:
    def __init__(self, channel: aio.Channel) -> None: ...
    Report: aio.UnaryUnaryMultiCallable[pb.ReportRequest, pb.ReportAnswer]

class ReportServiceServicer:
    async def Report(self, request: pb.ReportRequest, context: aio.ServicerContext[pb.ReportRequest, pb.ReportAnswer]) -> pb.ReportAnswer: ...

def add_ReportServiceServicer_to_server(
    servicer: ReportServiceServicer, server: aio.Server
) -> None: ...
