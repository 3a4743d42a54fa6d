"""What stands around the work of each gRPC call, said once: how gRPC hands a method over and wants it back.

Whoever counts, traces or bounds calls says only what to put around the work, by the name of the method. To gRPC a call
may be one whose request is a stream, so that it is not read before it is asked for (see `requests`); here that makes no
difference. An answer is one message, or a stream of them.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeAlias, cast

import grpc
from grpc import aio

#: Generic for type checkers only.
Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
#: Asks whoever stands further in for a method's handler.
Continuation: TypeAlias = "Callable[[grpc.HandlerCallDetails], Awaitable[Handler | None]]"
#: Of a call with one answer.
Work: TypeAlias = Callable[[Any, Any], Awaitable[Any]]
#: Of a call with many.
StreamWork: TypeAlias = Callable[[Any, Any], AsyncIterator[Any]]


class AroundCalls(aio.ServerInterceptor):
    """Puts something around each call; nothing, unless a subclass says otherwise."""

    def around_call(self, method: str, work: Work) -> Work:
        """The work of a call with one answer; `method` is such as `/package.Service/Method`."""
        del method
        return work

    def around_stream(self, method: str, work: StreamWork) -> StreamWork:
        """The work of a call whose answer is a stream."""
        del method
        return work

    async def intercept_service(
        self, continuation: Continuation, handler_call_details: grpc.HandlerCallDetails
    ) -> "Handler | None":
        """The method's handler with what is put around it; none where there is no such method."""
        handler = await continuation(handler_call_details)
        if handler is None:
            return None
        ends = {
            "request_deserializer": handler.request_deserializer,
            "response_serializer": handler.response_serializer,
        }
        method = handler_call_details.method
        if handler.unary_unary is not None:
            return grpc.unary_unary_rpc_method_handler(self.around_call(method, handler.unary_unary), **ends)
        if handler.stream_unary is not None:
            return grpc.stream_unary_rpc_method_handler(self.around_call(method, handler.stream_unary), **ends)
        # Ours are asynchronous, which gRPC's types do not know.
        work = cast("StreamWork", handler.unary_stream or handler.stream_stream)
        if handler.request_streaming:
            return grpc.stream_stream_rpc_method_handler(self.around_stream(method, work), **ends)
        return grpc.unary_stream_rpc_method_handler(self.around_stream(method, work), **ends)
