"""What only a database with several writers at once can get wrong."""

import asyncio
from pathlib import Path

from fairway.rpc.user_api import messages as m
from tests.integration.server.postgres import a_database, a_postgres_server
from tests.integration.server.user.serving import code_of, serving
from tests.unit.server.user.builders import an_agent


async def test_of_many_that_want_one_place_at_once_one_gets_it(tmp_path: Path) -> None:
    addition = m.AddApplicationRequest(
        name="cart", piped_id="agent-1", git_path={"repo": {"id": "shop"}, "path": "apps/cart"}
    )
    with a_postgres_server() as postgres:
        async with serving(tmp_path, database=a_database(postgres)) as served:
            await served.add(an_agent())
            async with served.client(await served.new_key()) as client:
                codes = await asyncio.gather(*(code_of(client.AddApplication(addition)) for _ in range(8)))

    assert sorted(code.name for code in codes) == ["ALREADY_EXISTS"] * 7 + ["OK"]
