"""What machines ask, and the document that lists what can be asked."""

from pathlib import Path

import pytest
from prometheus_client import CONTENT_TYPE_LATEST
from structlog.testing import capture_logs

from fairway import __version__
from fairway.server.store.errors import StoreUnavailable, UnusableDatabase
from tests.integration.server.http_api.serving import serving


async def test_a_server_with_a_store_is_up_and_ready(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        answers = [await served.client.get(path) for path in ("/healthz", "/readyz")]

    assert [(answer.status_code, answer.text) for answer in answers] == [(200, "ok"), (200, "ok")]


@pytest.mark.parametrize("kind", [StoreUnavailable, UnusableDatabase])
async def test_a_server_without_its_store_is_up_but_not_ready(tmp_path: Path, kind: type[Exception]) -> None:
    async with serving(tmp_path) as served:
        served.store.error = kind("no connection to db-7 as hunter2")

        with capture_logs() as logged:
            up, ready = await served.client.get("/healthz"), await served.client.get("/readyz")

    message = "the store cannot be read or written now; the server's log says why"
    assert (up.status_code, ready.status_code) == (200, 503)
    assert ready.json() == {"error": {"code": "unavailable", "message": message}}
    assert [entry["reason"] for entry in logged] == ["no connection to db-7 as hunter2"]


async def test_the_numbers_say_which_fairway_this_is(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        answer = await served.client.get("/metrics")

    assert answer.headers["content-type"] == CONTENT_TYPE_LATEST
    assert 'fairway_build_info{python="' in answer.text
    assert f'version="{__version__}"}} 1.0' in answer.text


async def test_the_document_lists_the_routes(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        document = (await served.client.get("/api/v1/openapi.json")).json()

    assert (document["openapi"][:3], document["info"]) == ("3.1", {"title": "Fairway", "version": __version__})
    assert {"/healthz", "/readyz", "/metrics", "/api/v1/agents"} < set(document["paths"])


async def test_the_document_explains_each_operation_and_says_which_need_a_key(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        paths = (await served.client.get("/api/v1/openapi.json")).json()["paths"]

    operations = {path: operation for path, methods in paths.items() for operation in methods.values()}
    assert [path for path, each in operations.items() if not (each.get("summary") and each.get("description"))] == []
    secured = {path for path, each in operations.items() if each.get("security") == [{"apiKey": []}, {"session": []}]}
    assert secured == {path for path in operations if path.startswith("/api/v1/")}


async def test_the_document_names_the_filters_of_a_list(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        paths = (await served.client.get("/api/v1/openapi.json")).json()["paths"]

    parameters = {each["name"] for each in paths["/api/v1/deployments"]["get"]["parameters"]}
    filters = {"status", "kind", "application_id", "application_name", "label", "since", "until"}
    assert parameters == filters | {"sort", "order", "cursor", "limit", "project"}


async def test_no_answer_holds_the_key_or_its_hash(tmp_path: Path) -> None:
    paths = ("/api/v1/agents", "/api/v1/nowhere", "/metrics", "/api/v1/openapi.json", "/api/v1/agents/a")
    async with serving(tmp_path) as served:
        texts = "".join([(await served.get(path)).text for path in paths])

    assert served.key not in texts
    assert served.key_hash not in texts


async def test_the_document_says_what_parameters_may_be(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        paths = (await served.client.get("/api/v1/openapi.json")).json()["paths"]

    events = {each["name"]: each["schema"] for each in paths["/api/v1/events"]["get"]["parameters"]}
    log = "/api/v1/deployments/{deployment_id}/stages/{stage_id}/log"
    limits = {each["name"]: each["schema"] for each in paths[log]["get"]["parameters"]}
    assert events.pop("cursor")["type"] == "string"
    assert events == {
        "name": {"type": "string", "default": ""},
        "status": {"type": "string", "enum": ["", "waiting", "succeeded", "failed", "outdated"], "default": ""},
        "since": {"type": "string", "format": "date-time"},
        "until": {"type": "string", "format": "date-time"},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 50},
        "order": {"type": "string", "enum": ["", "asc", "desc"], "default": ""},
        "project": {"type": "string"},
    }
    assert (limits["limit"]["maximum"], limits["from_index"]["minimum"]) == (1000, 0)


async def test_the_document_says_which_bodies_may_be_left_out(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        document = (await served.client.get("/api/v1/openapi.json")).json()

    paths, schemas = document["paths"], document["components"]["schemas"]
    sync = paths["/api/v1/applications/{application_id}/sync"]["post"]["requestBody"]
    add = paths["/api/v1/applications"]["post"]["requestBody"]
    assert (sync["required"], add["required"]) == (False, True)
    assert schemas["ApplicationToAdd"]["additionalProperties"] is False
    assert schemas["ApplicationToAdd"]["required"] == ["agent_id", "name", "path", "repository_id"]
