"""Whatever happens to its connection, a client that follows the stream ends up showing what the store has."""

import asyncio
import uuid
from collections.abc import Awaitable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from fairway.model.log_block import LogBlock
from fairway.server.logs import StageLogKey
from fairway.server.store import deployments
from tests.integration.server.http_api.streaming import EventStream, LiveServer, a_live_server
from tests.integration.server.http_api.test_stream import STAGES, a_shop_deployment
from tests.integration.server.postgres import a_database, a_postgres_server
from tests.unit.model.builders import NOW

#: What happens, and to which thing, at which index, at which replica.
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["change", "scatter", "append", "run again", "read", "reconnect", "reconnect", "stay away"]),
        st.integers(0, 12),
    ),
    min_size=6,
    max_size=16,
)
FEW = settings(
    max_examples=8, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], database=None
)


@pytest.fixture(scope="module")
def postgres_server() -> Iterator[str]:
    with a_postgres_server() as server:
        yield server


def test_a_client_of_one_server_shows_what_the_store_has(tmp_path: Path) -> None:
    follow_all([f"sqlite:///{tmp_path}/fairway.db"], tmp_path)


def test_a_client_of_two_replicas_shows_what_the_store_has(postgres_server: str, tmp_path: Path) -> None:
    url = a_database(postgres_server)
    follow_all([url, url], tmp_path)


def follow_all(urls: Sequence[str], folder: Path) -> None:
    """Follow the same servers through everything that hypothesis thinks of."""
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()
        # A short memory, so that some come back too late.
        opened = [stack.enter_async_context(a_live_server(url, folder, remembered=4)) for url in urls]
        servers = [runner.run(_awaited(each)) for each in opened]
        key = runner.run(servers[0].a_key())

        @FEW
        @given(STEPS)
        @example([("read", 0), ("append", 1), ("append", 3)])
        @example([("read", 0), ("change", 0), ("append", 5), ("reconnect", 1), ("reconnect", 0)])
        @example([("read", 0), ("run again", 0), ("append", 1), ("reconnect", 1), ("append", 0)])
        def follow(steps: list[tuple[str, int]]) -> None:
            runner.run(followed(servers, key, steps))

        try:
            follow()
        finally:
            runner.run(stack.aclose())


async def _awaited(awaitable: Awaitable[LiveServer]) -> LiveServer:
    return await awaitable


async def followed(servers: list[LiveServer], key: str, steps: Sequence[tuple[str, int]]) -> None:
    client = Client(servers, key)
    await servers[0].add(*(a_shop_deployment(id) for id in client.ids))
    await client.connect(0)
    await client.load()
    await client.do("scatter", 12, "")
    for number, (step, argument) in enumerate(steps):
        await client.do(step, argument, str(number))
    await client.read_everything()
    await client.disconnect()

    shown, logged = await client.stored()
    assert client.summaries == shown
    assert client.lines == logged


class Client:
    """A page that shows deployments and a log, and how it is disturbed."""

    def __init__(self, servers: list[LiveServer], key: str) -> None:
        self._servers = servers
        self._key = key
        name = uuid.uuid4().hex
        self.ids = [f"{name}-{number}" for number in range(6)]
        self._topics = ("deployments", f"log:{self.ids[0]}/s")
        self._connection = AsyncExitStack()
        self._stream: EventStream | None = None
        self._last_id = ""
        self._marks = 0
        #: How often the stage has been run again, and of which run the client shows the log.
        self._run = self._shown_run = 0
        self.summaries: dict[str, str] = {}
        #: Every block that was told, so that one told twice shows.
        self.lines: list[int] = []

    async def do(self, step: str, argument: int, text: str) -> None:
        match step:
            case "change":
                await self._change(self.ids[argument % 5], argument, summary=text)
            case "scatter":
                # Every other block: those in between come late, or never.
                await self._append(range(0, 2 * argument, 2), argument)
            case "append":
                await self._append([argument], argument)
            case "run again":
                self._run += 1
                stages = (msgspec.structs.replace(STAGES[0], retried_count=self._run),)
                await self._change(self.ids[0], argument, stages=stages)
            case "read":
                await self.read_everything()
            case "reconnect":
                await self.disconnect()
                await self.connect(argument)
            case "stay away":
                await self.disconnect()

    async def connect(self, server: int) -> None:
        replica = self._servers[server % len(self._servers)]
        asked = replica.stream(self._key, *self._topics, last_id=self._last_id)
        self._stream = await self._connection.enter_async_context(asked)

    async def disconnect(self) -> None:
        if self._stream is not None:
            self._last_id = self._stream.last_id
            self._stream = None
            await self._connection.aclose()

    async def load(self) -> None:
        self.summaries, _ = await self.stored()

    async def read_everything(self) -> None:
        """Read until what is changed now at each replica shows up: each tells in order what happened there."""
        if self._stream is None:
            await self.connect(self._marks)
        assert self._stream is not None
        self._marks += 1
        mark = f"mark {self._marks}"
        await self._change(self.ids[-1], 0, summary=mark)
        marks = {100 * self._marks + server: server for server in range(len(self._servers))}
        for index, server in marks.items():
            await self._append([index], server)
        while self.summaries.get(self.ids[-1]) != mark or not marks.keys() <= set(self.lines):
            await self._take(*await self._stream.next())

    async def stored(self) -> tuple[dict[str, str], list[int]]:
        """What the store has."""
        headers = {"authorization": f"Bearer {self._key}"}
        client = self._servers[0].client
        shown = [await client.get(f"/api/v1/deployments/{id}", headers=headers) for id in self.ids]
        log = await self._servers[0].logs.read(StageLogKey(self.ids[0], "s", self._run))
        summaries = {id: answer.json()["summary"] for id, answer in zip(self.ids, shown, strict=True)}
        return summaries, [block.index for block in log.blocks]

    async def _append(self, indexes: Iterable[int], server: int) -> None:
        blocks = [LogBlock(index=index, log=f"line {index}", created_at=NOW) for index in indexes]
        replica = self._servers[server % len(self._servers)]
        await replica.logs.append(StageLogKey(self.ids[0], "s", self._run), blocks)

    async def _change(self, id: str, server: int, **fields: object) -> None:
        await self._servers[server % len(self._servers)].store.write(
            lambda connection: deployments.update_deployment(
                connection, id, lambda found: msgspec.structs.replace(found, **fields)
            )
        )

    async def _take(self, name: str, data: Any) -> None:
        match name:
            case "reset":
                await self.load()
            case "deployment" if data["id"] in self.ids:
                self.summaries[data["id"]] = data["summary"]
            case "log":
                told = [block["index"] for block in data["blocks"]]
                kept = self.lines if data["retried_count"] == self._shown_run else []
                self.lines, self._shown_run = sorted([*kept, *told]), data["retried_count"]
