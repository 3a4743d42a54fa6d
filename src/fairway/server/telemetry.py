"""Traces for who wants them: calls, requests and writes as OpenTelemetry's spans, sent by OTLP over HTTP.

Off unless an endpoint is given; then nothing of OpenTelemetry is even loaded, and nothing is put in the way of a call.
A caller's `traceparent` is continued. Of a stream the span is its beginning, until the first message or the head of the
answer: one of hours would reach nobody before its end, and what is streamed has spans where it happens.

Spans carry names of methods and routes, statuses and times: never a query, a header, a body, an id that somebody chose
or the text of an error, since any of these may hold a secret. Where spans cannot be delivered, they are dropped; nobody
waits for them.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from typing import TYPE_CHECKING, Any, Self, TypeVar

import grpc
from litestar.types import ASGIApp, Message, Receive, Scope, Send
from sqlalchemy import Connection

from fairway import __version__
from fairway.errors import UserError
from fairway.server.interceptors import AroundCalls, StreamWork, Work
from fairway.server.store.store import Store

if TYPE_CHECKING:
    # Loaded only by who sends traces.
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span, SpanKind

#: How long the last spans may take on their way out.
_FLUSH_MILLISECONDS = 5_000

T = TypeVar("T")


class BadEndpoint(UserError):
    """An address that no traces can be sent to."""


class Telemetry:
    """Makes spans and sends them."""

    def __init__(self, provider: "TracerProvider") -> None:
        from opentelemetry import trace
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self._trace = trace
        self._provider = provider
        self._tracer = provider.get_tracer("fairway.server", __version__)
        self._propagator = TraceContextTextMapPropagator()

    @classmethod
    def open(cls, endpoint: str) -> Self:
        """Traces go to the endpoint of a collector, such as http://collector:4318."""
        if not endpoint.startswith(("http://", "https://")):
            raise BadEndpoint(f"{endpoint!r} takes no traces; expected an address such as http://collector:4318")
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        known = Resource.create({"service.name": "fairway-server", "service.version": __version__})
        provider = TracerProvider(resource=known, shutdown_on_exit=False)
        exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")
        provider.add_span_processor(BatchSpanProcessor(exporter))
        return cls(provider)

    async def close(self) -> None:
        """Send what is left, for a few seconds at most."""
        await asyncio.to_thread(self.flush)
        await asyncio.to_thread(self._provider.shutdown)

    def flush(self) -> None:
        """Send what has ended, and wait for it a few seconds."""
        self._provider.force_flush(_FLUSH_MILLISECONDS)

    @contextmanager
    def span(
        self,
        name: str,
        kind: "SpanKind | None" = None,
        carrier: Mapping[str, str] | None = None,
        attributes: Mapping[str, str] | None = None,
    ) -> Iterator["Span"]:
        """What happens in the block, as a span; an error is told by its type alone."""
        context = self._propagator.extract(dict(carrier)) if carrier else None
        with self._tracer.start_as_current_span(
            name,
            context=context,
            kind=kind or self._trace.SpanKind.INTERNAL,
            attributes=attributes,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield span
            except BaseException as error:
                span.set_attribute("error.type", type(error).__name__)
                span.set_status(self._trace.StatusCode.ERROR)
                raise

    def traced_app(self, inner: ASGIApp) -> ASGIApp:
        """The application, with a span for each request."""

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
            method = str(scope.get("method", ""))
            with self.span(method, self._trace.SpanKind.SERVER, headers, {"http.request.method": method}) as span:

                async def noticed(message: Message) -> None:
                    if message["type"] == "http.response.start":
                        span.set_attribute("http.response.status_code", message["status"])
                        if message["status"] >= 500:
                            span.set_status(self._trace.StatusCode.ERROR)
                        _name_route(span, method, scope)
                        if _is_stream(message["headers"]):
                            span.end()
                    await send(message)

                await inner(scope, receive, noticed)

        return app

    async def open_store(self, url: str) -> Store:
        """The store at a URL, with a span for each write."""
        store = await _TracedStore.open(url)
        store.telemetry = self
        return store


class _TracedStore(Store):
    """A store whose writes are spans. Reads are too many and too quick to be worth one each."""

    telemetry: Telemetry

    async def write(self, work: Callable[[Connection], T]) -> T:
        with self.telemetry.span("store.write", attributes={"code.function.name": _name(work)}):
            return await super().write(work)


def _name_route(span: "Span", method: str, scope: Scope) -> None:
    """Known once the request was routed; the path itself may hold the token of a link."""
    if route := scope.get("path_template"):
        span.update_name(f"{method} {route}")
        span.set_attribute("http.route", str(route))


def _is_stream(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    return any(name.lower() == b"content-type" and value.startswith(b"text/event-stream") for name, value in headers)


def _name(work: Callable[[Connection], T]) -> str:
    """Which piece of work it is, as the code calls it."""
    return f"{work.__module__}.{getattr(work, '__qualname__', '')}"


class TraceCalls(AroundCalls):
    """A span for each call, and for the beginning of each stream."""

    def __init__(self, telemetry: Telemetry) -> None:
        self._telemetry = telemetry

    def around_call(self, method: str, work: Work) -> Work:
        """The work in a span."""

        async def traced(request: Any, context: Any) -> Any:
            with self._span(method, context):
                return await work(request, context)

        return traced

    def around_stream(self, method: str, work: StreamWork) -> StreamWork:
        """The work, with a span as far as its first message."""

        async def begun(request: Any, context: Any) -> AsyncIterator[Any]:
            async with aclosing(work(request, context)) as messages:  # type: ignore[type-var]  # ours are generators
                with self._span(method, context):
                    first = await anext(messages, None)
                if first is not None:
                    yield first
                async for message in messages:
                    yield message

        return begun

    @contextmanager
    def _span(self, method: str, context: Any) -> Iterator[None]:
        from opentelemetry.trace import SpanKind

        service, _, name = method.lstrip("/").partition("/")
        attributes = {"rpc.system": "grpc", "rpc.service": service, "rpc.method": name}
        carrier = {key: str(value) for key, value in context.invocation_metadata() or () if key == "traceparent"}
        with self._telemetry.span(f"{service}/{name}", SpanKind.SERVER, carrier, attributes) as span:
            try:
                yield
            finally:
                code = context.code()
                number = code.value[0] if isinstance(code, grpc.StatusCode) else int(code or 0)
                span.set_attribute("rpc.grpc.status_code", number)
