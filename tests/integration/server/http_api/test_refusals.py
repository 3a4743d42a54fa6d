"""Requests that are not answered: who may not ask, what is not there, what cannot be understood."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from sqlalchemy import Connection
from structlog.testing import capture_logs

from fairway.model.deployment import DeploymentStatus
from fairway.server.http_api.app import MOST_QUERY
from fairway.server.store import api_keys
from fairway.server.store.errors import StoreUnavailable
from tests.integration.server.http_api.serving import serving
from tests.integration.server.store.nouns import a_command, an_agent
from tests.unit.model.builders import a_deployment, a_stage, an_application

PATHS = [
    "/api/v1/applications",
    "/api/v1/applications/a-1",
    "/api/v1/deployments",
    "/api/v1/deployments/d-1",
    "/api/v1/deployments/d-1/stages/s-1/log",
    "/api/v1/agents",
    "/api/v1/agents/agent-1",
    "/api/v1/commands/c-1",
]


def told(answer: httpx.Response) -> tuple[int, str, str]:
    assert answer.headers["content-type"].startswith("application/json")
    error = answer.json()["error"]
    return answer.status_code, error["code"], error["message"]


@pytest.mark.parametrize("path", PATHS)
async def test_nothing_is_told_without_a_key(tmp_path: Path, path: str) -> None:
    async with serving(tmp_path) as served:
        answer = await served.client.get(f"{path}?limit=nonsense")

    assert told(answer)[:2] == (401, "unauthenticated")
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "header",
    [
        pytest.param("Bearer", id="no key"),
        pytest.param("Bearer key-1.hunter2", id="a wrong secret"),
        pytest.param("Bearer nobody.hunter2", id="an unknown key"),
        pytest.param("API-KEY {key}", id="the scheme of gRPC"),
        pytest.param("Basic {key}", id="another scheme"),
        pytest.param("Bearer {key} hunter2", id="three words"),
        pytest.param("Bearer hunter2\xff.x", id="not ASCII"),
    ],
)
async def test_a_key_that_is_not_right_is_refused_and_not_repeated(tmp_path: Path, header: str) -> None:
    async with serving(tmp_path) as served:
        shown = header.format(key=served.key).encode("latin-1")
        answer = await served.client.get("/api/v1/agents", headers={b"authorization": shown})

    assert told(answer)[:2] == (401, "unauthenticated")
    assert "hunter2" not in answer.text
    assert served.key not in answer.text


async def test_two_keys_at_once_are_refused(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        header = ("authorization", f"Bearer {served.key}")
        answer = await served.client.get("/api/v1/agents", headers=[header, header])

    assert told(answer)[:2] == (401, "unauthenticated")


async def test_the_scheme_may_be_written_in_any_case(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        answer = await served.client.get("/api/v1/agents", headers={"authorization": f"bearer {served.key}"})

    assert answer.status_code == 200


async def test_a_disabled_key_is_refused(tmp_path: Path) -> None:
    def disable(connection: Connection) -> None:
        api_keys.update_api_key(connection, "key-1", lambda key: msgspec.structs.replace(key, disabled=True))

    async with serving(tmp_path) as served:
        await served.store.write(disable)

        assert (await served.refusal("/api/v1/agents"))[:2] == (401, "unauthenticated")


@pytest.mark.parametrize("path", [path for path in PATHS if path.count("/") > 3])
async def test_what_belongs_to_another_project_is_forbidden(tmp_path: Path, path: str) -> None:
    other: dict[str, Any] = {"project_id": "other"}
    async with serving(tmp_path) as served:
        stages = (a_stage("s-1"),)
        await served.add(
            an_application(**other), a_deployment(stages=stages, **other), an_agent(**other), a_command(**other)
        )

        assert (await served.refusal(path))[:2] == (403, "permission_denied")


@pytest.mark.parametrize("path", [path for path in PATHS if path.count("/") > 3])
async def test_an_unknown_id_is_not_found(tmp_path: Path, path: str) -> None:
    async with serving(tmp_path) as served:
        status, code, message = await served.refusal(path)

    assert (status, code) == (404, "not_found")
    assert message.startswith("there is no ")


async def test_an_unknown_stage_is_not_found(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        await served.add(a_deployment(stages=(a_stage("s-1"),)))

        status, _, message = await served.refusal("/api/v1/deployments/d-1/stages/s-2/log")

    assert (status, message) == (404, "there is no stage 's-2'; check the id, or whether it has been deleted")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        pytest.param(
            "deployments?status=SUCCESS",
            f"status is 'SUCCESS'; expected one of {', '.join(status.value for status in DeploymentStatus)}"
            "; did you mean 'succeeded'?",
            id="a status in PipeCD's word",
        ),
        pytest.param(
            "applications?kind=vm",
            "kind is 'vm'; expected one of kubernetes, terraform, lambda, cloudrun, ecs",
            id="kind",
        ),
        pytest.param(
            "applications?sync_status=synced&sync_status=sync",
            "sync_status is 'sync'; expected one of unknown, synced, deploying, out_of_sync, invalid_config"
            "; did you mean 'synced'?",
            id="sync status",
        ),
        pytest.param("applications?label=prod", "label is 'prod'; expected key:value", id="label"),
        pytest.param(
            "applications?label=a:1&label=a:2",
            "label 'a' is asked for with two values; expected one, since all must fit",
            id="two values for a label",
        ),
        pytest.param(
            "applications?sort=names", "sort is 'names'; expected updated_at or name; did you mean 'name'?", id="sort"
        ),
        pytest.param(
            "deployments?sort=created",
            "sort is 'created'; expected updated_at or created_at; did you mean 'created_at'?",
            id="sort of deployments",
        ),
        pytest.param("events?order=up", "order is 'up'; expected one of asc, desc", id="order"),
        pytest.param("agents?limit=0", "limit is 0; expected 1 to 100", id="no limit"),
        pytest.param("agents?limit=101", "limit is 101; expected 1 to 100", id="a limit too high"),
        pytest.param("agents?limit=ten", "limit is 'ten'; expected `int`, got `str`", id="a limit in words"),
        pytest.param("applications?disabled=2", "disabled is '2'; expected `bool | null`, got `str`", id="yes or no"),
        pytest.param(
            "agents?colour=red", "colour is no parameter here; expected cursor, limit, project", id="a parameter"
        ),
        pytest.param("agents/a?x=1", "x is no parameter here; expected project", id="a parameter where there are none"),
        pytest.param(
            "deployments?cursor=!",
            "'!' is no cursor; use one that a page gave, or none for the first page",
            id="cursor",
        ),
        pytest.param(
            "deployments/d/stages/s/log?from_index=-1",
            "from_index is -1; expected 0 to 9223372036854775807",
            id="an index before the beginning",
        ),
    ],
)
async def test_a_parameter_that_is_not_understood_is_named(tmp_path: Path, query: str, message: str) -> None:
    async with serving(tmp_path) as served:
        assert await served.refusal(f"/api/v1/{query}") == (400, "invalid_argument", message)


@pytest.mark.parametrize(
    "ids", [pytest.param(range(33), id="all different"), pytest.param([1] * 33, id="one again and again")]
)
async def test_too_many_filters_are_refused(tmp_path: Path, ids: Iterable[int]) -> None:
    query = "&".join(f"application_id=a-{number}" for number in ids)
    async with serving(tmp_path) as served:
        status, _, message = await served.refusal(f"/api/v1/deployments?{query}")

    assert (status, message) == (400, "application_id is given 33 times; expected at most 32, ask in turns")


async def test_an_oversized_query_is_refused(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        answer = await served.client.get("/api/v1/agents?cursor=" + "x" * MOST_QUERY)

    assert told(answer)[:2] == (414, "query_too_long")


@pytest.mark.parametrize(
    "path", ["/nowhere", "/api/v1/nowhere", "/api/v1", "/api/v1/agents/a/b/c", "/api/v1/openapi.json/x"]
)
async def test_an_unknown_path_is_not_found(tmp_path: Path, path: str) -> None:
    async with serving(tmp_path) as served:
        answer = await served.client.get(path)

    sentence = f"there is nothing at {path}; /api/v1/openapi.json lists what there is"
    assert told(answer) == (404, "not_found", sentence)


async def test_another_method_is_refused(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        answer = await served.client.put("/api/v1/agents")

    sentence = "/api/v1/agents does not take PUT; expected GET or POST"
    assert told(answer) == (405, "method_not_allowed", sentence)


async def test_a_head_is_a_get_without_its_body(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        there, nowhere = await served.client.head("/healthz"), await served.client.head("/nowhere")

    assert [(answer.status_code, answer.content) for answer in (there, nowhere)] == [(200, b""), (404, b"")]


async def test_a_store_that_does_not_answer_is_unavailable(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        await served.get("/api/v1/agents")
        served.store.error = StoreUnavailable("the disk is full; free some space")

        refused = await served.refusal("/api/v1/agents")

    assert refused == (503, "unavailable", "the disk is full; free some space")


async def test_the_text_of_a_defect_stays_inside(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        await served.get("/api/v1/agents")
        served.store.error = RuntimeError("hunter2")

        with capture_logs() as logged:
            answer = await served.get("/api/v1/agents")

    assert told(answer)[:2] == (500, "internal")
    assert "hunter2" not in answer.text + str(logged)
    assert [(entry["event"], entry["error"]) for entry in logged] == [("request failed by a defect", "RuntimeError")]
