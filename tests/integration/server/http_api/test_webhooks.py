"""Webhooks over HTTP, as a person makes one and a Git host calls it."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from fairway.model.agent import AgentProfile
from fairway.model.api_key import APIKeyRole
from fairway.model.application import Repository
from fairway.server.store.audit import AuditFilter, list_audit_records
from fairway.server.store.page import PageRequest
from fairway.server.webhooks.reception import MOST_BODY
from tests.integration.server.http_api.serving import Serving, serving
from tests.integration.server.store.nouns import an_agent
from tests.unit.server.webhooks import deliveries
from tests.unit.server.webhooks.deliveries import GITHUB_PUSH

BODY = json.dumps(GITHUB_PUSH).encode()


async def made(served: Serving, provider: str = "github") -> dict[str, Any]:
    answer = await served.ask("POST", "/api/v1/webhooks", json={"provider": provider, "name": "pushes"})
    assert answer.status_code == 201, answer.text
    created: dict[str, Any] = answer.json()
    return created


async def deliver(served: Serving, url: str, headers: dict[str, str], body: bytes = BODY) -> httpx.Response:
    return await served.client.post(url, content=body, headers=headers)


async def test_a_webhook_that_was_made_receives_pushes(tmp_path: Path) -> None:
    profile = AgentProfile(repositories=(Repository(id="r", remote="git@git.acme.dev:acme/shop.git"),))
    async with serving(tmp_path, APIKeyRole.ADMIN) as served:
        await served.add(an_agent(profile=profile))
        created = await made(served)

        answer = await deliver(served, created["url"], deliveries.github(created["secret"], BODY))

    assert (answer.status_code, answer.json()) == (200, {"pushes": 1, "agents": 1})


async def test_the_secret_is_shown_once(tmp_path: Path) -> None:
    async with serving(tmp_path, APIKeyRole.ADMIN) as served:
        created = await made(served)

        listed = await served.get("/api/v1/webhooks")

    assert listed.json() == {"items": [created["webhook"]]}
    assert created["secret"] not in listed.text
    assert created["webhook"]["url"] == created["url"]


async def test_a_deleted_webhook_receives_nothing(tmp_path: Path) -> None:
    async with serving(tmp_path, APIKeyRole.ADMIN) as served:
        created = await made(served)
        deleted = await served.ask("DELETE", f"/api/v1/webhooks/{created['webhook']['id']}")
        again = await served.ask("DELETE", f"/api/v1/webhooks/{created['webhook']['id']}")

        answer = await deliver(served, created["url"], deliveries.github(created["secret"], BODY))

    assert (deleted.status_code, again.status_code, answer.status_code) == (204, 404, 401)


async def test_making_and_deleting_leave_a_record_without_the_secret(tmp_path: Path) -> None:
    async with serving(tmp_path, APIKeyRole.ADMIN) as served:
        created = await made(served)
        await served.ask("DELETE", f"/api/v1/webhooks/{created['webhook']['id']}")

        filter = AuditFilter(project_ids=("shop",))
        page = await served.store.read(lambda connection: list_audit_records(connection, filter, PageRequest()))

    assert {record.action for record in page.items} == {"webhook.delete", "webhook.create"}
    assert created["secret"] not in repr(page)


@pytest.mark.parametrize("role", [APIKeyRole.READ_ONLY, APIKeyRole.READ_WRITE])
async def test_only_an_administrator_deals_with_webhooks(role: APIKeyRole, tmp_path: Path) -> None:
    async with serving(tmp_path, role) as served:
        listed = await served.get("/api/v1/webhooks")
        created = await served.ask("POST", "/api/v1/webhooks", json={"provider": "github", "name": "x"})

    assert (listed.status_code, created.status_code) == (403, 403)


async def test_who_is_not_genuine_does_not_learn_why(tmp_path: Path) -> None:
    async with serving(tmp_path, APIKeyRole.ADMIN) as served:
        url = (await made(served))["url"]
        answers = [
            await deliver(served, url, deliveries.github("wrong", BODY)),
            await deliver(served, url, {"x-github-event": "push"}),
            await deliver(served, f"{url}x", deliveries.github("wrong", BODY)),
            await deliver(served, "/webhooks/%00", deliveries.github("wrong", BODY)),
        ]

    assert {answer.status_code for answer in answers} == {401}
    assert len({answer.text for answer in answers}) == 1


async def test_genuine_nonsense_is_a_bad_request(tmp_path: Path) -> None:
    async with serving(tmp_path, APIKeyRole.ADMIN) as served:
        created = await made(served)

        answer = await deliver(served, created["url"], deliveries.github(created["secret"], b"[]"), b"[]")

    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_argument")


async def test_a_body_that_is_too_large_is_refused_before_it_is_sent(tmp_path: Path) -> None:
    async with serving(tmp_path, APIKeyRole.ADMIN) as served:
        id, port = (await made(served))["webhook"]["id"], served.client.base_url.port
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"POST /webhooks/{id} HTTP/1.1\r\nHost: x\r\nContent-Length: {MOST_BODY + 1}\r\n\r\n".encode())

        answer = await reader.read()
        writer.close()

    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"body_too_long" in answer


async def test_who_fails_too_often_is_told_when_to_come_back(tmp_path: Path) -> None:
    async with serving(tmp_path, APIKeyRole.ADMIN) as served:
        url = (await made(served))["url"]
        for _ in range(20):
            await deliver(served, url, {})

        answer = await deliver(served, url, {})

    assert (answer.status_code, answer.headers["retry-after"]) == (429, "6")


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
async def test_the_receiving_end_takes_only_posts(method: str, tmp_path: Path) -> None:
    async with serving(tmp_path, APIKeyRole.ADMIN) as served:
        answer = await served.client.request(method, (await made(served))["url"])

    assert answer.status_code == 405
