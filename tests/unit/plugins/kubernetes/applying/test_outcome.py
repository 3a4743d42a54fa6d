from copy import deepcopy
from typing import Any

import pytest

from fairway.plugins.kubernetes.applying.outcome import outcome

VARIANT = "pipecd.dev/variant"


def a_body(**fields: Any) -> dict[str, Any]:
    container = {"name": "main", "image": "web:1", "ports": [{"containerPort": 80}]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "uid": "1", "labels": {"app": "web"}, "annotations": {"a.b/c": "1"}},
        "spec": {"replicas": 1, "template": {"spec": {"containers": [container], "args": ["x"]}}},
        **fields,
    }


def with_value(path: str, value: Any) -> dict[str, Any]:
    """The object with another value somewhere."""
    body: Any = deepcopy(a_body())
    *steps, last = path.split("/")
    inner = body
    for step in steps:
        inner = inner[int(step)] if isinstance(inner, list) else inner.setdefault(step, {})
    inner[int(last) if isinstance(inner, list) else last.replace("~", "/")] = value
    return dict(body)


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        pytest.param(a_body(), "as it was", id="nothing"),
        pytest.param(a_body(status={"replicas": 1}), "as it was", id="its status"),
        pytest.param(with_value("metadata/resourceVersion", "2"), "as it was", id="its version"),
        pytest.param(with_value("metadata/labels/pipecd.dev~commit-hash", "2"), "as it was", id="the commit"),
        pytest.param(with_value("metadata/annotations/example.com~track", "primary"), "as it was", id="the variant"),
        pytest.param(with_value("metadata/uid", "2"), "made anew", id="another one"),
        pytest.param(with_value("spec/replicas", 2), "changed (spec.replicas)", id="a value"),
        pytest.param(
            with_value("spec/template/spec/containers/0/image", "web:2"),
            "changed (spec.template.spec.containers[main].image)",
            id="of an element with a name",
        ),
        pytest.param(
            with_value("spec/template/spec/containers", [{"name": "other"}]),
            "changed (spec.template.spec.containers[other], spec.template.spec.containers[main])",
            id="elements that come and go",
        ),
        pytest.param(
            with_value("spec/template/spec/args", ["x", "y"]), "changed (spec.template.spec.args[1])", id="by number"
        ),
        pytest.param(
            with_value("metadata/annotations/a.b~c", "2"), "changed (metadata.annotations[a.b/c])", id="an annotation"
        ),
        pytest.param(
            with_value("data", {"a": "1", "b": "2"}) | {"e": 1, "f": 1, "g": 1},
            "changed (data, e, f and 1 more)",
            id="many places",
        ),
    ],
)
def test_what_became_of_an_object_is_told_without_what_is_written_for_each_commit(
    after: dict[str, Any], expected: str
) -> None:
    assert outcome(a_body(), after, "example.com/track") == expected


def test_what_was_not_there_is_created() -> None:
    assert outcome(None, a_body(), VARIANT) == "created"


def test_of_a_secret_the_names_are_told_and_no_value() -> None:
    before, after = (
        {"apiVersion": "v1", "kind": "Secret", "metadata": {}, "data": {"key": value}} for value in ("b25l", "dHdv")
    )

    assert outcome(before, after, VARIANT) == "changed (data.key)"
