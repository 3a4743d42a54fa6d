"""Looking everywhere for what an application has, in a cluster of which a part cannot be seen."""

from typing import Any

import pytest
from aiohttp import web

from fairway.plugins.kubernetes.removing.pruning import Search
from tests.integration.kube.double import Answer, a_cluster, a_list, refuses, says, serving

SERVED = {"list", "delete"}


def a_group(name: str, *kinds: str, verbs: frozenset[str] = frozenset(SERVED), stale: bool = False) -> dict[str, Any]:
    """As a cluster tells of one when it is asked for all at once."""
    resources = [
        {"resource": f"{each.lower()}s", "responseKind": {"kind": each}, "scope": "Namespaced", "verbs": sorted(verbs)}
        for each in kinds
    ]
    version = {"version": "v1", "resources": resources, "freshness": "Stale" if stale else "Current"}
    return {"metadata": {"name": name}, "versions": [version]}


def a_cluster_with(*groups: dict[str, Any]) -> Answer:
    """One in which only `gadgets` can be listed."""
    marks = {"pipecd.dev/managed-by": "piped", "pipecd.dev/application": "shop"}
    gadget = {"metadata": {"name": "one", "uid": "u", "labels": marks, "annotations": marks}}

    async def answer(request: web.Request) -> web.StreamResponse:
        match request.path:
            case "/api" | "/apis":
                return await says({"items": list(groups) if request.path == "/apis" else []})(request)
            case "/apis/example.com/v1/gadgets":
                return await says(a_list("5", gadget))(request)
        return await refuses(503, "service unavailable")(request)

    return answer


@pytest.mark.parametrize(
    ("away", "unseen"),
    [
        pytest.param(a_group("away.example.com", stale=True), ["away.example.com/v1"], id="nothing is known of it"),
        pytest.param(
            a_group("away.example.com", "Thing", stale=True),
            ["away.example.com/v1"],
            id="its kinds are known from before",
        ),
        pytest.param(
            a_group("away.example.com", "Thing", verbs=frozenset({"list"}), stale=True), [], id="nobody deploys to it"
        ),
        pytest.param(a_group("metrics.k8s.io", stale=True), [], id="metrics"),
    ],
)
async def test_a_group_whose_server_is_away_hides_no_other_and_is_told(away: dict[str, Any], unseen: list[str]) -> None:
    answer = a_cluster_with(a_group("example.com", "Gadget"), away)
    async with serving(answer) as double, a_cluster(double) as cluster:
        found = await Search(cluster, "shop").everywhere(["shop"])

    assert [each["metadata"]["name"] for each in found.objects] == ["one"]
    said = [f"The cluster dev does not reach the server that provides {each}" for each in unseen]
    assert [str(each) for each in found.unseen] == said
