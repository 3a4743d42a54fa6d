"""The OpenAPI document against what is really answered."""

from pathlib import Path
from typing import Any

import jsonschema
import pytest

from fairway.model.log_block import LogBlock
from fairway.server.logs import StageLogKey
from tests.integration.server.http_api.serving import Serving, serving
from tests.integration.server.store.nouns import a_command, an_agent
from tests.unit.model.builders import NOW, a_deployment, a_stage, an_application

IDS = {"application_id": "a-1", "deployment_id": "d-1", "stage_id": "s-1", "agent_id": "agent-1", "command_id": "c-1"}


async def with_one_of_each(served: Serving) -> dict[str, Any]:
    await served.add(an_application(), a_deployment(stages=(a_stage("s-1"),)), an_agent(), a_command())
    await served.logs.append(StageLogKey("d-1", "s-1", 0), [LogBlock(index=0, log="hello", created_at=NOW)])
    document: dict[str, Any] = (await served.client.get("/api/v1/openapi.json")).json()
    return document


def validate(document: dict[str, Any], path: str, status: int, answer: object) -> None:
    """Whether an answer is what the document says of it."""
    schema = document["paths"][path]["get"]["responses"][str(status)]["content"]["application/json"]["schema"]
    jsonschema.Draft202012Validator({**schema, "components": document["components"]}).validate(answer)


async def test_every_answer_is_as_the_document_says(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        document = await with_one_of_each(served)
        paths = [path for path in document["paths"] if path.startswith("/api/")]

        answers = {path: await served.get(path.format(**IDS)) for path in paths}

    assert {answer.status_code for answer in answers.values()} == {200}
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
    for documented in (path for path in document["paths"] if path.startswith("/api/")):
        validate(document, documented, status, answer.json())
