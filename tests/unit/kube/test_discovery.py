"""Which kinds a cluster serves, from answers that are not all of one age."""

from typing import Any

import msgspec
import pytest

from fairway.kube.calls import Call
from fairway.kube.discovery import Discovery
from fairway.kube.errors import ClusterAway, UnknownKind

WIDGETS = {
    "metadata": {"name": "example.com"},
    "versions": [
        {
            "version": "v1",
            "resources": [
                {"resource": "widgets", "responseKind": {"kind": "Widget"}, "scope": "Namespaced", "verbs": ["get"]}
            ],
        }
    ],
}
#: The list of the version is behind.
ANSWERS: dict[str, dict[str, Any]] = {
    "/apis/example.com/v1": {"resources": []},
    "/api": {},
    "/apis": {"items": [WIDGETS]},
}


async def answered(call: Call) -> bytes:
    return msgspec.json.encode(ANSWERS[call.path])


async def test_a_kind_is_found_in_whichever_list_has_it_first() -> None:
    found = await Discovery("dev", answered).kind("example.com/v1", "Widget")

    assert (found.api_version, found.plural, found.namespaced) == ("example.com/v1", "widgets", True)


async def test_a_kind_that_neither_list_has_is_unknown() -> None:
    with pytest.raises(UnknownKind, match="Wodget"):
        await Discovery("dev", answered).kind("example.com/v1", "Wodget")


async def test_what_a_server_provides_that_is_away_is_not_known_and_told() -> None:
    away = {"metadata": {"name": "away.example.com"}, "versions": [{"version": "v1", "freshness": "Stale"}]}

    async def partly(call: Call) -> bytes:
        return msgspec.json.encode({"items": [WIDGETS, away]} if call.path == "/apis" else {})

    served = await Discovery("dev", partly).served()

    assert ([each.kind for each in served.kinds], served.away) == (["Widget"], ("away.example.com/v1",))


async def test_what_is_away_is_told_by_a_cluster_that_is_asked_group_by_group_too() -> None:
    names = ("away.example.com", "example.com")
    versions = {name: {"groupVersion": f"{name}/v1"} for name in names}
    groups = [{"name": name, "preferredVersion": each, "versions": [each]} for name, each in versions.items()]
    widget = {"name": "widgets", "kind": "Widget", "namespaced": True, "verbs": ["get"]}
    answers: dict[str, Any] = {"/api": {}, "/apis": {"groups": groups}, "/apis/example.com/v1": {"resources": [widget]}}

    async def partly(call: Call) -> bytes:
        if call.path not in answers:
            raise ClusterAway("service unavailable")
        return msgspec.json.encode(answers[call.path])

    served = await Discovery("dev", partly).served()

    assert ([each.kind for each in served.kinds], served.away) == (["Widget"], ("away.example.com/v1",))
