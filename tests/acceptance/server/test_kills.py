"""Server and database are killed at random moments while agents report; what was acknowledged is there afterwards."""

import asyncio
import random
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.acceptance.server import raw
from tests.acceptance.server.processes import ServerProcess, a_server
from tests.acceptance.server.reporting import an_account, reporting
from tests.integration.agent.running import until
from tests.integration.server.postgres import a_database, a_mortal_postgres, a_postgres_server, make_database

KILLS = 3


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest) -> Iterator[tuple[str, ...]]:
    """What a server is told of its database."""
    if request.param == "sqlite":
        yield ()
        return
    with a_postgres_server() as server:
        yield ("--database", a_database(server))


async def test_nothing_acknowledged_is_lost_however_often_the_server_is_killed(
    tmp_path: Path, database: tuple[str, ...]
) -> None:
    moments = random.Random(" ".join(("seed", *database[:1])))
    lost = []
    with ExitStack() as servers:
        server = servers.enter_context(a_server(tmp_path / "data", *database))
        api_key, address = server.api_key, server.address
        accounts = [await an_account(server, api_key, name) for name in ("one", "two", "three")]
        async with reporting(accounts, [address]) as kept:
            for _ in range(KILLS):
                await kept.after(moments.randrange(1, 80))
                server.kill()
                server = servers.enter_context(a_server(tmp_path / "data", *database, listen=address))
                lost += await kept.missing(address, api_key)
            await kept.after(30)
        lost += await kept.missing(address, api_key)

    assert lost == []


async def test_nothing_acknowledged_is_lost_when_the_database_is_killed_under_a_server_that_stays(
    tmp_path: Path,
) -> None:
    moments = random.Random("database")
    with a_mortal_postgres() as postgres:
        make_database(postgres.url("postgres"), "killed")
        with a_server(tmp_path / "data", "--database", postgres.url("killed")) as server:
            accounts = [await an_account(server, server.api_key, name) for name in ("one", "two", "three")]
            async with reporting(accounts, [server.address]) as kept:
                await kept.after(moments.randrange(20, 80))
                await asyncio.to_thread(postgres.crash)
                await until(lambda: answers(server, "/readyz", 503))
                await asyncio.to_thread(postgres.start)
                await kept.after(30)
            lost = await kept.missing(server.address, server.api_key)
            await until(lambda: answers(server, "/readyz", 200))

    assert lost == []


async def answers(server: ServerProcess, path: str, status: int) -> bool:
    """Whether a path is answered so; a look at the store serves all who ask within a second."""
    return (await asyncio.to_thread(raw.ask, server.http, raw.a_request(path)))[0] == status
