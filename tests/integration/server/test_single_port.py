"""Real gRPC and HTTP clients at one real port."""

import asyncio
import contextlib
import errno
import json
import socket
import ssl
import urllib.request
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
import pytest
from grpc import aio
from litestar.types import Receive, Scope, Send

from fairway.rpc.channel import CHANNEL_OPTIONS, SERVER_OPTIONS
from fairway.server import single_port as single_port_module
from fairway.server.certificates import BadCertificate, CertificateFiles
from fairway.server.http_api.listener import HttpAddressError
from fairway.server.peers import peer_address
from fairway.server.single_port import SinglePort, http_behind, single_port
from tests.certificates import SelfSigned, self_signed
from tests.patience import PATIENCE_SECONDS
from tests.ports import a_free_port

BIG = b"x" * (8 * 1024 * 1024)
REQUEST = b"GET /who HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


async def web(scope: Scope, receive: Receive, send: Send) -> None:
    """Says who asks; sends back what is posted."""
    body, more = b"", True
    while more:
        message: Any = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    client = scope["client"]
    answer = body or json.dumps([client[0] if client else None, scope["scheme"]]).encode()
    headers = [(b"content-length", str(len(answer)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": answer, "more_body": False})


async def who(_request: bytes, context: "aio.ServicerContext[bytes, bytes]") -> bytes:
    return peer_address(context.peer()).encode()


async def echo(request: bytes, _context: "aio.ServicerContext[bytes, bytes]") -> bytes:
    return request


async def ticks(_request: bytes, _context: "aio.ServicerContext[bytes, bytes]") -> AsyncIterator[bytes]:
    yield b"first"
    await asyncio.Event().wait()


HANDLERS = grpc.method_handlers_generic_handler(
    "test",
    {
        "Who": grpc.unary_unary_rpc_method_handler(who),
        "Echo": grpc.unary_unary_rpc_method_handler(echo),
        "Ticks": grpc.unary_stream_rpc_method_handler(ticks),
    },
)


@contextlib.asynccontextmanager
async def serving(
    certificate: CertificateFiles | None = None, patience: float = PATIENCE_SECONDS
) -> AsyncIterator[SinglePort]:
    # None that somebody else gets as soon as it is free: a test looks whether nobody answers there any more.
    async with single_port(f"127.0.0.1:{a_free_port()}", certificate, patience) as (door, context):
        server = aio.server(options=SERVER_OPTIONS)
        server.add_generic_rpc_handlers((HANDLERS,))
        server.add_insecure_port(f"unix:{door.grpc_socket}")
        async with http_behind(web, door, 1.0, context):
            await server.start()
            await door.start(context)
            try:
                yield door
            finally:
                door.stop_accepting()
                await server.stop(None)


def channel(door: SinglePort, certificate: bytes | None = None) -> aio.Channel:
    address = f"127.0.0.1:{door.port}"
    if certificate is None:
        return aio.insecure_channel(address, options=CHANNEL_OPTIONS)
    return aio.secure_channel(address, grpc.ssl_channel_credentials(certificate), options=CHANNEL_OPTIONS)


async def call(to: aio.Channel, method: str, request: bytes = b"") -> bytes:
    caller: aio.UnaryUnaryMultiCallable[bytes, bytes] = to.unary_unary(f"/test/{method}")
    return await caller(request)


async def get(door: SinglePort, context: ssl.SSLContext | None = None, headers: dict[str, str] | None = None) -> Any:
    scheme = "http" if context is None else "https"
    request = urllib.request.Request(f"{scheme}://127.0.0.1:{door.port}/who", headers=headers or {})

    def ask() -> Any:
        with urllib.request.urlopen(request, context=context, timeout=PATIENCE_SECONDS) as answer:
            return json.load(answer)

    return await asyncio.to_thread(ask)


def files(folder: Path, pair: SelfSigned) -> CertificateFiles:
    found = CertificateFiles(folder / "cert.pem", folder / "key.pem")
    found.certificate.write_bytes(pair.certificate)
    found.key.write_bytes(pair.key)
    return found


def trusting(pair: SelfSigned, *alpn: str) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=pair.certificate.decode())
    if alpn:
        context.set_alpn_protocols(list(alpn))
    return context


async def test_grpc_and_http_are_answered_on_one_port_and_know_the_caller() -> None:
    async with serving() as door, channel(door) as to:
        assert await call(to, "Who") == b"127.0.0.1"
        assert await get(door) == ["127.0.0.1", "http"]


async def test_an_address_in_a_header_is_not_believed() -> None:
    async with serving() as door:
        assert await get(door, headers={"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"}) == [
            "127.0.0.1",
            "http",
        ]


async def test_with_tls_grpc_and_http_are_told_apart_by_what_they_take(tmp_path: Path) -> None:
    pair = self_signed()
    async with serving(files(tmp_path, pair)) as door, channel(door, pair.certificate) as to:
        assert await call(to, "Who") == b"127.0.0.1"
        assert await get(door, trusting(pair, "http/1.1")) == ["127.0.0.1", "https"]
        # As browsers do.
        assert await get(door, trusting(pair, "h2", "http/1.1")) == ["127.0.0.1", "https"]


async def test_with_tls_a_caller_that_leaves_is_not_worth_a_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pair = self_signed()
    async with serving(files(tmp_path, pair)) as door:
        reader, writer = await asyncio.open_connection("127.0.0.1", door.port, ssl=trusting(pair, "http/1.1"))
        writer.write(REQUEST.replace(b"close", b"keep-alive"))
        await reader.readuntil(b'"https"]')

        writer.close()
        # Until the port has answered the goodbye.
        await writer.wait_closed()

    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == []


async def test_with_tls_a_client_without_alpn_is_known_by_its_first_bytes(tmp_path: Path) -> None:
    pair = self_signed()
    async with serving(files(tmp_path, pair)) as door:
        assert await get(door, trusting(pair)) == ["127.0.0.1", "https"]


async def test_a_renewed_certificate_is_used_for_both(tmp_path: Path) -> None:
    old, new = self_signed(), self_signed()
    async with serving(files(tmp_path, old)) as door:
        files(tmp_path, new)

        async with channel(door, new.certificate) as to:
            assert await call(to, "Who") == b"127.0.0.1"
        assert await get(door, trusting(new, "h2", "http/1.1")) == ["127.0.0.1", "https"]


async def test_much_data_passes_both_ways_unchanged(tmp_path: Path) -> None:
    pair = self_signed()
    async with serving(files(tmp_path, pair)) as door, channel(door, pair.certificate) as to:
        url, context = f"https://127.0.0.1:{door.port}/", trusting(pair)

        def post() -> bytes:
            with urllib.request.urlopen(url, data=BIG, context=context, timeout=PATIENCE_SECONDS) as answer:
                return bytes(answer.read())

        echoed, posted = await asyncio.gather(call(to, "Echo", BIG), asyncio.to_thread(post))

    assert (echoed == BIG, posted == BIG) == (True, True)


async def test_a_caller_that_has_said_all_still_gets_its_answer() -> None:
    async with serving() as door:
        reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
        writer.write(REQUEST)
        writer.write_eof()

        answer = await reader.read()
        writer.close()

    assert answer.endswith(b'["127.0.0.1", "http"]')


@pytest.mark.parametrize("said", [b"", b"P", b"PRI * HT"])
async def test_whoever_does_not_say_what_they_speak_is_hung_up_on(said: bytes) -> None:
    async with serving(patience=0.05) as door:
        reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
        writer.write(said)

        with contextlib.suppress(ConnectionResetError):
            assert await reader.read() == b""
        writer.close()

        assert door.connection_count == 0


async def test_a_caller_that_sends_byte_by_byte_is_understood() -> None:
    async with serving() as door:
        reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in REQUEST:
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0)

        answer = await reader.read()
        writer.close()

    assert answer.startswith(b"HTTP/1.1 200 OK")


@pytest.mark.parametrize("said", [b"\x16\x03\x01\x02\x00", b"\x00" * 64, b"PRI * HTTP/1.1\r\n\r\n", b"\r\n\r\n\r\n"])
async def test_garbage_ends_its_own_connection_only(said: bytes) -> None:
    async with serving() as door, channel(door) as to:
        reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
        writer.write(said)
        writer.write_eof()
        await reader.read()
        writer.close()

        assert await call(to, "Who") == b"127.0.0.1"


async def test_a_caller_that_does_not_read_holds_up_nobody_and_little_memory() -> None:
    async with serving() as door, channel(door) as to:
        reader, writer = await asyncio.open_connection("127.0.0.1", door.port, limit=1024)
        head = f"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {len(BIG)}\r\n\r\n".encode()
        writer.write(head + BIG)
        await writer.drain()

        assert await call(to, "Who") == b"127.0.0.1"

        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        writer.transport.abort()


async def test_a_thousand_callers_are_served_at_once_and_forgotten() -> None:
    async with serving() as door:
        async with contextlib.AsyncExitStack() as stack:
            options = (*CHANNEL_OPTIONS, ("grpc.use_local_subchannel_pool", 1))
            address = f"127.0.0.1:{door.port}"
            channels = [
                await stack.enter_async_context(aio.insecure_channel(address, options=options)) for _ in range(300)
            ]
            answers = await asyncio.gather(*(call(to, "Who") for to in channels))
            pairs = [await asyncio.open_connection("127.0.0.1", door.port) for _ in range(700)]
            for _, writer in pairs:
                writer.write(REQUEST)
            pages = [await reader.read() for reader, _ in pairs]
            for _, writer in pairs:
                writer.close()

        assert set(answers) == {b"127.0.0.1"}
        assert all(page.startswith(b"HTTP/1.1 200") for page in pages)


async def test_a_stopping_port_lets_nobody_in_and_ends_the_rest() -> None:
    async with serving() as door:
        port = door.port
        to = channel(door)
        ticking: aio.UnaryStreamMultiCallable[bytes, bytes] = to.unary_stream("/test/Ticks")
        stream = ticking(b"")
        assert await stream.read() == b"first"

    with pytest.raises(aio.AioRpcError):
        await stream.read()
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", port)
    await to.close()


async def test_the_sockets_behind_are_nobody_elses_and_go_with_the_port() -> None:
    async with serving() as door:
        directory = door.grpc_socket.parent
        mode = directory.stat().st_mode & 0o777
        names = sorted(path.name for path in directory.iterdir())

    assert (mode, names, directory.exists()) == (0o700, ["grpc", "http"], False)


async def test_what_cannot_be_used_is_said(tmp_path: Path) -> None:
    with pytest.raises(HttpAddressError, match="cannot listen on nowhere"):
        async with single_port("nowhere"):
            pass
    with pytest.raises(BadCertificate, match="are no certificate with its key"):
        async with single_port("127.0.0.1:0", CertificateFiles(tmp_path / "a", tmp_path / "b")):
            pass


async def test_a_caller_is_hung_up_on_when_there_is_no_descriptor_to_pass_it_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def none_left(*_: object) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    async with serving() as door:
        without = SimpleNamespace(AF_UNIX=socket.AF_UNIX, SOCK_STREAM=socket.SOCK_STREAM, socket=none_left)
        monkeypatch.setattr(single_port_module, "socket", without)
        reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
        writer.write(REQUEST)
        async with asyncio.timeout(PATIENCE_SECONDS):
            with contextlib.suppress(ConnectionResetError):
                assert await reader.read() == b""
        monkeypatch.undo()
        writer.close()
