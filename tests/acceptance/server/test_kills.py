"""The server is killed at random moments while agents report; what it acknowledged is there when it starts again."""

import random
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.acceptance.server.processes import a_server
from tests.acceptance.server.reporting import an_account, reporting
from tests.integration.server.postgres import a_database, a_postgres_server

KILLS = 3


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest) -> Iterator[tuple[str, ...]]:
    """What a server is told of its database."""
    if request.param == "sqlite":
        yield ()
        return
    with a_postgres_server() as server:
        yield ("--database", a_database(server, "killed"))


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
