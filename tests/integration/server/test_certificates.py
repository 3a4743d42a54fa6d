import asyncio
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

import grpc
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from fairway.clock import SystemClock
from fairway.rpc.traces import METHOD, SERVICE
from fairway.server.app import RunningServer, ServerSettings, run_server
from fairway.server.certificates import BadCertificate, CertificateFiles, server_credentials


def write_pair(files: CertificateFiles) -> bytes:
    """A certificate for 127.0.0.1 that signs itself; the bytes with which to trust it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "fairway test")])
    now = datetime.now(UTC)
    valid = (now, now + timedelta(days=1))
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), *valid)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    files.key.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    files.certificate.write_bytes(pem)
    return pem


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
