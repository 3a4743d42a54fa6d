from collections.abc import AsyncIterator

from grpc import aio

from fairway.rpc.gen.fairway.agent.v1 import leases_pb2 as pb

class LeaseServiceStub:
    def __init__(self, channel: aio.Channel) -> None: ...
    Hold: aio.UnaryUnaryMultiCallable[pb.HoldRequest, pb.HoldAnswer]
    Release: aio.UnaryUnaryMultiCallable[pb.ReleaseRequest, pb.ReleaseAnswer]

class LeaseServiceServicer:
    async def Hold(self, request: pb.HoldRequest, context: aio.ServicerContext[pb.HoldRequest, pb.HoldAnswer]) -> pb.HoldAnswer: ...
    async def Release(self, request: pb.ReleaseRequest, context: aio.ServicerContext[pb.ReleaseRequest, pb.ReleaseAnswer]) -> pb.ReleaseAnswer: ...

def add_LeaseServiceServicer_to_server(
    servicer: LeaseServiceServicer, server: aio.Server
) -> None: ...
