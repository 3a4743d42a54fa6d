"""Two real servers on one PostgreSQL and one place for logs: it does not matter which one somebody talks to."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import httpx
import pytest
from grpc import aio

from fairway.rpc.agent_api import AgentStub, HintStub, hint_messages
from fairway.rpc.agent_api import messages as m
from tests.acceptance.server.processes import ServerProcess, a_server
from tests.acceptance.server.reporting import Kept, an_account, reporting
from tests.integration.server.http_api.streaming import EventStream, ServerEvent
from tests.integration.server.postgres import a_database, a_postgres_server
from tests.patience import PATIENCE_SECONDS


class Replicas:
    """Two servers, and the key with which they were begun."""

    def __init__(self, one: ServerProcess, other: ServerProcess) -> None:
        self.one = one
        self.other = other
        self.api_key = one.api_key

    @asynccontextmanager
    async def client(self, server: ServerProcess) -> AsyncIterator[httpx.AsyncClient]:
        headers = {"authorization": f"Bearer {self.api_key}"}
        async with httpx.AsyncClient(
            base_url=server.http, headers=headers, trust_env=False, timeout=PATIENCE_SECONDS
        ) as client:
            yield client

    @asynccontextmanager
    async def stream(self, server: ServerProcess, *topics: str, last_id: str = "") -> AsyncIterator[EventStream]:
        headers = {"last-event-id": last_id} if last_id else {}
        params = {"topic": list(topics)}
        async with (
            self.client(server) as client,
            client.stream("GET", "/api/v1/stream", params=params, headers=headers) as response,
        ):
            stream = EventStream(response)
            assert (await stream.next()).name == "ready"
            yield stream


@pytest.fixture
def replicas(tmp_path: Path) -> Iterator[Replicas]:
    with a_postgres_server() as postgres, ExitStack() as servers:
        shared = ("--database", a_database(postgres), "--logs", tmp_path / "logs")
        one = servers.enter_context(a_server(tmp_path / "one", *shared))
        yield Replicas(one, servers.enter_context(a_server(tmp_path / "other", *shared)))


async def test_what_is_asked_for_at_one_is_heard_at_the_other(replicas: Replicas) -> None:
    account = await an_account(replicas.one, replicas.api_key)
    topics = ("commands", f"application:{account.application_id}")
    async with (
        aio.insecure_channel(replicas.other.address) as channel,
        replicas.client(replicas.one) as client,
        replicas.client(replicas.other) as other,
        other.stream("GET", "/api/v1/stream", params={"topic": list(topics)}) as response,
    ):
        stream = EventStream(response)
        first = await stream.take(2)
        hints = HintStub(channel).Watch(hint_messages.WatchRequest(), metadata=account.metadata)
        await hinted(hints, hint_messages.Hint.SUBJECT_UNSPECIFIED)

        asked = await client.post(f"/api/v1/applications/{account.application_id}/sync", json={})
        await hinted(hints, hint_messages.Hint.SUBJECT_COMMANDS)
        # That the application was made may be told once more: a replica reads what is stored before it hears of it.
        while (told := await stream.next()).name == "application":
            continue

    assert [event.name for event in first] == ["application", "ready"]
    assert (told.name, told.data["id"]) == ("command", asked.json()["id"])


async def test_an_agent_that_is_disabled_at_one_is_refused_at_the_other(replicas: Replicas) -> None:
    account = await an_account(replicas.one, replicas.api_key)
    async with (
        aio.insecure_channel(replicas.other.address) as channel,
        replicas.client(replicas.one) as client,
        replicas.stream(replicas.other, "agents") as stream,
    ):
        agent = AgentStub(channel)
        await agent.ListUnhandledCommands(m.ListUnhandledCommandsRequest(), metadata=account.metadata)

        answer = await client.post(f"/api/v1/agents/{account.agent_id}/disable")
        assert answer.status_code == 201 or answer.status_code == 200, answer.text
        while not (await stream.next()).data.get("disabled"):
            continue

        with pytest.raises(aio.AioRpcError) as refused:
            await agent.ListUnhandledCommands(m.ListUnhandledCommandsRequest(), metadata=account.metadata)
    assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED


async def test_one_is_killed_in_the_middle_of_everything_and_nothing_is_lost(replicas: Replicas) -> None:
    accounts = [await an_account(replicas.one, replicas.api_key, name) for name in ("one", "two", "three")]
    view = View()
    async with reporting(accounts, [replicas.one.address, replicas.other.address]) as kept:
        async with replicas.stream(replicas.one, "deployments") as stream:
            watching = asyncio.create_task(view.follow(stream))
            await kept.after(60)
            replicas.one.kill()
            # What a client hears when its server is gone, or that it hears no more.
            await asyncio.wait([watching])
        async with replicas.stream(replicas.other, "deployments", last_id=stream.last_id) as again:
            watching = asyncio.create_task(view.follow(again))
            await kept.after(60)
            await view.until(await statuses_of(replicas, kept))
            watching.cancel()

    assert await kept.missing(replicas.other.address, replicas.api_key) == []
    assert view.resets == 0


class View:
    """What a page shows that loaded nothing but follows the stream."""

    def __init__(self) -> None:
        self.statuses: dict[str, str] = {}
        self.resets = 0
        self._changed = asyncio.Condition()

    async def follow(self, stream: EventStream) -> None:
        try:
            while True:
                await self._take(await stream.next())
        except (httpx.HTTPError, StopAsyncIteration, TimeoutError):
            return

    async def until(self, known: dict[str, str]) -> None:
        """Wait until each of these has come as far as that, or farther."""
        async with self._changed, asyncio.timeout(PATIENCE_SECONDS):
            await self._changed.wait_for(lambda: all(self._is_as_far(id, status) for id, status in known.items()))

    def _is_as_far(self, id: str, status: str) -> bool:
        return ORDER.index(self.statuses.get(id, "unknown")) >= ORDER.index(status)

    async def _take(self, event: ServerEvent) -> None:
        async with self._changed:
            if event.name == "reset":
                self.resets += 1
            elif event.name == "deployment":
                self.statuses[event.data["id"]] = event.data["status"]
            self._changed.notify_all()


ORDER = ["unknown", "pending", "planned", "running", "succeeded"]


async def statuses_of(replicas: Replicas, kept: Kept) -> dict[str, str]:
    """How each deployment stands that was acknowledged so far."""
    async with replicas.client(replicas.other) as client:
        found = [await client.get(f"/api/v1/deployments/{id}") for id in tuple(kept.standing)]
    shown: list[dict[str, Any]] = [json.loads(answer.text) for answer in found]
    return {deployment["id"]: deployment["status"] for deployment in shown}


async def hinted(
    stream: aio.UnaryStreamCall[hint_messages.WatchRequest, hint_messages.Hint], subject: hint_messages.Hint.Subject
) -> None:
    """Wait for a hint of this subject."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            hint = await stream.read()
            assert isinstance(hint, hint_messages.Hint), "the stream has ended"
            if hint.subject == subject:
                return
