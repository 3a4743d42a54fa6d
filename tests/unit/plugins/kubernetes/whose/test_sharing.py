from typing import Any

import pytest

from fairway.kube.manifest import Manifest
from fairway.plugins.kubernetes.marks import Owner, marked
from fairway.plugins.kubernetes.whose.sharing import called, is_shareable, is_shared_with, shared_body, sharers

OWNER = Owner(agent_id="agent", application_id="one", commit="abc")
OTHER = Owner(agent_id="agent", application_id="other", commit="abc")


def a_namespace(**metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", **metadata}}


def of(owner: Owner, body: dict[str, Any]) -> dict[str, Any]:
    return dict(marked(Manifest(body), owner).body)


def test_who_shares_an_object_says_what_git_says_and_that_it_shares_it() -> None:
    written = of(OWNER, a_namespace(labels={"team": "a"}, annotations={"b": "c"}))

    assert shared_body(written, OWNER) == a_namespace(
        labels={"team": "a", "shared.fairway.dev/one": "true"}, annotations={"b": "c"}
    )


@pytest.mark.parametrize(
    ("live", "expected"),
    [
        pytest.param(of(OTHER, a_namespace()), True, id="another application's"),
        pytest.param(of(OWNER, a_namespace()), False, id="its own"),
        pytest.param(a_namespace(), False, id="nobody's"),
        pytest.param(a_namespace(labels={"shared.fairway.dev/one": "true"}), True, id="left to it by its owner"),
        pytest.param(a_namespace(labels={"shared.fairway.dev/two": "true"}), False, id="left to somebody else"),
    ],
)
def test_an_object_is_shared_where_another_application_has_it_or_has_left_it(
    live: dict[str, Any], expected: bool
) -> None:
    assert is_shared_with(live, "one") is expected


def test_field_managers_are_called_by_the_applications_that_they_stand_for() -> None:
    live = of(OTHER, a_namespace(labels={"shared.fairway.dev/two": "true", "shared.fairway.dev/one": "true"}))

    assert [called(each, live) for each in ("fairway", "fairway-one", "kubectl-edit")] == [
        "application other",
        "application one",
        "kubectl-edit",
    ]
    assert sharers(live) == ("one", "two")


def test_only_namespaces_and_definitions_of_kinds_are_shared() -> None:
    kinds = (("v1", "Namespace"), ("apiextensions.k8s.io/v1", "CustomResourceDefinition"), ("v1", "ConfigMap"))
    bodies = [{"apiVersion": version, "kind": kind, "metadata": {"name": "a"}} for version, kind in kinds]

    assert [is_shareable(Manifest(each).key) for each in bodies] == [True, True, False]
