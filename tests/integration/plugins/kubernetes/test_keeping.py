"""Which namespaces stay, by what a cluster says of what is in them."""

from typing import Any

import pytest
from aiohttp import web

from fairway.plugins.kubernetes.removing.keeping import Keeper
from tests.integration.kube.double import Answer, a_cluster, a_list, refuses, says, serving

VERBS = ["delete", "list"]

#: How it is said that something stays for others.
FOREIGN = "in it is not this application's; it is no longer this application's"


def a_group(name: str, *kinds: str, stale: bool = False) -> dict[str, Any]:
    """As a cluster tells of one when it is asked for all at once."""
    resources = [
        {"resource": f"{each.lower()}s", "responseKind": {"kind": each}, "scope": "Namespaced", "verbs": VERBS}
        for each in kinds
    ]
    version = {"version": "v1", "resources": resources, "freshness": "Stale" if stale else "Current"}
    return {"metadata": {"name": name}, "versions": [version]}


def a_cluster_with(inside: dict[str, list[dict[str, Any]]], *groups: dict[str, Any]) -> Answer:
    """One with these objects, by the plurals of their kinds, in its only namespace."""

    async def answer(request: web.Request) -> web.StreamResponse:
        core = [a_group("", "ConfigMap", "Secret", "ServiceAccount", "Service", "Endpoints", "Pod", "Event")]
        match request.path:
            case "/api" | "/apis":
                return await says({"items": core if request.path == "/api" else list(groups)})(request)
            case "/apis/away.example.com/v1/namespaces/shop/things":
                return await refuses(503, "service unavailable")(request)
        return await says(a_list("5", *inside.get(request.path.rpartition("/")[2], ())))(request)

    return answer


def a_thing(name: str, uid: str = "", owners: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    references = [{"uid": each} for each in owners]
    metadata = {"name": name, "namespace": "shop", "uid": uid or name, "ownerReferences": references}
    return {**more, "metadata": {**metadata, **more.get("metadata", {})}}


def body(kind: str, name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, **a_thing(name)}


OF_APPLICATION = {"annotations": {"pipecd.dev/application": "app"}}
OF_DEFAULT = {"annotations": {"kubernetes.io/service-account.name": "default"}}


@pytest.mark.parametrize(
    ("inside", "groups", "said"),
    [
        pytest.param(
            {
                "configmaps": [a_thing("kube-root-ca.crt")],
                "serviceaccounts": [a_thing("default")],
                "secrets": [a_thing("default-token", type="kubernetes.io/service-account-token", metadata=OF_DEFAULT)],
                "events": [a_thing("web.17")],
                "services": [a_thing("web")],
                "endpointss": [a_thing("web", "endpoints-of-web")],
                "pods": [a_thing("of-set", owners=("set",)), a_thing("set", owners=("web",))],
            },
            [a_group("metrics.k8s.io", stale=True)],
            [],
            id="what Kubernetes makes, and what belongs to what is removed",
        ),
        pytest.param(
            {"pods": [a_thing("web-2", owners=("web", "theirs"))]},
            [],
            [f"Namespace shop: kept, because Pod web-2 {FOREIGN}"],
            id="what somebody else owns as well",
        ),
        pytest.param(
            {
                "services": [a_thing("theirs")],
                "endpointss": [a_thing("theirs", "e")],
                "pods": [a_thing("p", "p", ("theirs",))],
            },
            [],
            [f"Namespace shop: kept, because Service theirs {FOREIGN}"],
            id="what comes with an object is not counted",
        ),
        pytest.param(
            {"pods": [a_thing("web-canary", metadata=OF_APPLICATION)]},
            [],
            ["Namespace shop: kept, because Pod web-canary of this application stays in it"],
            id="what the application itself leaves there",
        ),
        pytest.param(
            {"pods": [a_thing("web-canary", metadata=OF_APPLICATION), a_thing("theirs")]},
            [],
            [f"Namespace shop: kept, because Pod theirs {FOREIGN}"],
            id="what others have there comes first",
        ),
        pytest.param(
            {"pods": [a_thing("ends", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})]},
            [],
            [],
            id="what is about to go",
        ),
        pytest.param(
            {},
            [a_group("away.example.com", "Thing", stale=True)],
            [
                "Namespace shop: kept, because it cannot be seen whether anybody else uses it: "
                "the server that provides away.example.com/v1 is away"
            ],
            id="a part of the cluster is away",
        ),
    ],
)
async def test_a_namespace_goes_only_when_nothing_of_others_goes_with_it(
    inside: dict[str, list[dict[str, Any]]], groups: list[dict[str, Any]], said: list[str]
) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "uid": "shop"}}
    async with serving(a_cluster_with(inside, *groups)) as double, a_cluster(double) as cluster:
        kept = await Keeper(cluster, "app", [namespace, body("Service", "web")], []).kept()

    assert [str(each) for each in kept] == said
