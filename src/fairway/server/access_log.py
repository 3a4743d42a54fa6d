"""A line for each request and each call, at the weight of debug; where nobody reads them, nothing is put in the way.

Shown is what was asked and what became of it, never a query, a header or a body: those may hold secrets.
"""

from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Any, TypeAlias

import grpc
import structlog
from grpc import aio
from litestar.types import ASGIApp, Message, Receive, Scope, Send

_log = structlog.get_logger()

#: Generic for type checkers only.
_Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"


def logged_requests(inner: ASGIApp) -> ASGIApp:
    """The application, with a line for each request that it has answered."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        start, status = perf_counter(), 0

        async def noticed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await inner(scope, receive, noticed)
        finally:
            client = scope.get("client")
            _log.debug(
                "request",
                method=scope.get("method", ""),
                path=scope.get("path", ""),
                status=status,
                client=client[0] if client else "",
                milliseconds=_milliseconds(start),
            )

    return app


class LogCalls(aio.ServerInterceptor):
    """A line when a call begins: its end is in the metrics, and a stream has none for a long time."""

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable["_Handler | None"]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> "_Handler | None":
        """The method's handler, unchanged."""
        handler = await continuation(handler_call_details)
        _log.debug("call", method=handler_call_details.method, known=handler is not None)
        return handler


def _milliseconds(start: float) -> float:
    return round((perf_counter() - start) * 1000, 3)
