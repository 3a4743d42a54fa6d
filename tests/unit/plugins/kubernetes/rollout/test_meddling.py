"""Whether an object that is waited for is still what was applied."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.plugins.kubernetes.rollout.meddling import Applied
from tests.unit.plugins.kubernetes.builders import an_object

MAIN = 'k:{"name":"main"}'
PORT = 'k:{"containerPort":80,"protocol":"TCP"}'
#: What Git says of it.
OURS: dict[str, Any] = {
    "f:metadata": {"f:annotations": {"f:pipecd.dev/commit-hash": {}}},
    "f:spec": {
        "f:replicas": {},
        "f:progressDeadlineSeconds": {},
        "f:template": {
            "f:spec": {
                "f:containers": {
                    MAIN: {
                        ".": {},
                        "f:image": {},
                        "f:name": {},
                        "f:args": {},
                        "f:resources": {},
                        "f:ports": {PORT: {".": {}, "f:containerPort": {}, "f:name": {}}},
                    }
                }
            }
        },
    },
}
IMAGE: dict[str, Any] = {"f:spec": {"f:template": {"f:spec": {"f:containers": {MAIN: {"f:image": {}}}}}}}


def entry(manager: str, fields: dict[str, Any], **more: str) -> dict[str, Any]:
    return {"manager": manager, "operation": "Update", "apiVersion": "apps/v1", "fieldsV1": fields, **more}


def a_container(**changed: Any) -> dict[str, Any]:
    port = {"containerPort": 80, "protocol": "TCP", "name": "http"}
    return {"name": "main", "image": "web:1", "args": ["-v"], "resources": {}, "ports": [port], **changed}


def live(
    *containers: dict[str, Any], by: tuple[dict[str, Any], ...] = (), kind: str = "Deployment", **changed: Any
) -> dict[str, Any]:
    metadata: dict[str, Any] = {"uid": "1", "managedFields": [entry("fairway", OURS, operation="Apply"), *by]}
    metadata["annotations"] = {"pipecd.dev/commit-hash": "1234567890"} | changed.pop("annotations", {})
    spec = {"replicas": 2, "progressDeadlineSeconds": 600, **changed}
    spec["template"] = {"spec": {"containers": [*containers]}}
    return dict(an_object("apps/v1", kind, "web", namespace="shop", metadata=metadata, spec=spec).body)


@pytest.mark.parametrize(
    ("now", "said"),
    [
        pytest.param(
            live(a_container(image="web:0"), by=(entry("kubectl-set", IMAGE),)),
            "kubectl-set while it was rolled out: spec.template.spec.containers[main].image",
            id="an image",
        ),
        pytest.param(
            live(a_container(args=["-q"])),
            "somebody while it was rolled out: spec.template.spec.containers[main].args",
            id="what is taken as a whole",
        ),
        pytest.param(
            live(a_container(ports=[{"containerPort": 80, "protocol": "TCP", "name": "web"}])),
            "somebody while it was rolled out: spec.template.spec.containers[main].ports[80,TCP].name",
            id="of an element with several keys",
        ),
        pytest.param(
            live(a_container(name="other")),
            "somebody while it was rolled out: spec.template.spec.containers[main].image, "
            "spec.template.spec.containers[main].name, spec.template.spec.containers[main].args and 3 more",
            id="an element that is gone",
        ),
    ],
)
def test_what_somebody_has_changed_is_named_with_who_manages_it_now(now: dict[str, Any], said: str) -> None:
    applied = Applied(live(a_container()))

    assert applied.meddled_with(now) == f"Deployment shop/web was changed by {said}; what runs is not commit 1234567"


@pytest.mark.parametrize(
    "now",
    [
        pytest.param(live(a_container()), id="nothing"),
        pytest.param(live(a_container(), replicas=5), id="the number of replicas"),
        pytest.param(live(a_container(), progressDeadlineSeconds=1), id="how long it may take"),
        pytest.param(live(a_container(), annotations={"pipecd.dev/commit-hash": "mine"}), id="an annotation"),
        pytest.param(live(a_container(), a_container(name="beside")), id="another element"),
        pytest.param(live(a_container(resources={"limits": {"cpu": 1}})), id="something where Git has nothing"),
        pytest.param(live(a_container(), by=(entry("kubectl", IMAGE),)), id="who manages the same value"),
    ],
)
def test_what_does_not_change_what_runs_is_no_meddling(now: dict[str, Any]) -> None:
    assert Applied(live(a_container())).meddled_with(now) == ""


def test_what_has_another_uid_was_made_by_somebody_else() -> None:
    now = live(a_container())
    now["metadata"] |= {"uid": "2", "managedFields": [entry("kubectl-replace", OURS)]}

    assert Applied(live(a_container())).meddled_with(now) == (
        "Deployment shop/web was deleted and made anew by kubectl-replace while it was rolled out; "
        "it is not what was applied for commit 1234567"
    )


def test_of_what_is_replaced_all_is_as_git_says_whoever_wrote_the_same_before() -> None:
    asked = {"pipecd.dev/sync-by-replace": "enabled"}
    bodies = [live(a_container(image=image), annotations=asked) for image in ("web:1", "web:0")]
    for each in bodies:
        each["metadata"]["managedFields"] = [entry("kubectl", IMAGE), entry("fairway", {"f:spec": {"f:replicas": {}}})]

    assert Applied(bodies[0]).meddled_with(bodies[1]).startswith("Deployment shop/web was changed by kubectl while")


def test_a_definition_may_be_filled_in_by_its_controller() -> None:
    before, now = (live(a_container(image=image), kind="CustomResourceDefinition") for image in ("web:1", "web:0"))

    assert Applied(before).meddled_with(now) == ""


Values = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3))


@given(st.dictionaries(st.text(min_size=1), Values, max_size=5))
def test_an_object_is_never_different_from_itself(spec: dict[str, Any]) -> None:
    inner: dict[str, Any] = {'v:"a"': {}, "i:0": {}, 'k:{"name":"a"}': {"f:b": {}}}
    fields = {"f:spec": {f"f:{name}": inner for name in spec}}
    body = an_object("v1", "Pod", "a", metadata={"managedFields": [entry("fairway", fields)]}, spec=spec).body

    assert Applied(body).meddled_with(body) == ""
