from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from grpc import aio
from structlog.testing import capture_logs

from fairway.model.agent import AgentKey
from fairway.rpc.agent_api import AgentStub
from fairway.rpc.agent_api import messages as m
from fairway.server.keys import new_agent_key
from fairway.server.store import agents
from tests.integration.server.agent.serving import KEY, Serving, serving
from tests.unit.model.builders import NOW

STAT = m.ReportStatRequest()
UNKNOWN_KEY = new_agent_key().shown


async def answer(server: Serving, *authorizations: str) -> tuple[str, str]:
    """The status of a call that shows these headers, and its words."""
    try:
        await AgentStub(server.channel).ReportStat(STAT, metadata=[("authorization", a) for a in authorizations])
    except aio.AioRpcError as error:
        return error.code().name, error.details() or ""
    return "OK", ""


async def change(server: Serving, **fields: Any) -> None:
    await server.store.write(
        lambda connection: agents.update_agent(
            connection, "agent-1", lambda agent: msgspec.structs.replace(agent, **fields)
        )
    )


@pytest.mark.parametrize(
    "authorizations",
    [
        pytest.param((), id="no header"),
        pytest.param((f"PIPED-TOKEN shop,agent-1,{KEY.shown}",) * 2, id="two headers"),
        pytest.param((f"PIPED-TOKEN shop,agent-1,{UNKNOWN_KEY}",), id="a wrong key"),
        pytest.param((f"PIPED-TOKEN shop,agent-1,{KEY.stored}",), id="what is stored of the key"),
        pytest.param((f"PIPED-TOKEN shop,agent-2,{KEY.shown}",), id="an unknown agent"),
        pytest.param((f"PIPED-TOKEN other,agent-1,{KEY.shown}",), id="another project"),
        pytest.param((f"PIPED-TOKEN shop,agent-off,{KEY.shown}",), id="a disabled agent"),
        pytest.param((f"API-KEY {KEY.shown}",), id="another scheme"),
        pytest.param((f"PIPED-TOKEN shop,agent-1,{KEY.shown},",), id="a comma too many"),
    ],
)
async def test_every_bad_token_gets_the_same_answer_and_none_is_logged(
    tmp_path: Path, authorizations: tuple[str, ...]
) -> None:
    async with serving(tmp_path) as server:
        await server.add_agent()
        await server.add_agent("agent-off", disabled=True)

        with capture_logs() as logged:
            found = await answer(server, *authorizations)

        assert found == await answer(server, "nonsense")
        assert (found[0], KEY.shown in str(logged) + found[1]) == ("UNAUTHENTICATED", False)


async def test_both_keys_of_an_agent_are_good_while_one_replaces_the_other(tmp_path: Path) -> None:
    new = new_agent_key()
    async with serving(tmp_path) as server:
        hashes = (KEY.stored, new.stored)
        await server.add_agent(keys=tuple(AgentKey(hash=hash, creator="ada", created_at=NOW) for hash in hashes))

        answers = [await server.agent(key=key).refused("ReportStat", STAT) for key in (KEY.shown, new.shown)]

        assert answers == ["OK", "OK"]


async def test_a_disabled_agent_is_refused_at_once_where_it_was_disabled(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        await server.add_agent()
        before = await server.agent().refused("ReportStat", STAT)

        await change(server, disabled=True)
        server.auth.forget("agent-1")

        assert (before, await server.agent().refused("ReportStat", STAT)) == ("OK", "UNAUTHENTICATED")


async def test_a_key_taken_away_by_another_replica_is_good_only_until_it_is_verified_again(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        await server.add_agent()
        await server.agent().call("ReportStat", STAT)
        await change(server, keys=())

        remembered = await server.agent().refused("ReportStat", STAT)
        server.clock.advance(timedelta(seconds=30))

        assert (remembered, await server.agent().refused("ReportStat", STAT)) == ("OK", "UNAUTHENTICATED")
