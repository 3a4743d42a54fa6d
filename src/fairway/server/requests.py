"""Requests on their way in: nobody fills the server's memory by sending much at once, and strangers send nothing.

Left to itself, gRPC reads the whole request of a call before any code of ours runs, whoever calls. Here every method is
offered as one that takes a stream, of which nothing is read until it is asked for: first who calls is found out from
the call's header alone, then the request gets its place (see `room`), and only then it is read. How much gRPC takes in
meanwhile is bounded by the window of HTTP/2, 64 KiB a call (see `rpc.channel`).
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Any, TypeAlias

import grpc
from grpc import aio

from fairway.rpc.aliases import current_path
from fairway.rpc.context import CallContext
from fairway.server.interceptors import Continuation, Handler, StreamWork, Work
from fairway.server.room import Limits, Place, Room
from fairway.server.status_codes import InvalidRequest, abort_for

#: How much memory requests may take.
LIMITS = Limits(
    each=16 * 1024 * 1024,
    crowded=64 * 1024 * 1024,
    everybody=128 * 1024 * 1024,
    unsized=3,
    unsized_of_all=6,
)
#: A request is in memory as bytes, as a message, and as what is made of that.
_COPIES = 3
#: The request of a stream is kept as long as that lasts.
_MOST_OF_STREAM = 64 * 1024

#: Who makes a call, from its header; the same name for each call of one key. BadCredentials when nobody we know does.
Identify: TypeAlias = Callable[[CallContext], Awaitable[str]]


class BoundRequests(aio.ServerInterceptor):
    """Reads requests of known callers where there is room. What stands outside it sees a request that is not read."""

    def __init__(self, room: Room, identify: Mapping[str, Identify]) -> None:
        self._room = room
        #: By the name of the service.
        self._identify = identify

    async def intercept_service(
        self, continuation: Continuation, handler_call_details: grpc.HandlerCallDetails
    ) -> "Handler | None":
        """The method's handler as one that takes a stream; one that does so itself is left alone."""
        handler = await continuation(handler_call_details)
        if handler is None or handler.request_streaming:
            return handler
        identify = self._identify[current_path(handler_call_details.method).split("/")[1]]
        encode = handler.response_serializer
        if handler.unary_unary is not None:
            answered = self._answered(identify, handler.unary_unary)
            return grpc.stream_unary_rpc_method_handler(answered, response_serializer=encode)
        streamed: Any = self._streamed(identify, handler.unary_stream)  # type: ignore[arg-type]  # ours are asynchronous
        return grpc.stream_stream_rpc_method_handler(streamed, response_serializer=encode)

    def _answered(self, identify: Identify, work: Work) -> Work:
        async def answered(_unread: object, context: CallContext) -> Any:
            place = await self._placed(identify, context)
            try:
                return await work(await self._read(place, context), context)
            except aio.AbortError as error:
                _let_go(error)
                raise
            finally:
                place.clear()

        return answered

    def _streamed(self, identify: Identify, work: StreamWork) -> StreamWork:
        async def streamed(_unread: object, context: CallContext) -> AsyncIterator[Any]:
            place = await self._placed(identify, context)
            try:
                request = await self._read(place, context)
            finally:
                place.clear()
            if len(request) > _MOST_OF_STREAM:
                await abort_for(InvalidRequest(f"the request has {len(request)} bytes; expected a short one"), context)
            async with aclosing(work(request, context)) as messages:  # type: ignore[type-var]  # ours are generators
                async for message in messages:
                    yield message

        return streamed

    async def _placed(self, identify: Identify, context: CallContext) -> Place:
        try:
            return await self._room.place(await identify(context))
        except Exception as error:  # whatever it is, the caller is told by the one table
            await abort_for(error, context)

    async def _read(self, place: Place, context: CallContext) -> bytes:
        size = 0
        try:
            async with self._room.in_time(place):
                request = await context.read()
            if request is aio.EOF:
                raise InvalidRequest("the call carries no request")
            size = _COPIES * len(request)
        except Exception as error:  # as above
            await abort_for(error, context)
        finally:
            place.fill(size)
        return bytes(request)


def _let_go(error: BaseException) -> None:
    """Forget where it was raised: gRPC keeps it with the call, and the frames would keep call and request in turn."""
    chain: list[BaseException] = [error]
    for each in chain:
        each.__traceback__ = None
        chain += [other for other in (each.__cause__, each.__context__) if other is not None and other not in chain]
