"""The HTTP port of a whole server: beside gRPC, over TLS, and where it cannot be."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import httpx
import pytest

from fairway.clock import SystemClock
from fairway.rpc.user_api import UserStub
from fairway.rpc.user_api import messages as m
from fairway.server.app import RunningServer, ServerSettings, run_server
from fairway.server.certificates import CertificateFiles
from fairway.server.http_api.listener import HttpAddressError, bind
from tests.integration.server.http_api.serving import serving
from tests.integration.server.test_certificates import write_pair
from tests.patience import PATIENCE_SECONDS
from tests.ports import a_free_port


@asynccontextmanager
async def running(data: Path, certificate: CertificateFiles | None = None) -> AsyncIterator[RunningServer]:
    ready: asyncio.Future[RunningServer] = asyncio.get_running_loop().create_future()
    stop = asyncio.Event()
    # None that somebody else gets as soon as it is free: a test looks whether nobody answers there any more.
    http = f"127.0.0.1:{a_free_port()}"
    settings = ServerSettings(data=data, listen="127.0.0.1:0", http_listen=http, certificate=certificate)
    server = asyncio.create_task(run_server(settings, SystemClock(), ready.set_result, stop))
    try:
        yield await ready
    finally:
        stop.set()
        await server


async def ask(url: str, key: str = "", verify: ssl.SSLContext | bool = True) -> httpx.Response:
    async with httpx.AsyncClient(trust_env=False, verify=verify, timeout=PATIENCE_SECONDS) as client:
        return await client.get(url, headers={"authorization": f"Bearer {key}"} if key else {})


async def test_both_doors_know_the_same_key_and_rpcs_are_counted(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        assert server.first_start is not None
        key, base = server.first_start.api_key, f"http://127.0.0.1:{server.http_port}"
        async with grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
            user, metadata = UserStub(channel), (("authorization", f"API-KEY {key}"),)
            registered = await user.RegisterPiped(m.RegisterPipedRequest(name="near"), metadata=metadata)
            with pytest.raises(grpc.aio.AioRpcError):
                await user.GetPiped(m.GetPipedRequest(piped_id="nobody"), metadata=metadata)
        shown = await ask(f"{base}/api/v1/agents/{registered.id}", key)
        numbers = (await ask(f"{base}/metrics")).text

    service = "/grpc.service.apiservice.APIService"
    assert (shown.status_code, shown.json()["name"]) == (200, "near")
    assert f'fairway_rpcs_total{{code="OK",method="{service}/RegisterPiped"}} 1.0' in numbers
    assert f'fairway_rpcs_total{{code="NOT_FOUND",method="{service}/GetPiped"}} 1.0' in numbers
    assert f'fairway_rpc_seconds_count{{method="{service}/GetPiped"}} 1.0' in numbers
    assert registered.key not in shown.text + numbers


async def test_a_stopped_server_no_longer_answers(tmp_path: Path) -> None:
    async with running(tmp_path) as server:
        url = f"http://127.0.0.1:{server.http_port}/healthz"
        before = await ask(url)

    assert before.text == "ok"
    with pytest.raises(httpx.ConnectError):
        await ask(url)


async def test_with_a_certificate_the_port_speaks_tls_and_follows_the_files(tmp_path: Path) -> None:
    files = CertificateFiles(tmp_path / "cert.pem", tmp_path / "key.pem")
    first = write_pair(files)
    async with running(tmp_path / "data", files) as server:
        url = f"https://127.0.0.1:{server.http_port}/healthz"

        before = await ask(url, verify=trusting(first))
        files.key.write_bytes(b"half written")
        meanwhile = await ask(url, verify=trusting(first))
        second = write_pair(files)
        after = await ask(url, verify=trusting(second))
        with pytest.raises(httpx.ConnectError, match="certificate verify failed"):
            await ask(url, verify=trusting(first))

    assert [answer.text for answer in (before, meanwhile, after)] == ["ok", "ok", "ok"]


@pytest.mark.parametrize(
    "address",
    [
        pytest.param("127.0.0.1", id="no port"),
        pytest.param("127.0.0.1:many", id="a port in words"),
        pytest.param("127.0.0.1:70000", id="a port too high"),
        pytest.param("192.0.2.1:0", id="an address of another machine"),
    ],
)
async def test_an_address_that_cannot_be_listened_on_is_named(tmp_path: Path, address: str) -> None:
    settings = ServerSettings(data=tmp_path, listen="127.0.0.1:0", http_listen=address)

    with pytest.raises(HttpAddressError, match=f"cannot listen on {address} for HTTP"):
        await run_server(settings, SystemClock(), lambda _: None, asyncio.Event())


async def test_an_address_in_use_is_named(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        address = f"127.0.0.1:{served.client.base_url.port}"
        settings = ServerSettings(data=tmp_path / "two", listen="127.0.0.1:0", http_listen=address)

        with pytest.raises(HttpAddressError, match=f"cannot listen on {address} for HTTP: it is in use"):
            await run_server(settings, SystemClock(), lambda _: None, asyncio.Event())


def trusting(certificate: bytes) -> ssl.SSLContext:
    """What a client that trusts one certificate, and no other, uses."""
    return ssl.create_default_context(cadata=certificate.decode())


def test_no_answer_waits_until_the_caller_has_confirmed_its_head() -> None:
    with bind("127.0.0.1:0") as bound, socket.create_connection(bound.getsockname()), bound.accept()[0] as accepted:
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
