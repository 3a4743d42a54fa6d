"""Whole servers that keep their logs in a bucket of a real S3 server: killed, and side by side on one PostgreSQL."""

import random
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.acceptance.server.processes import a_server
from tests.acceptance.server.reporting import an_account, reporting
from tests.integration.server.postgres import a_database, a_postgres_server
from tests.peers.s3 import SECRET_KEY, S3Server


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    with a_postgres_server() as server:
        yield server


async def test_a_killed_server_loses_nothing_of_logs_in_a_bucket(tmp_path: Path, s3: S3Server) -> None:
    moments, bucket = random.Random("bucket"), s3.new_bucket()
    with ExitStack() as servers:
        server = servers.enter_context(a_server(tmp_path / "data", "--logs", bucket, environment=s3.environment))
        api_key, address = server.api_key, server.address
        accounts = [await an_account(server, api_key, name) for name in ("one", "two")]
        async with reporting(accounts, [address]) as kept:
            await kept.after(moments.randrange(10, 80))
            server.kill()
            again = a_server(tmp_path / "data", "--logs", bucket, listen=address, environment=s3.environment)
            server = servers.enter_context(again)
            await kept.after(30)
        lost = await kept.missing(address, api_key)

    assert lost == []
    assert len(s3.files(bucket)) >= sum(len(lines) for lines in kept.lines.values()) > 0
    assert not (tmp_path / "data" / "logs").exists()
    assert SECRET_KEY not in server.said


async def test_one_of_two_replicas_is_killed_and_nothing_is_lost(tmp_path: Path, s3: S3Server, postgres: str) -> None:
    shared = ("--database", a_database(postgres), "--logs", s3.new_bucket())
    with (
        a_server(tmp_path / "one", *shared, environment=s3.environment) as one,
        a_server(tmp_path / "two", *shared, environment=s3.environment) as two,
    ):
        api_key = one.api_key
        accounts = [await an_account(server, api_key, f"{n}") for n, server in enumerate((one, two, one))]
        async with reporting(accounts, [one.address, two.address]) as kept:
            await kept.after(70)
            one.kill()
            await kept.after(70)
        lost = await kept.missing(two.address, api_key)

    assert lost == []
