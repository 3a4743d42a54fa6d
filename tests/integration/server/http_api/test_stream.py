"""The stream of server-sent events over a real port, on both databases."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import Connection

from fairway.model.deployment import Deployment
from fairway.model.limits import LOG_TEXT
from fairway.model.log_block import LogBlock
from fairway.model.stage import Stage
from fairway.server.http_api import stream as stream_module
from fairway.server.http_api.stream_nouns import ShownNoun, ShownNouns
from fairway.server.logs import StageLogKey
from fairway.server.store import api_keys, deployments
from fairway.server.store.changes import Change
from tests.integration.server.http_api.streaming import LiveServer, ServerEvent, a_live_server
from tests.integration.server.postgres import a_database, a_postgres_server
from tests.integration.server.store.nouns import a_chain, a_command, an_agent, an_event
from tests.patience import PATIENCE_SECONDS
from tests.unit.model.builders import NOW, a_deployment, an_application

STAGES = (Stage(id="s", name="WAIT", created_at=NOW, updated_at=NOW),)


@pytest.fixture(scope="module")
def postgres_server() -> Iterator[str]:
    with a_postgres_server() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgres":
        return a_database(request.getfixturevalue("postgres_server"))
    return f"sqlite:///{tmp_path}/fairway.db"


@pytest.fixture
async def server(url: str, tmp_path: Path) -> AsyncIterator[LiveServer]:
    async with a_live_server(url, tmp_path) as server:
        yield server


def a_shop_deployment(id: str = "d-1", **fields: object) -> Deployment:
    return a_deployment(**{"id": id, "project_id": "shop", "stages": STAGES, **fields})


async def change(server: LiveServer, id: str, **fields: object) -> None:
    await server.store.write(
        lambda connection: deployments.update_deployment(
            connection, id, lambda found: msgspec.structs.replace(found, **fields)
        )
    )


async def log(server: LiveServer, *indexes: int, run: int = 0, completed: bool = False) -> None:
    blocks = [LogBlock(index=index, log=f"line {index}", created_at=NOW) for index in indexes]
    await server.logs.append(StageLogKey("d-1", "s", run), blocks, completed)


async def test_each_list_tells_what_is_made_and_changed_as_get_shows_it(server: LiveServer) -> None:
    key = await server.a_key()
    nouns = [
        an_application("a-1", project_id="shop"),
        a_shop_deployment(),
        an_agent(),
        a_command(),
        an_event(),
        a_chain(),
    ]
    topics = ["applications", "deployments", "agents", "commands", "events", "chains"]
    async with server.stream(key, *topics) as stream:
        await server.add(*nouns)
        told = await stream.take(6)

    names = ["application", "deployment", "agent", "command", "event", "chain"]
    assert sorted(event.name for event in told) == sorted(names)
    for event in told:
        shown = await server.client.get(
            f"/api/v1/{event.name}s/{event.data['id']}", headers={"authorization": f"Bearer {key}"}
        )
        assert shown.json() == event.data


async def test_one_thing_begins_with_what_it_is_and_is_told_alone(server: LiveServer) -> None:
    key = await server.a_key()
    await server.add(a_shop_deployment("d-1"), a_shop_deployment("d-2"))
    headers = {"authorization": f"Bearer {key}"}

    async with server.client.stream("GET", "/api/v1/stream?topic=deployment:d-1", headers=headers) as response:
        lines = response.aiter_lines()
        first = [await anext(lines) for _ in range(3)]
    async with server.stream(key, "deployment:d-1") as stream:
        await change(server, "d-2", summary="other")
        await change(server, "d-1", summary="mine")
        # That it was made may be told once more: a replica reads what is stored before it hears of it.
        told = [await stream.next()]
        while told[-1].data["summary"] != "mine":
            told.append(await stream.next())

    assert first[:2] == ["retry: 2000", "event: deployment"]
    assert {(event.name, event.data["id"]) for event in told} == {("deployment", "d-1")}


async def test_what_changes_while_the_stream_begins_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with a_live_server(f"sqlite:///{tmp_path}/fairway.db", tmp_path) as server:
        key = await server.a_key()
        await server.add(a_shop_deployment())
        read = ShownNouns.after

        async def changed_behind_its_back(nouns: ShownNouns, asked: Mapping[Change, int]) -> dict[Change, ShownNoun]:
            found = await read(nouns, asked)
            monkeypatch.setattr(ShownNouns, "after", read)
            await change(server, "d-1", summary="meanwhile")
            return found

        monkeypatch.setattr(ShownNouns, "after", changed_behind_its_back)
        async with server.stream(key, "deployment:d-1") as stream:
            assert (await stream.next()).data["summary"] == "meanwhile"


async def test_who_comes_back_is_told_what_changed_meanwhile_and_nothing_else(server: LiveServer) -> None:
    key = await server.a_key()
    async with server.stream(key, "deployments") as stream:
        await server.add(a_shop_deployment("d-1"))
        assert await stream.ids(1) == [("deployment", "d-1")]
    await server.add(a_shop_deployment("d-2"))

    async with server.stream(key, "deployments", last_id=stream.last_id) as again:
        await server.add(a_shop_deployment("d-3"))

        assert {id for _, id in await again.ids(2)} == {"d-2", "d-3"}


NEWS = {("deployment", "d-3"), ("reset", None)}


async def test_who_comes_back_after_a_restart_misses_nothing(url: str, tmp_path: Path) -> None:
    async with a_live_server(url, tmp_path) as server:
        key = await server.a_key()
        await server.add(a_shop_deployment())
        await log(server, 1, 2)
        async with server.stream(key, "deployments", "log:d-1/s") as stream:
            await server.add(a_shop_deployment("d-2"))
            told = [event.name for event in await stream.take(2)]
        await server.add(a_shop_deployment("d-3"))
        await log(server, 3)

    async with (
        a_live_server(url, tmp_path) as server,
        server.stream(key, "deployments", "log:d-1/s", last_id=stream.last_id) as again,
    ):
        events = await again.take(2)
        # PostgreSQL knows what changed, and repeats what was stored while older transactions were under way anywhere; a
        # server on SQLite has forgotten it, and says that all of it is to be loaded again. The log may come before
        # that or after it.
        while not has_all(events):
            events.append(await again.next())

    assert sorted(told) == ["deployment", "log"]
    logs = (event for event in events if event.name == "log")
    assert [block["index"] for event in logs for block in event.data["blocks"]] == [3]


def has_all(events: Sequence[ServerEvent]) -> bool:
    told = {(event.name, event.data.get("id")) for event in events}
    return not told.isdisjoint(NEWS) and any(name == "log" for name, _ in told)


async def test_who_comes_back_from_nowhere_is_told_to_load_everything_again(server: LiveServer) -> None:
    key = await server.a_key()
    for last_id in ("nonsense", "900000000:900000000:", f"{uuid.uuid4().hex}.3", "~"):
        async with server.stream(key, "deployments", last_id=last_id) as stream:
            assert (await stream.next()).name == "reset"
            await server.add(a_shop_deployment(f"d-{last_id}"))
            assert (await stream.next()).name == "deployment"


async def test_a_log_is_told_from_its_beginning_and_as_it_grows(server: LiveServer) -> None:
    key = await server.a_key()
    await server.add(a_shop_deployment())
    await log(server, 7, 8)
    async with server.stream(key, "log:d-1/s") as stream:
        told = [await stream.next()]
        await log(server, 9)
        told.append(await stream.next())
        await log(server, completed=True)
        told.append(await stream.next())

    assert [event.name for event in told] == ["log"] * 3
    assert [[block["index"] for block in event.data["blocks"]] for event in told] == [[7, 8], [9], []]
    assert [(event.data["next_index"], event.data["completed"]) for event in told] == [
        (9, False),
        (10, False),
        (10, True),
    ]


async def test_the_largest_blocks_of_a_log_are_streamed_whole(server: LiveServer) -> None:
    key = await server.a_key()
    await server.add(a_shop_deployment())
    blocks = [LogBlock(index=index, log=f"{index}" * LOG_TEXT, created_at=NOW) for index in (1, 2)]
    await server.logs.append(StageLogKey("d-1", "s", 0), blocks)
    async with server.stream(key, "log:d-1/s") as stream:
        told = [await stream.next(), await stream.next()]

    assert [
        block["log"] == blocks[number].log for number, each in enumerate(told) for block in each.data["blocks"]
    ] == [
        True,
        True,
    ]


async def test_a_log_goes_on_where_the_client_was_and_late_blocks_are_told(server: LiveServer) -> None:
    key = await server.a_key()
    await server.add(a_shop_deployment())
    await log(server, 1, 2, 5)
    async with server.stream(key, "log:d-1/s") as stream:
        await stream.next()
    await log(server, 3, 6)

    async with server.stream(key, "log:d-1/s", last_id=stream.last_id) as again:
        told = [await again.next()]
        await log(server, 3, 4, 5)
        told.append(await again.next())

    assert [[block["index"] for block in event.data["blocks"]] for event in told] == [[3, 6], [4]]


async def test_a_stage_that_is_run_again_begins_its_log_anew(server: LiveServer) -> None:
    key = await server.a_key()
    await server.add(a_shop_deployment())
    await log(server, 1)
    async with server.stream(key, "log:d-1/s") as stream:
        await stream.next()
        await log(server, 1, run=1)
        await change(server, "d-1", stages=(msgspec.structs.replace(STAGES[0], retried_count=1),))
        told = await stream.next()

    assert (told.data["retried_count"], [block["index"] for block in told.data["blocks"]]) == (1, [1])


async def test_things_of_other_projects_are_not_told(server: LiveServer) -> None:
    key = await server.a_key()
    async with server.stream(key, "deployments") as stream:
        await server.add(a_shop_deployment("theirs", project_id="bank"), a_shop_deployment("ours"))

        assert await stream.ids(1) == [("deployment", "ours")]


@pytest.mark.parametrize(
    ("topics", "status", "said"),
    [
        pytest.param([], 400, "topic is given 0 times", id="none"),
        pytest.param([f"deployment:{n}" for n in range(33)], 400, "topic is given 33 times", id="too many"),
        pytest.param(["deploiments"], 400, "did you mean 'deployments'", id="a wrong word"),
        pytest.param(["log:d-1"], 400, "log:DEPLOYMENT/STAGE", id="half a log"),
        pytest.param(["deployment:x"], 404, "no deployment 'x'", id="nothing there"),
        pytest.param(["log:d-1/x"], 404, "no stage 'x'", id="no such stage"),
        pytest.param(["deployment:theirs"], 403, "does not belong to project 'shop'", id="another project's"),
        pytest.param(["log:theirs/s"], 403, "does not belong to project 'shop'", id="another project's log"),
    ],
)
async def test_what_cannot_be_told_is_refused_before_the_stream_begins(
    tmp_path: Path, topics: list[str], status: int, said: str
) -> None:
    async with a_live_server(f"sqlite:///{tmp_path}/fairway.db", tmp_path) as server:
        key = await server.a_key()
        await server.add(a_shop_deployment(), a_shop_deployment("theirs", project_id="bank"))

        answer = await server.client.get(
            "/api/v1/stream", params={"topic": topics}, headers={"authorization": f"Bearer {key}"}
        )

    assert (answer.status_code, said in answer.json()["error"]["message"]) == (status, True)


async def test_a_key_that_is_disabled_ends_its_streams_at_once_and_no_other(server: LiveServer) -> None:
    key, other = await server.a_key(), await server.a_key("key-2")
    async with server.stream(key, "deployments") as ended, server.stream(other, "deployments") as going:
        await server.store.write(
            lambda connection: api_keys.update_api_key(
                connection, "key-1", lambda found: msgspec.structs.replace(found, disabled=True)
            )
        )
        farewell = await ended.next()
        await server.add(a_shop_deployment())

        assert (farewell.name, "no valid API key" in farewell.data["reason"]) == ("goodbye", True)
        with pytest.raises(StopAsyncIteration):
            await ended.next()
        assert await going.ids(1) == [("deployment", "d-1")]


async def test_a_server_that_stops_says_goodbye(server: LiveServer) -> None:
    key = await server.a_key()
    async with server.stream(key, "deployments") as stream:
        server.feed.close()

        assert await stream.next() == ServerEvent("goodbye", {"reason": "the server stops; connect again"})
        with pytest.raises(StopAsyncIteration):
            await stream.next()


async def test_a_quiet_stream_gives_signs_of_life_with_the_place_to_go_on_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_module, "HEARTBEAT_SECONDS", 0.05)
    async with a_live_server(f"sqlite:///{tmp_path}/fairway.db", tmp_path) as server:
        headers = {"authorization": f"Bearer {await server.a_key()}"}
        async with server.client.stream("GET", "/api/v1/stream?topic=deployments", headers=headers) as response:
            await server.add(an_agent())
            lines = response.aiter_lines()
            while await asyncio.wait_for(anext(lines), PATIENCE_SECONDS) != f"id: {server.feed.position}":
                continue


async def test_nobody_has_more_than_their_share_of_streams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_module, "MOST_STREAMS", 1)
    async with a_live_server(f"sqlite:///{tmp_path}/fairway.db", tmp_path) as server:
        key, other = await server.a_key(), await server.a_key("key-2")
        async with server.stream(key, "deployments"), server.stream(other, "deployments"):
            refused = await server.client.get(
                "/api/v1/stream", params={"topic": "agents"}, headers={"authorization": f"Bearer {key}"}
            )
        assert refused.status_code == 429
        async with asyncio.timeout(PATIENCE_SECONDS):
            while server.feed.watcher_count:
                await server.client.get("/healthz")
        async with server.stream(key, "deployments"):
            pass


async def test_a_crowd_that_comes_at_once_gets_no_more_than_its_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_module, "MOST_STREAMS", 2)
    async with a_live_server(f"sqlite:///{tmp_path}/fairway.db", tmp_path) as server:
        key = await server.a_key()
        asked = {"params": {"topic": "agents"}, "headers": {"authorization": f"Bearer {key}"}}
        crowd = [asyncio.create_task(anext_text(server, asked)) for _ in range(8)]
        async with asyncio.timeout(PATIENCE_SECONDS):
            while sum(task.done() for task in crowd) < 6:
                await server.client.get("/healthz")

        ended = [await task for task in crowd if task.done()]
        assert all("goodbye" in text or "too_many" in text or "streams already" in text for text in ended)
        assert server.feed.watcher_count == 2
        for task in crowd:
            task.cancel()
        await asyncio.gather(*crowd, return_exceptions=True)


async def anext_text(server: LiveServer, asked: dict[str, Any]) -> str:
    """Everything that a stream says until it ends."""
    async with server.client.stream("GET", "/api/v1/stream", **asked) as response:
        return (await response.aread()).decode()


async def test_a_deployment_is_read_once_for_all_who_watch_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with a_live_server(f"sqlite:///{tmp_path}/fairway.db", tmp_path) as server:
        key = await server.a_key()
        await server.add(a_shop_deployment())
        async with server.stream(key, "deployments") as one, server.stream(key, "deployments") as two:
            reads: list[object] = []
            read = server.store.read

            async def counted(work: Callable[[Connection], Any]) -> Any:
                reads.append(work)
                return await read(work)

            monkeypatch.setattr(server.store, "read", counted)
            await change(server, "d-1", summary="changed")

            assert await one.ids(1) == await two.ids(1)
            assert len(reads) == 1
