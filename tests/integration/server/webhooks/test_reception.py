"""Deliveries over a real store: which agents are told, what is refused, and what it costs."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from fairway.clock import FakeClock
from fairway.model.agent import Agent, AgentProfile
from fairway.model.application import Repository
from fairway.server.hints import HintTopic
from fairway.server.status_codes import BadCredentials
from fairway.server.store import agents, webhooks
from fairway.server.store.store import Store
from fairway.server.webhooks.delivery import UnreadableDelivery
from fairway.server.webhooks.providers import ProviderName
from fairway.server.webhooks.reception import (
    MOST_BODY,
    BusyReception,
    Received,
    Reception,
    Request,
    SlowDelivery,
    TooLargeDelivery,
    TooManyDeliveries,
)
from fairway.server.webhooks.webhook import Webhook
from tests.integration.server.recorded_hints import RecordedHints
from tests.integration.server.store.nouns import keep
from tests.patience import PATIENCE_SECONDS
from tests.unit.model.builders import NOW
from tests.unit.server.webhooks import deliveries
from tests.unit.server.webhooks.deliveries import GENERIC_PUSH, GITHUB_PUSH, SECRET, WAYS, Headers


class Post:
    """A reception with one webhook, and who hears of what it receives."""

    def __init__(self, store: Store, provider: ProviderName, secret: str) -> None:
        self.store = store
        self.clock = FakeClock(NOW)
        self.hints = RecordedHints()
        self.reception = Reception(store, self.hints, self.clock, patience=PATIENCE_SECONDS)
        self.webhook = Webhook(
            id="hook-1",
            project_id="shop",
            name="pushes",
            provider=provider,
            secret=secret,
            creator="ada",
            created_at=NOW,
        )

    async def send(self, sent: bytes | dict[str, Any], headers: Headers, id: str = "hook-1") -> Received:
        body = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
        return await self.reception.receive(Request(id, headers, "203.0.113.9", in_chunks(body)))

    async def send_push(self, secret: str = SECRET, id: str = "hook-1") -> Received:
        body = json.dumps(GITHUB_PUSH).encode()
        return await self.send(body, deliveries.github(secret, body), id)


async def in_chunks(body: bytes, size: int = 64 * 1024) -> AsyncIterator[bytes]:
    for start in range(0, len(body), size):
        yield body[start : start + size]


@asynccontextmanager
async def a_post(
    folder: Path, provider: ProviderName = ProviderName.GITHUB, secret: str = SECRET
) -> AsyncIterator[Post]:
    store = await Store.open(f"sqlite:///{folder / 'fairway.db'}")
    post = Post(store, provider, secret)
    await store.write(lambda connection: webhooks.insert_webhook(connection, post.webhook))
    try:
        yield post
    finally:
        await store.close()


def an_agent(id: str, *remotes: str, project_id: str = "shop", disabled: bool = False) -> Agent:
    repositories = tuple(Repository(id=f"repo-{number}", remote=remote) for number, remote in enumerate(remotes))
    profile = AgentProfile(repositories=repositories)
    return Agent(
        id=id, name=id, project_id=project_id, created_at=NOW, updated_at=NOW, profile=profile, disabled=disabled
    )


async def add(store: Store, *found: Agent) -> None:
    await keep(store, agents.insert_agent, *found)


@pytest.mark.parametrize("way", list(WAYS))
async def test_a_push_is_told_to_exactly_the_agents_that_have_the_repository(way: str, tmp_path: Path) -> None:
    provider, secret, sent, sign = WAYS[way]
    body = json.dumps(sent).encode()
    async with a_post(tmp_path, provider, secret) as post:
        server_ssh = "ssh://git@git.acme.dev:7999/acme/shop.git"
        spelt = server_ssh if way == "Bitbucket Data Center" else "git@GIT.acme.dev:acme/shop"
        await add(
            post.store,
            an_agent("by-ssh", "git@git.acme.dev:acme/other.git", spelt),
            an_agent("other-repository", "https://git.acme.dev/acme/shop-two"),
            an_agent("other-project", spelt, project_id="other"),
            an_agent("disabled", spelt, disabled=True),
            an_agent("without"),
        )

        received = await post.send(body, sign(secret, body))

    assert received.agents == 1
    assert post.hints.published == [("by-ssh", HintTopic.REPOSITORY)]


@pytest.mark.parametrize(
    ("id", "secret"),
    [
        pytest.param("hook-1", "another", id="wrongly signed"),
        pytest.param("hook-2", SECRET, id="unknown"),
        pytest.param("hook\0", SECRET, id="no id at all"),
        pytest.param("' or 1=1 --", SECRET, id="SQL"),
        pytest.param("höök", SECRET, id="not ASCII"),
    ],
)
async def test_what_is_not_genuine_is_refused_in_the_same_words(id: str, secret: str, tmp_path: Path) -> None:
    async with a_post(tmp_path) as post:
        await add(post.store, an_agent("agent", deliveries.REMOTE))

        with pytest.raises(BadCredentials) as refusal:
            await post.send_push(secret, id)

    assert str(refusal.value) == "there is no such webhook, or the delivery is not signed with its secret"
    assert post.hints.published == []


async def test_a_delivery_for_another_provider_is_refused(tmp_path: Path) -> None:
    async with a_post(tmp_path, ProviderName.BITBUCKET) as post:
        with pytest.raises(BadCredentials):
            await post.send_push()


async def test_genuine_nonsense_is_said_to_be_that(tmp_path: Path) -> None:
    async with a_post(tmp_path) as post:
        for body in (b"", b"{", b"[]", b"\xff" * 100, b'{"ref": 1}', b"[" * 100_000):
            with pytest.raises(UnreadableDelivery):
                await post.send(body, deliveries.github(SECRET, body))


async def test_a_ping_is_welcome(tmp_path: Path) -> None:
    async with a_post(tmp_path) as post:
        body = b'{"zen": "Speak like a human.", "hook_id": 1}'

        assert await post.send(body, deliveries.github(SECRET, body, event="ping")) == Received(0, 0)


async def test_a_delivery_with_its_time_counts_once(tmp_path: Path) -> None:
    body = json.dumps(GENERIC_PUSH).encode()
    headers = deliveries.generic_timed(SECRET, body)
    async with a_post(tmp_path, ProviderName.GENERIC) as post:
        await add(post.store, an_agent("agent", deliveries.REMOTE))

        first, again = await post.send(body, headers), await post.send(body, headers)
        post.clock.advance(timedelta(minutes=6))
        with pytest.raises(BadCredentials):
            await post.send(body, headers)

    assert (first, again) == (Received(1, 1), Received(0, 0))
    assert len(post.hints.published) == 1


async def test_a_body_that_is_too_large_is_left_unread(tmp_path: Path) -> None:
    read = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal read
        while True:
            read += 1024 * 1024
            yield b"x" * (1024 * 1024)

    async with a_post(tmp_path) as post:
        # More often than the budget of memory would allow, if it were not given back.
        for _ in range(3):
            with pytest.raises(TooLargeDelivery):
                await post.reception.receive(Request("hook-1", {}, "203.0.113.9", endless()))

    assert read <= 3 * (MOST_BODY + 1024 * 1024)


async def test_a_body_of_the_largest_size_is_taken(tmp_path: Path) -> None:
    body = json.dumps({**GITHUB_PUSH, "commits": ["x" * 1000] * 26_000}).encode()
    body += b" " * (MOST_BODY - len(body))
    async with a_post(tmp_path) as post:
        assert await post.send(body, deliveries.github(SECRET, body)) == Received(1, 0)


async def test_a_sender_that_dawdles_is_left(tmp_path: Path) -> None:
    async def slow() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.Event().wait()

    async with a_post(tmp_path) as post:
        post.reception._patience = 0.05
        with pytest.raises(SlowDelivery):
            await post.reception.receive(Request("hook-1", {}, "203.0.113.9", slow()))

        assert (await post.send_push()).pushes == 1


async def test_deliveries_under_way_share_one_budget_of_memory(tmp_path: Path) -> None:
    go_on = asyncio.Event()

    async def held() -> AsyncIterator[bytes]:
        yield b"x" * (24 * 1024 * 1024)
        await go_on.wait()

    async with a_post(tmp_path) as post:
        requests = [Request(f"hook-{number}", {}, "203.0.113.9", held()) for number in range(3)]
        under_way = [asyncio.create_task(post.reception.receive(request)) for request in requests[:2]]
        await asyncio.sleep(0)
        with pytest.raises(BusyReception):
            await post.reception.receive(requests[2])
        go_on.set()
        await asyncio.gather(*under_way, return_exceptions=True)

        assert (await post.send_push()).pushes == 1


async def test_who_fails_again_and_again_has_to_wait_and_others_do_not(tmp_path: Path) -> None:
    async with a_post(tmp_path) as post:
        for _ in range(20):
            with pytest.raises(BadCredentials):
                await post.send_push("wrong")
        with pytest.raises(TooManyDeliveries) as refusal:
            await post.send_push()
        body = json.dumps(GITHUB_PUSH).encode()
        elsewhere = Request("hook-1", deliveries.github(SECRET, body), "198.51.100.1", in_chunks(body))
        other = await post.reception.receive(elsewhere)
        post.clock.advance(timedelta(seconds=refusal.value.wait_seconds))
        later = await post.send_push()

    assert (other.pushes, later.pushes) == (1, 1)


async def test_a_webhook_takes_only_so_many(tmp_path: Path) -> None:
    async with a_post(tmp_path) as post:
        for _ in range(100):
            await post.send_push()

        with pytest.raises(TooManyDeliveries):
            await post.send_push()
