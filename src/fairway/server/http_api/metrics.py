"""The server's numbers for Prometheus, in a registry of their own: two servers in one process do not share them.

RPCs are counted and timed by an interceptor, so that no service needs to think of it. Its labels are the names of
methods that exist and status codes, never anything that a caller chooses.
"""

import asyncio
import platform
from time import perf_counter
from typing import Any

import grpc
from grpc import aio
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest

from fairway import __version__
from fairway.server.interceptors import AroundCalls, Work
from fairway.server.room import Room

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

    def watch_rooms(self, requests: Room, answers: Room) -> None:
        """Show how much memory callers take up by what they send, and by answers that they have not taken yet."""
        self._watch_room(requests, "request")
        self._watch_room(answers, "answer")

    def _watch_room(self, room: Room, what: str) -> None:
        held = Gauge(f"fairway_rpc_{what}_bytes", f"Memory of gRPC {what}s on their way.", registry=self._registry)
        held.set_function(lambda: room.held)
        callers = Gauge(f"fairway_rpc_{what}_callers", f"Callers who have {what}s there.", registry=self._registry)
        callers.set_function(lambda: room.callers)

    def rpc_ended(self, method: str, code: str, seconds: float) -> None:
        """Count one call."""
        self._rpcs.labels(method, code).inc()
        self._rpc_seconds.labels(method).observe(seconds)

    def text(self) -> bytes:
        """All numbers, as Prometheus reads them."""
        return generate_latest(self._registry)


class CountRpcs(AroundCalls):
    """Counts and times each call with one request and one answer; streams last as long as they like."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def around_call(self, method: str, work: Work) -> Work:
        """The work with a clock around it."""

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
