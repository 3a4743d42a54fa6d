import asyncio
from pathlib import Path

import grpc
import pytest

from fairway.clock import SystemClock
from fairway.rpc.traces import METHOD, SERVICE
from fairway.server.app import RunningServer, ServerSettings, run_server
from fairway.server.certificates import BadCertificate, CertificateFiles, server_credentials
from tests.certificates import self_signed


def write_pair(files: CertificateFiles) -> bytes:
    """A new pair in the files; the bytes with which to trust it."""
    made = self_signed()
    files.key.write_bytes(made.key)
    files.certificate.write_bytes(made.certificate)
    return made.certificate


async def answers(port: int, trusted: bytes) -> bool:
    """Whether a client that trusts this certificate, and no other, is answered."""
    credentials = grpc.ssl_channel_credentials(trusted)
    async with grpc.aio.secure_channel(f"127.0.0.1:{port}", credentials) as channel:
        export: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(f"/{SERVICE}/{METHOD}")
        try:
            return await export(b"") == b""
        except grpc.aio.AioRpcError:
            return False


async def test_a_renewed_certificate_is_used_without_a_restart(tmp_path: Path) -> None:
    files = CertificateFiles(tmp_path / "cert.pem", tmp_path / "key.pem")
    first = write_pair(files)
    ready: asyncio.Future[RunningServer] = asyncio.get_running_loop().create_future()
    stop = asyncio.Event()
    settings = ServerSettings(
        data=tmp_path / "data", listen="127.0.0.1:0", http_listen="127.0.0.1:0", certificate=files
    )
    server = asyncio.create_task(run_server(settings, SystemClock(), ready.set_result, stop))
    port = (await ready).port

    before = await answers(port, first)
    files.key.write_bytes(b"half written")
    meanwhile = await answers(port, first)
    second = write_pair(files)
    after = (await answers(port, second), await answers(port, first))
    stop.set()
    await server

    assert (before, meanwhile, after) == (True, True, (True, False))


def test_files_that_do_not_fit_are_refused_at_the_start(tmp_path: Path) -> None:
    files = CertificateFiles(tmp_path / "cert.pem", tmp_path / "key.pem")
    write_pair(files)
    other = CertificateFiles(tmp_path / "other.pem", tmp_path / "other-key.pem")
    write_pair(other)

    with pytest.raises(BadCertificate, match="are no certificate with its key"):
        server_credentials(CertificateFiles(files.certificate, other.key))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadCertificate, match=r"cert\.pem.*No such file or directory"):
        server_credentials(CertificateFiles(tmp_path / "cert.pem", tmp_path / "key.pem"))
