"""The OpenAPI document against what is really answered."""

from pathlib import Path
from typing import Any

import jsonschema
import pytest

from fairway.model.api_key import APIKeyRole
from fairway.model.command import BuildPlanPreview
from fairway.model.log_block import LogBlock
from fairway.server.logs import StageLogKey
from tests.integration.server.http_api.serving import Serving, serving
from tests.integration.server.store.nouns import a_chain, a_command, a_live_state, an_agent, an_event
from tests.unit.model.builders import NOW, a_deployment, a_stage, an_application

IDS = {
    "application_id": "a-1",
    "deployment_id": "d-1",
    "stage_id": "s-1",
    "agent_id": "agent-1",
    "command_id": "c-1",
    "preview_id": "c-2",
    "event_id": "e-1",
    "chain_id": "chain-1",
}

#: Tested with their own nouns.
PEOPLE = {"/api/v1/users/{user_id}", "/api/v1/roles/{name}"}


async def with_one_of_each(served: Serving) -> dict[str, Any]:
    preview = BuildPlanPreview(repository_id="shop", head_branch="x", head_commit="c0ffee", base_branch="main")
    await served.add(
        an_application(),
        a_deployment(stages=(a_stage("s-1"),)),
        an_agent(),
        a_command(),
        a_command("c-2", payload=preview),
        an_event(),
        a_chain(),
        a_live_state(),
    )
    await served.logs.append(StageLogKey("d-1", "s-1", 0), [LogBlock(index=0, log="hello", created_at=NOW)])
    document: dict[str, Any] = (await served.client.get("/api/v1/openapi.json")).json()
    return document


def validate(document: dict[str, Any], path: str, status: int, answer: object) -> None:
    """Whether an answer is what the document says of it."""
    schema = document["paths"][path]["get"]["responses"][str(status)]["content"]["application/json"]["schema"]
    jsonschema.Draft202012Validator({**schema, "components": document["components"]}).validate(answer)


def the_json_ones(document: dict[str, Any]) -> list[str]:
    """Paths that can be looked at as JSON, with nothing but the nouns above."""
    looking = (path for path, item in document["paths"].items() if path.startswith("/api/") and "get" in item)
    return [path for path in looking if not path.endswith(("/log.txt", "/export", "/stream")) and path not in PEOPLE]


async def test_every_answer_is_as_the_document_says(tmp_path: Path) -> None:
    async with serving(tmp_path, APIKeyRole.ADMIN) as served:
        document = await with_one_of_each(served)
        paths = the_json_ones(document)

        answers = {path: await served.get(path.format(**IDS)) for path in paths}

    assert {path: answer.status_code for path, answer in answers.items()} == dict.fromkeys(paths, 200)
    for path, answer in answers.items():
        validate(document, path, 200, answer.json())


@pytest.mark.parametrize(
    ("path", "key", "status"),
    [
        pytest.param("/api/v1/agents?limit=0", True, 400, id="a bad parameter"),
        pytest.param("/api/v1/agents", False, 401, id="no key"),
        pytest.param("/api/v1/agents/nobody", True, 404, id="an unknown id"),
    ],
)
async def test_every_refusal_is_as_the_document_says(tmp_path: Path, path: str, key: bool, status: int) -> None:
    async with serving(tmp_path) as served:
        document = await with_one_of_each(served)

        answer = await (served.get(path) if key else served.client.get(path))

    assert answer.status_code == status
    for documented in the_json_ones(document):
        validate(document, documented, status, answer.json())


async def test_the_document_says_what_fields_may_be_and_that_there_are_no_others(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        document = (await served.client.get("/api/v1/openapi.json")).json()

    schemas = document["components"]["schemas"]
    assert [schemas[name]["additionalProperties"] for name in ("RoleBody", "PermissionBody")] == [False, False]
    assert "additionalProperties" not in schemas["Role"]
    assert schemas["NewWebhook"]["properties"]["name"]["pattern"] == r"\S"
    assert schemas["SettingsBody"]["properties"]["session_hours"] == {
        "type": "integer",
        "default": 168,
        "minimum": 1,
        "maximum": 8784,
    }
    assert list(document["paths"]["/metrics"]["get"]["responses"]["200"]["content"]) == ["text/plain; version=1.0.0"]
