"""HEAD and OPTIONS: every path says all that it takes, to anybody, and no answer to HEAD waits for a body."""

from pathlib import Path

import pytest

from fairway.model.api_key import APIKeyRole
from tests.integration.server.http_api.serving import Serving, serving

#: What the document leaves to browsers.
PAGES = {"/": {"GET"}, "/sign-in": {"GET", "POST"}, "/sign-in/out": {"POST"}, "/api/v1/openapi.json": {"GET"}}


async def the_methods(served: Serving) -> dict[str, set[str]]:
    """The methods of each path, as the document has them."""
    document = (await served.client.get("/api/v1/openapi.json")).json()
    return PAGES | {path: {method.upper() for method in item} for path, item in document["paths"].items()}


async def test_every_path_says_what_it_takes(tmp_path: Path) -> None:
    async with serving(tmp_path) as served:
        methods = await the_methods(served)
        asked = {path: await served.client.options(path) for path in methods}
        refused = {path: await served.client.request("TRACE", path) for path in methods}

    expected = {path: ", ".join(sorted(taken | {"OPTIONS"} | heads(taken))) for path, taken in methods.items()}
    assert {path: answer.headers["allow"] for path, answer in asked.items()} == expected
    assert {path: answer.headers["allow"] for path, answer in refused.items()} == expected
    assert {(answer.status_code, answer.content) for answer in asked.values()} == {(204, b"")}
    assert {answer.status_code for answer in refused.values()} == {405}


async def test_head_is_get_without_its_body_at_every_path(tmp_path: Path) -> None:
    async with serving(tmp_path, APIKeyRole.ADMIN) as served:
        paths = [path for path, taken in (await the_methods(served)).items() if "GET" in taken]
        heads = {path: await served.ask("HEAD", path) for path in paths}
        ended = [path for path in paths if path != "/api/v1/stream"]
        gets = {path: await served.get(path) for path in ended}

    assert {path: heads[path].status_code for path in ended} == {path: gets[path].status_code for path in ended}
    assert {answer.content for answer in heads.values()} == {b""}
    assert heads["/api/v1/agents"].headers["content-length"] == gets["/api/v1/agents"].headers["content-length"]


async def test_head_of_a_stream_ends_and_leaves_the_connection_to_the_next_request(tmp_path: Path) -> None:
    async with serving(tmp_path, APIKeyRole.ADMIN) as served:
        head = await served.ask("HEAD", "/api/v1/stream?topic=applications")
        following = await served.ask("GET", "/healthz")

    assert following.status_code == 200
    assert (head.status_code, head.headers["content-type"].partition(";")[0]) == (200, "text/event-stream")


@pytest.mark.parametrize("method", ["OPTIONS", "HEAD"])
async def test_what_is_not_there_is_not_found(tmp_path: Path, method: str) -> None:
    async with serving(tmp_path) as served:
        answer = await served.client.request(method, "/api/v1/nowhere")

    assert answer.status_code == 404


def heads(taken: set[str]) -> set[str]:
    return {"HEAD"} if "GET" in taken else set()
