"""The server's numbers for Prometheus, in a registry of their own: two servers in one process do not share them.

RPCs are counted and timed by an interceptor, so that no service needs to think of it. Its labels are the names of
methods that exist and status codes, never anything that a caller chooses.
"""

import asyncio
import platform
from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Any, TypeAlias

import grpc
from grpc import aio
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

from fairway import __version__
from fairway.server.answers import AnswerRoom

#: Generic for type checkers only.
_Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
_CODES = {code.value[0]: code.name for code in grpc.StatusCode}


class Metrics:
    """Everything that is counted."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        build = Gauge("fairway_build_info", "Which Fairway this is.", ["version", "python"], registry=self._registry)
        build.labels(__version__, platform.python_version()).set(1)
        self._rpcs = Counter("fairway_rpcs", "gRPC calls that have ended.", ["method", "code"], registry=self._registry)
        self._rpc_seconds = Histogram(
            "fairway_rpc_seconds", "How long gRPC calls took.", ["method"], registry=self._registry
        )

    def watch_answers(self, room: AnswerRoom) -> None:
        """Show how much memory callers take up by answers that they have not taken yet."""
        held = Gauge("fairway_rpc_answer_bytes", "Memory of gRPC answers on their way.", registry=self._registry)
        held.set_function(lambda: room.held)
        callers = Gauge("fairway_rpc_answer_callers", "Callers whom they are for.", registry=self._registry)
        callers.set_function(lambda: room.callers)

    def rpc_ended(self, method: str, code: str, seconds: float) -> None:
        """Count one call."""
        self._rpcs.labels(method, code).inc()
        self._rpc_seconds.labels(method).observe(seconds)

    def text(self) -> bytes:
        """All numbers, as Prometheus reads them."""
        return generate_latest(self._registry)


class CountRpcs(aio.ServerInterceptor):
    """Counts and times each call with one request and one answer; streams last as long as they like."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable["_Handler | None"]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> "_Handler | None":
        """The method's handler with a clock around it; none where there is no such method."""
        handler = await continuation(handler_call_details)
        if handler is None or handler.unary_unary is None:
            return handler
        return grpc.unary_unary_rpc_method_handler(
            self._counted(handler_call_details.method, handler.unary_unary),
            request_deserializer=handler.request_deserializer,
            response_serializer=handler.response_serializer,
        )

    def _counted(self, method: str, work: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        async def counted(request: Any, context: Any) -> Any:
            start, code = perf_counter(), grpc.StatusCode.UNKNOWN.name
            try:
                answer = await work(request, context)
                code = _name(context.code())
            except asyncio.CancelledError:
                code = grpc.StatusCode.CANCELLED.name
                raise
            except aio.AbortError:
                code = _name(context.code())
                raise
            finally:
                self._metrics.rpc_ended(method, code, perf_counter() - start)
            return answer

        return counted


def _name(code: grpc.StatusCode | int | None) -> str:
    """The status's name; gRPC keeps a number where nobody set one."""
    return code.name if isinstance(code, grpc.StatusCode) else _CODES[code or 0]
