"""Traces at a real little collector: an HTTP server that decodes what OTLP sends."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import grpc
import httpx
import msgspec
import pytest
from grpc import aio
from litestar import Litestar, get
from litestar.params import FromPath
from litestar.response import Stream
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from sqlalchemy import Connection

from fairway.server.http_api.listener import listening
from fairway.server.status_codes import NotNow
from fairway.server.telemetry import BadEndpoint, Telemetry, TraceCalls
from tests.patience import PATIENCE_SECONDS

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
TRACEPARENT = f"00-{TRACE}-{PARENT}-01"


class SeenSpan(msgspec.Struct, frozen=True):
    name: str
    trace: str
    parent: str
    attributes: dict[str, str | int]
    failed: bool


class Collector:
    def __init__(self, port: int) -> None:
        self.endpoint = f"http://127.0.0.1:{port}"
        self.bodies: list[bytes] = []

    @property
    def spans(self) -> dict[str, SeenSpan]:
        requests = [ExportTraceServiceRequest.FromString(body) for body in self.bodies]
        found = [
            span
            for request in requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]
        return {span.name: seen(span) for span in found}


def seen(span: Any) -> SeenSpan:
    attributes = {
        pair.key: pair.value.string_value if pair.value.HasField("string_value") else pair.value.int_value
        for pair in span.attributes
    }
    return SeenSpan(span.name, span.trace_id.hex(), span.parent_span_id.hex(), attributes, span.status.code == 2)


@contextmanager
def a_collector() -> Iterator[Collector]:
    class Takes(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/v1/traces"
            collector.bodies.append(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Takes)
    collector = Collector(server.server_port)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@asynccontextmanager
async def telemetry(endpoint: str) -> AsyncIterator[Telemetry]:
    opened = Telemetry.open(endpoint)
    try:
        yield opened
    finally:
        await opened.close()


@get("/things/{thing:str}")
async def get_thing(thing: FromPath[str]) -> str:
    if thing == "broken":
        raise ValueError("a text with hunter2 in it")
    return thing


async def test_a_request_is_a_span_that_continues_the_callers_trace() -> None:
    with a_collector() as collector:
        async with telemetry(collector.endpoint) as traces:
            app = traces.traced_app(Litestar([get_thing], logging_config=None))
            async with (
                listening(app, "127.0.0.1:0", 1) as port,
                httpx.AsyncClient(trust_env=False, timeout=PATIENCE_SECONDS) as client,
            ):
                url = f"http://127.0.0.1:{port}/things/secret-token?key=hunter2"
                answer = await client.get(url, headers={"traceparent": TRACEPARENT, "authorization": "Bearer hunter2"})

        assert answer.text == "secret-token"
        assert collector.spans == {
            "GET /things/{thing}": SeenSpan(
                "GET /things/{thing}",
                TRACE,
                PARENT,
                {
                    "http.request.method": "GET",
                    "http.route": "/things/{thing}",
                    "http.response.status_code": 200,
                },
                failed=False,
            )
        }
        assert not [body for body in collector.bodies if b"hunter2" in body or b"secret-token" in body]


async def test_a_defect_is_told_without_its_text() -> None:
    with a_collector() as collector:
        async with telemetry(collector.endpoint) as traces:
            app = traces.traced_app(Litestar([get_thing], logging_config=None))
            async with (
                listening(app, "127.0.0.1:0", 1) as port,
                httpx.AsyncClient(trust_env=False, timeout=PATIENCE_SECONDS) as client,
            ):
                await client.get(f"http://127.0.0.1:{port}/things/broken")

        assert [span.failed for span in collector.spans.values()] == [True]
        assert not [body for body in collector.bodies if b"hunter2" in body]


async def refuse(_request: bytes, context: Any) -> bytes:
    await context.abort(grpc.StatusCode.NOT_FOUND, "no hunter2 here")
    return b""


async def echo(request: bytes, _context: Any) -> bytes:
    return request


HANDLERS = {"Refuse": refuse, "Echo": echo}


async def test_calls_are_spans_with_their_status() -> None:
    methods: dict[str, Any] = {name: grpc.unary_unary_rpc_method_handler(work) for name, work in HANDLERS.items()}
    with a_collector() as collector:
        async with telemetry(collector.endpoint) as traces:
            server = aio.server(interceptors=[TraceCalls(traces)])
            server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("test.Service", methods),))
            port = server.add_insecure_port("127.0.0.1:0")
            await server.start()
            async with aio.insecure_channel(f"127.0.0.1:{port}") as channel:
                call: aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary("/test.Service/Echo")
                await call(b"x", metadata=(("traceparent", TRACEPARENT), ("authorization", "API-KEY hunter2")))
                refused: aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary("/test.Service/Refuse")
                with pytest.raises(aio.AioRpcError):
                    await refused(b"x")
            await server.stop(None)

        spans = collector.spans
        common = {"rpc.system": "grpc", "rpc.service": "test.Service"}
        assert spans["test.Service/Echo"] == SeenSpan(
            "test.Service/Echo",
            TRACE,
            PARENT,
            {**common, "rpc.method": "Echo", "rpc.grpc.status_code": 0},
            failed=False,
        )
        assert spans["test.Service/Refuse"].attributes == {
            **common,
            "rpc.method": "Refuse",
            "rpc.grpc.status_code": grpc.StatusCode.NOT_FOUND.value[0],
            "error.type": "AbortError",
        }
        assert not [body for body in collector.bodies if b"hunter2" in body]


async def count(request: bytes, context: Any) -> AsyncIterator[bytes]:
    if request == b"nobody":
        await context.abort(grpc.StatusCode.UNAUTHENTICATED, "no hunter2 here")
    for number in range(int(request)):
        yield str(number).encode()
    if request != b"0":
        await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("request_", "counted", "code"),
    [
        pytest.param(b"2", [b"0", b"1"], 0, id="one that goes on"),
        pytest.param(b"0", [], 0, id="one that ends at once"),
        pytest.param(b"nobody", [], 16, id="one that is refused"),
    ],
)
async def test_the_beginning_of_a_stream_is_a_span(request_: bytes, counted: list[bytes], code: int) -> None:
    methods: dict[str, Any] = {"Count": grpc.unary_stream_rpc_method_handler(count)}
    with a_collector() as collector:
        async with telemetry(collector.endpoint) as traces:
            server = aio.server(interceptors=[TraceCalls(traces)])
            server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("test.Service", methods),))
            port = server.add_insecure_port("127.0.0.1:0")
            await server.start()
            async with aio.insecure_channel(f"127.0.0.1:{port}") as channel:
                method: Any = channel.unary_stream("/test.Service/Count")
                call = method(request_)
                seen = [await call.read() for _ in counted]
                if not counted:
                    assert (await call.code()).value[0] == code
                # It is sent before the stream ends; who is refused may know before the span has ended.
                async with asyncio.timeout(PATIENCE_SECONDS):
                    while not (spans := collector.spans):
                        await asyncio.to_thread(traces.flush)
                call.cancel()
            await server.stop(None)

        assert seen == counted
        assert {name: span.attributes["rpc.grpc.status_code"] for name, span in spans.items()} == {
            "test.Service/Count": code
        }


@get("/events")
async def get_events() -> Stream:
    async def events() -> AsyncIterator[bytes]:
        yield b"data: 1\n\n"
        await asyncio.Event().wait()

    return Stream(events(), media_type="text/event-stream")


async def test_of_a_stream_of_events_the_span_is_its_beginning() -> None:
    with a_collector() as collector:
        async with telemetry(collector.endpoint) as traces:
            app = traces.traced_app(Litestar([get_events], logging_config=None))
            async with (
                listening(app, "127.0.0.1:0", 1) as port,
                httpx.AsyncClient(trust_env=False, timeout=PATIENCE_SECONDS) as client,
                client.stream("GET", f"http://127.0.0.1:{port}/events") as answer,
            ):
                first = await anext(answer.aiter_bytes())
                await asyncio.to_thread(traces.flush)
                spans = collector.spans

        assert first == b"data: 1\n\n"
        assert [(span.name, span.failed) for span in spans.values()] == [("GET /events", False)]


def change_something(_connection: Connection) -> str:
    return "changed"


async def test_a_write_is_a_span_inside_its_callers(tmp_path: Path) -> None:
    with a_collector() as collector:
        async with telemetry(collector.endpoint) as traces:
            store = await traces.open_store(f"sqlite:///{tmp_path / 'fairway.db'}")
            with traces.span("call", carrier={"traceparent": TRACEPARENT}):
                assert await store.write(change_something) == "changed"
                with pytest.raises(NotNow):
                    await store.write(refuse_change)
            await store.close()

        write, call = collector.spans["store.write"], collector.spans["call"]
        assert (call.trace, write.trace, write.failed) == (TRACE, TRACE, True)
        assert write.attributes["error.type"] == "NotNow"


def refuse_change(_connection: Connection) -> str:
    raise NotNow("hunter2 cannot be changed now")


@pytest.mark.parametrize("header", ["", "00", "garbage", f"00-{'0' * 32}-{'0' * 16}-01", "ff" * 500])
async def test_a_traceparent_that_is_none_begins_a_new_trace(header: str) -> None:
    with a_collector() as collector:
        async with telemetry(collector.endpoint) as traces:
            with traces.span("call", carrier={"traceparent": header}):
                pass

        assert (collector.spans["call"].parent, collector.spans["call"].trace == TRACE) == ("", False)


@pytest.mark.parametrize("endpoint", ["collector:4318", "grpc://collector:4317", "ftp://x"])
def test_an_endpoint_that_takes_no_traces_is_refused(endpoint: str) -> None:
    with pytest.raises(BadEndpoint, match="expected an address such as http://collector:4318"):
        Telemetry.open(endpoint)


def test_nothing_is_loaded_while_nobody_wants_traces() -> None:
    program = "import sys, fairway.server.telemetry; print([name for name in sys.modules if 'opentelemetry' in name])"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"
