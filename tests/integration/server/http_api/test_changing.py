"""What can be changed over HTTP: each route as it should be, refused, and misunderstood."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fairway.model.agent import AgentKey, AgentProfile, EncryptionKind, SecretEncryption
from fairway.model.api_key import APIKeyRole
from fairway.model.application import Application, GitPath, Repository
from fairway.model.deployment import DeploymentStatus
from fairway.model.event import Event, event_key
from fairway.model.stage import ManualOperation, StageStatus
from fairway.server.store.audit import AuditFilter, list_audit_records
from fairway.server.store.page import PageRequest
from tests.integration.server.http_api.serving import Serving, serving
from tests.integration.server.store.nouns import an_agent
from tests.unit.model.builders import NOW, a_deployment, a_stage, an_application

REPOSITORY = Repository(id="shop", remote="https://git.example.com/shop.git", branch="main")
AT = "2026-01-01T12:00:00Z"


async def with_nouns(served: Serving) -> None:
    """An agent, an application, and a deployment whose stages wait for people."""
    keys = (AgentKey(hash="#1", creator="ada", created_at=NOW),)
    encryption = SecretEncryption(kind=EncryptionKind.KEY_PAIR, public_key="PEM")
    profile = AgentProfile(repositories=(REPOSITORY,), secret_encryption=encryption)
    stages = (
        a_stage("ask", status=StageStatus.RUNNING, available_operation=ManualOperation.APPROVE),
        a_stage("look", status=StageStatus.RUNNING, available_operation=ManualOperation.SKIP),
    )
    await served.add(
        an_agent(keys=keys, profile=profile),
        an_application(labels={"env": "prod"}, git_path=GitPath(repository=REPOSITORY, path="apps/cart")),
        a_deployment(status=DeploymentStatus.RUNNING, stages=stages),
    )


def a_command(payload: dict[str, Any], **fields: Any) -> dict[str, Any]:
    known: dict[str, Any] = {
        "id": "new-1",
        "agent_id": "agent-1",
        "project_id": "shop",
        "payload": payload,
        "created_at": AT,
        "updated_at": AT,
        "commander": "key-1",
        "application_id": "a-1",
        "deployment_id": "",
        "stage_id": "",
        "status": "waiting",
        "metadata": {},
        "handled_at": None,
        "waiting_for": "agent near, which was never seen, to take the command",
    }
    return {**known, **fields}


def about_deployment(kind: str, stage_id: str = "", **payload: Any) -> dict[str, Any]:
    said = {"type": kind, "deployment_id": "d-1", **({"stage_id": stage_id} if stage_id else {}), **payload}
    return a_command(said, deployment_id="d-1", stage_id=stage_id)


CANCEL: dict[str, Any] = {"force_rollback": False, "force_no_rollback": False}


@pytest.mark.parametrize(
    ("path", "body", "command"),
    [
        pytest.param(
            "applications/a-1/sync",
            None,
            a_command({"type": "sync_application", "application_id": "a-1", "sync_strategy": "auto"}),
            id="sync",
        ),
        pytest.param(
            "applications/a-1/sync",
            {"strategy": "pipeline"},
            a_command({"type": "sync_application", "application_id": "a-1", "sync_strategy": "pipeline"}),
            id="sync through the pipeline",
        ),
        pytest.param("deployments/d-1/cancel", None, about_deployment("cancel_deployment", **CANCEL), id="cancel"),
        pytest.param(
            "deployments/d-1/cancel",
            {"rollback": "always"},
            about_deployment("cancel_deployment", **{**CANCEL, "force_rollback": True}),
            id="cancel and roll back",
        ),
        pytest.param(
            "deployments/d-1/cancel",
            {"rollback": "never"},
            about_deployment("cancel_deployment", **{**CANCEL, "force_no_rollback": True}),
            id="cancel without rollback",
        ),
        pytest.param(
            "deployments/d-1/stages/ask/approve", None, about_deployment("approve_stage", "ask"), id="approve"
        ),
        pytest.param("deployments/d-1/stages/look/skip", None, about_deployment("skip_stage", "look"), id="skip"),
        pytest.param(
            "agents/agent-1/restart",
            None,
            a_command({"type": "restart_agent", "agent_id": "agent-1"}, application_id=""),
            id="restart",
        ),
    ],
)
async def test_what_is_asked_of_an_agent_is_a_command_to_follow(
    tmp_path: Path, path: str, body: dict[str, str] | None, command: dict[str, Any]
) -> None:
    async with serving(tmp_path, APIKeyRole.READ_WRITE) as served:
        await with_nouns(served)

        answer = await served.ask("POST", f"/api/v1/{path}", **({"json": body} if body else {}))
        followed = await served.get("/api/v1/commands/new-1")
        listed = await served.get("/api/v1/commands?status=waiting")

    assert (answer.status_code, answer.json()) == (202, command)
    assert followed.json() == command
    assert listed.json() == {"items": [command], "next_cursor": ""}


async def test_an_application_is_registered_changed_switched_and_deleted(tmp_path: Path) -> None:
    body = {"name": "till", "agent_id": "agent-1", "repository_id": "shop", "path": "apps/till", "labels": {"a": "b"}}
    made = an_application(
        "new-1",
        name="till",
        git_path=GitPath(repository=REPOSITORY, path="apps/till", config_filename="app.pipecd.yaml"),
        labels={"a": "b"},
    )
    async with serving(tmp_path, APIKeyRole.READ_WRITE) as served:
        await with_nouns(served)

        added = await served.ask("POST", "/api/v1/applications", json=body)
        changed = await served.ask("PATCH", "/api/v1/applications/new-1", json={"description": "d", "kind": "ecs"})
        disabled = await served.ask("POST", "/api/v1/applications/new-1/disable")
        enabled = await served.ask("POST", "/api/v1/applications/new-1/enable")
        deleted = await served.ask("DELETE", "/api/v1/applications/new-1")
        again = await served.refusal("/api/v1/applications/new-1", "DELETE")

    assert (added.status_code, msgspec.json.decode(added.content, type=Application)) == (201, made)
    assert (changed.status_code, changed.json()["description"], changed.json()["kind"]) == (200, "d", "ecs")
    assert [(each.status_code, each.json()["disabled"]) for each in (disabled, enabled)] == [(200, True), (200, False)]
    assert (deleted.status_code, deleted.content) == (204, b"")
    assert again[:2] == (409, "failed_precondition")


async def test_a_key_of_an_agent_is_shown_once_and_replaced(tmp_path: Path) -> None:
    async with serving(tmp_path, APIKeyRole.READ_WRITE) as served:
        added = await served.ask("POST", "/api/v1/agents", json={"name": "far", "desc": "d"})
        only = await served.refusal("/api/v1/agents/new-1/keys/oldest", "DELETE")
        second = await served.ask("POST", "/api/v1/agents/new-1/keys")
        third = await served.refusal("/api/v1/agents/new-1/keys", "POST")
        dropped = await served.ask("DELETE", "/api/v1/agents/new-1/keys/oldest")
        shown = await served.get("/api/v1/agents/new-1")

    keys = [added.json()["key"], second.json()["key"]]
    assert (added.status_code, added.json()["agent"]) == (201, shown.json())
    assert (second.status_code, list(second.json())) == (201, ["key"])
    assert (dropped.status_code, only[0], third[0]) == (204, 409, 409)
    assert len({key for key in keys if len(key) > 20 and key not in shown.text}) == 2


async def test_an_agent_is_renamed_switched_and_its_public_key_shown(tmp_path: Path) -> None:
    async with serving(tmp_path, APIKeyRole.READ_WRITE) as served:
        await with_nouns(served)

        renamed = await served.ask("PATCH", "/api/v1/agents/agent-1", json={"name": "n", "desired_version": "v2"})
        disabled = await served.ask("POST", "/api/v1/agents/agent-1/disable")
        enabled = await served.ask("POST", "/api/v1/agents/agent-1/enable")
        key = await served.get("/api/v1/agents/agent-1/public-key")

    assert (renamed.status_code, renamed.json()["name"], renamed.json()["desired_version"]) == (200, "n", "v2")
    assert [each.json()["disabled"] for each in (disabled, enabled)] == [True, False]
    assert key.json() == {"kind": "key_pair", "public_key": "PEM"}


async def test_an_event_is_told_and_found(tmp_path: Path) -> None:
    body = {"name": "image", "data": "v2", "labels": {"app": "cart"}, "contexts": {"a": "b"}, "commit_hash": "c0"}
    told = Event(
        id="new-1",
        name="image",
        data="v2",
        project_id="shop",
        key=event_key("image", {"app": "cart"}),
        labels={"app": "cart"},
        contexts={"a": "b"},
        trigger_commit_hash="c0",
        created_at=NOW,
        updated_at=NOW,
    )
    async with serving(tmp_path, APIKeyRole.READ_WRITE) as served:
        answer = await served.ask("POST", "/api/v1/events", json=body)
        one = await served.get("/api/v1/events/new-1")
        fitting = await served.get("/api/v1/events?name=image&status=waiting&since=2026-01-01T12:00:00Z")
        later = await served.get("/api/v1/events?since=2026-01-01T14:00:00%2B01:00")

    assert (answer.status_code, msgspec.json.decode(answer.content, type=Event)) == (201, told)
    assert (one.json(), fitting.json()["items"], later.json()["items"]) == (answer.json(), [answer.json()], [])


async def test_a_key_is_made_shown_once_and_disabled(tmp_path: Path) -> None:
    async with serving(tmp_path, APIKeyRole.ADMIN) as served:
        made = await served.ask("POST", "/api/v1/api-keys", json={"name": "ci", "role": "read_only"})
        header = {"authorization": f"Bearer {made.json()['key']}"}
        works = await served.client.get("/api/v1/agents", headers=header)
        disabled = await served.ask("POST", "/api/v1/api-keys/new-1/disable")
        refused = await served.client.get("/api/v1/agents", headers=header)
        listed = await served.get("/api/v1/api-keys")

    assert (made.status_code, made.json()["api_key"]["id"], made.json()["api_key"]["role"]) == (
        201,
        "new-1",
        "read_only",
    )
    assert (works.status_code, disabled.json()["disabled"], refused.status_code) == (200, True, 401)
    assert [key["id"] for key in listed.json()["items"]] == ["key-1", "new-1"]
    assert "hash" not in made.text + listed.text + disabled.text


async def test_a_project_is_made_and_described(tmp_path: Path) -> None:
    async with serving(tmp_path, APIKeyRole.ADMIN) as served:
        made = await served.ask("POST", "/api/v1/projects", json={"id": "bank"})
        taken = await served.refusal("/api/v1/projects", "POST", json={"id": "bank"})
        described = await served.ask("PATCH", "/api/v1/projects/shop", json={"desc": "d"})
        listed = await served.get("/api/v1/projects")

    assert (made.status_code, made.json()) == (201, {"id": "bank", "created_at": AT, "updated_at": AT, "desc": ""})
    assert (taken[:2], described.json()["desc"]) == ((409, "already_exists"), "d")
    assert listed.json() == {"items": [described.json()]}


APPLICATION = {"name": "x", "agent_id": "agent-1", "repository_id": "shop", "path": "p"}
#: Every route that changes something, with a body that it takes.
CHANGES = [
    ("POST", "applications", APPLICATION),
    ("PATCH", "applications/a-1", {"name": "x"}),
    ("DELETE", "applications/a-1", None),
    ("POST", "applications/a-1/enable", None),
    ("POST", "applications/a-1/disable", None),
    ("POST", "applications/a-1/sync", {"strategy": "auto"}),
    ("POST", "deployments/d-1/cancel", {"rollback": "never"}),
    ("POST", "deployments/d-1/stages/ask/approve", None),
    ("POST", "deployments/d-1/stages/look/skip", None),
    ("POST", "agents", {"name": "x"}),
    ("PATCH", "agents/agent-1", {"name": "x"}),
    ("POST", "agents/agent-1/enable", None),
    ("POST", "agents/agent-1/disable", None),
    ("POST", "agents/agent-1/keys", None),
    ("DELETE", "agents/agent-1/keys/oldest", None),
    ("POST", "agents/agent-1/restart", None),
    ("POST", "agents/agent-1/release", None),
    ("POST", "events", {"name": "x", "data": "y"}),
    (
        "POST",
        "plan-previews",
        {"repository": REPOSITORY.remote, "head_branch": "x", "head_commit": "c0ffee", "base_branch": "main"},
    ),
    ("POST", "api-keys", {"name": "x", "role": "read_only"}),
    ("POST", "api-keys/key-1/disable", None),
    ("POST", "projects", {"id": "bank"}),
    ("PATCH", "projects/shop", {"desc": "x"}),
]


async def test_a_key_that_may_only_look_changes_nothing(tmp_path: Path) -> None:
    async with serving(tmp_path, APIKeyRole.READ_ONLY) as served:
        await with_nouns(served)

        refused = [await served.refusal(f"/api/v1/{path}", method, json=body) for method, path, body in with_bodies()]
        everything = AuditFilter(project_ids=("shop", ""))
        audited = await served.store.read(lambda c: list_audit_records(c, everything, PageRequest()))

    assert [each[:2] for each in refused] == [(403, "permission_denied")] * len(CHANGES)
    assert audited.items == ()


async def test_what_is_not_there_cannot_be_changed(tmp_path: Path) -> None:
    made_here = {"applications", "agents", "events", "plan-previews", "api-keys", "projects"}
    async with serving(tmp_path, APIKeyRole.ADMIN) as served:
        changes = [(method, path, body) for method, path, body in with_bodies() if path not in made_here]
        changes = [
            (method, path, body)
            for method, path, body in changes
            if not path.startswith(("api-keys/key-1", "projects/shop"))
        ]
        refused = [await served.refusal(f"/api/v1/{path}", method, json=body) for method, path, body in changes]

    assert [each[:2] for each in refused] == [(404, "not_found")] * len(changes)


def with_bodies() -> list[tuple[str, str, dict[str, str]]]:
    return [(method, path, body or {}) for method, path, body in CHANGES]


async def test_a_body_with_an_unknown_field_changes_nothing(tmp_path: Path) -> None:
    async with serving(tmp_path, APIKeyRole.ADMIN) as served:
        await with_nouns(served)

        refused = [
            await served.refusal(f"/api/v1/{path}", method, json={**body, "nonsense": 1})
            for method, path, body in with_bodies()
        ]
        everything = AuditFilter(project_ids=("shop", ""))
        audited = await served.store.read(lambda c: list_audit_records(c, everything, PageRequest()))

    assert [each[:2] for each in refused] == [(400, "invalid_argument")] * len(CHANGES)
    assert {message.partition(";")[0] for _, _, message in refused} == {"nonsense is no field here"}
    assert audited.items == ()


@pytest.mark.parametrize(
    ("content", "media_type", "status", "code"),
    [
        pytest.param(b"name=x", "application/x-www-form-urlencoded", 415, "unsupported_media_type", id="a form"),
        pytest.param(b'{"name": "x"}', "", 415, "unsupported_media_type", id="no media type"),
        pytest.param(b"{", "application/json", 400, "invalid_argument", id="cut off"),
        pytest.param(b'{"name": "\xff"}', "application/json", 400, "invalid_argument", id="not UTF-8"),
        pytest.param(b"", "application/json", 400, "invalid_argument", id="nothing"),
        pytest.param(b" " * (1024 * 1024 + 1), "application/json", 413, "body_too_long", id="too long"),
        pytest.param(b'{"name": " "}', "application/json; charset=utf-8", 400, "invalid_argument", id="no name"),
    ],
)
async def test_a_body_that_cannot_be_read_is_refused(
    tmp_path: Path, content: bytes, media_type: str, status: int, code: str
) -> None:
    async with serving(tmp_path, APIKeyRole.ADMIN) as served:
        headers = {"authorization": f"Bearer {served.key}", **({"content-type": media_type} if media_type else {})}
        answer = await served.client.post("/api/v1/agents", content=content, headers=headers)

    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


async def test_every_route_that_changes_something_is_tested_here(tmp_path: Path) -> None:
    people = ("/api/v1/users", "/api/v1/roles", "/api/v1/settings", "/api/v1/session", "/api/v1/webhooks", "/webhooks")
    async with serving(tmp_path) as served:
        paths = (await served.client.get("/api/v1/openapi.json")).json()["paths"]

    documented = {
        (method.upper(), path)
        for path, item in paths.items()
        for method in item
        if method != "get" and not path.startswith(people)
    }
    ids = {"a-1": "application_id", "d-1": "deployment_id", "agent-1": "agent_id", "key-1": "key_id"}
    ids |= {"ask": "stage_id", "look": "stage_id", "shop": "project_id"}
    tested = {
        (method, "/api/v1/" + "/".join(f"{{{ids[part]}}}" if part in ids else part for part in path.split("/")))
        for method, path, _ in CHANGES
    }
    assert documented == tested
    assert json.dumps(paths).count('"204"') >= 2
