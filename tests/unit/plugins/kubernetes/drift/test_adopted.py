"""What a sync takes away when it takes over from kubectl."""

from typing import Any

import pytest

from fairway.plugins.kubernetes.drift.adopted import removal, takes_over

WEB, SIDE = {"name": "web", "image": "a"}, {"name": "side", "image": "b"}
TCP = {"port": 80, "protocol": "TCP"}


def an_object(spec: dict[str, Any], kubectl: dict[str, Any], other: dict[str, Any] | None = None) -> dict[str, Any]:
    managers = [
        {"manager": "kubectl-client-side-apply", "operation": "Update", "fieldsV1": {"f:spec": kubectl}},
        {"manager": "controller", "operation": "Update", "fieldsV1": {"f:spec": other or {}}},
    ]
    return {"metadata": {"name": "it", "managedFields": managers}, "spec": spec}


@pytest.mark.parametrize(
    ("live", "written", "expected"),
    [
        pytest.param(an_object({"a": 1}, {"f:a": {}}), {"a": 1}, {}, id="what is written"),
        pytest.param(an_object({"a": 1, "b": 2}, {"f:a": {}}), {"a": 1}, {}, id="what is not kubectl's"),
        pytest.param(an_object({"a": 1, "b": 2}, {"f:b": {}}), {"a": 1}, {"spec": {"b": None}}, id="a field"),
        pytest.param(an_object({"a": 1, "b": 2}, {"f:b": {}}, {"f:b": {}}), {"a": 1}, {}, id="what others want too"),
        pytest.param(
            an_object({"pods": [SIDE, WEB]}, {"f:pods": {'k:{"name":"side"}': {".": {}, "f:image": {}}}}),
            {"pods": [WEB]},
            {"spec": {"pods": [WEB]}},
            id="an element",
        ),
        pytest.param(
            an_object({"ports": [TCP]}, {"f:ports": {'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:port": {}}}}),
            {"ports": [{"port": 80}]},
            {},
            id="an element of which half the key is not written",
        ),
        pytest.param(
            an_object({"set": ["a", "b"]}, {"f:set": {'v:"b"': {}}}),
            {"set": ["a"]},
            {"spec": {"set": ["a"]}},
            id="a value",
        ),
    ],
)
def test_what_is_kubectls_alone_and_not_written_goes(
    live: dict[str, Any], written: dict[str, Any], expected: dict[str, Any]
) -> None:
    manifest = {"metadata": {"name": "it"}, "spec": written}

    assert takes_over(live, manifest)
    assert removal(live, manifest) == expected


@pytest.mark.parametrize(
    ("manager", "annotations", "goes"),
    [
        pytest.param("kubectl-edit", {"pipecd.dev/sync-by-replace": "enabled"}, True, id="what people added"),
        pytest.param("controller", {"pipecd.dev/sync-by-replace": "enabled"}, False, id="what a controller added"),
        pytest.param("kubectl-edit", {}, False, id="applied, not replaced"),
    ],
)
def test_of_an_object_that_is_replaced_what_people_added_goes(
    manager: str, annotations: dict[str, str], goes: bool
) -> None:
    managers = [
        {"manager": "fairway", "operation": "Update", "fieldsV1": {"f:data": {"f:a": {}}}},
        {"manager": manager, "operation": "Update", "fieldsV1": {"f:data": {"f:b": {}}}},
    ]
    live = {"metadata": {"annotations": annotations, "managedFields": managers}, "data": {"a": "1", "b": "2"}}

    written = {"metadata": {"annotations": annotations}, "data": {"a": "1"}}

    assert removal(live, written) == ({"data": {"b": None}} if goes else {})


def test_the_copy_that_kubectl_keeps_for_itself_is_not_missed() -> None:
    copy = "kubectl.kubernetes.io/last-applied-configuration"
    written = {"metadata": {"annotations": {"a": "1"}}}
    fields: dict[str, Any] = {"f:metadata": {"f:annotations": {f"f:{copy}": {}}}}
    managers = [{"manager": "kubectl-client-side-apply", "operation": "Update", "fieldsV1": fields}]

    assert removal({"metadata": {"annotations": {copy: "{}"}, "managedFields": managers}}, written) == {}
