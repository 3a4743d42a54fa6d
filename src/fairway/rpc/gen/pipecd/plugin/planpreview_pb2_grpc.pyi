from collections.abc import AsyncIterator

from grpc import aio

from fairway.rpc.gen.pipecd.plugin import planpreview_pb2 as pb

class PlanPreviewServiceStub:
    def __init__(self, channel: aio.Channel) -> None: ...
    GetPlanPreview: aio.UnaryUnaryMultiCallable[pb.GetPlanPreviewRequest, pb.GetPlanPreviewResponse]

class PlanPreviewServiceServicer:
    async def GetPlanPreview(self, request: pb.GetPlanPreviewRequest, context: aio.ServicerContext[pb.GetPlanPreviewRequest, pb.GetPlanPreviewResponse]) -> pb.GetPlanPreviewResponse: ...

def add_PlanPreviewServiceServicer_to_server(
    servicer: PlanPreviewServiceServicer, server: aio.Server
) -> None: ...
