"""Which pods and warnings are of a workload, and with how few watches those of many are found."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.kube.cluster import Scope
from fairway.kube.manifest import Body, key_of
from fairway.plugins.kubernetes.rollout.selecting import is_about, is_pod_of, pod_groups, warning_groups
from tests.unit.plugins.kubernetes.builders import an_object

Expression = Mapping[str, Any]


def a_workload(name: str, *expressions: Expression, kind: str = "Deployment", **labels: str) -> Body:
    selector: dict[str, Any] = {"matchLabels": labels} if labels else {}
    if expressions:
        selector["matchExpressions"] = list(expressions)
    version = "batch/v1" if kind == "Job" else "apps/v1"
    made = an_object(
        version, kind, name, namespace="shop", metadata={"uid": f"{name}-uid"}, spec={"selector": selector}
    )
    return made.body


def a_pod(labels: Mapping[str, str], owner: tuple[str, str] | None = None) -> Body:
    """Of an owner its kind and uid, or its name where it is a ReplicaSet."""
    metadata: dict[str, Any] = {"labels": labels}
    if owner is not None:
        metadata["ownerReferences"] = [{"kind": owner[0], "uid": owner[1], "name": owner[1], "controller": True}]
    return an_object("v1", "Pod", "a-pod", metadata=metadata).body


def expression(operator: str, *values: str, key: str = "tier") -> Expression:
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}


def test_one_workload_is_asked_for_by_its_own_selector() -> None:
    web = a_workload("web", app="web", variant="canary")

    assert [each.scope.query for each in pod_groups([web])] == [{"labelSelector": "app=web,variant=canary"}]


def test_workloads_with_the_same_labels_are_asked_for_together_and_others_apart() -> None:
    web, api = a_workload("web", app="web"), a_workload("api", app="api")
    job = a_workload("job", controller="1", kind="Job")
    canary = a_workload("canary", app="web", variant="canary")

    found = pod_groups([web, job, canary, api])

    assert [(each.scope.query["labelSelector"], each.workloads) for each in found] == [
        ("app in (api,web)", (key_of(web), key_of(api))),
        ("app=web,variant=canary", (key_of(canary),)),
        ("controller=1", (key_of(job),)),
    ]


def test_hundreds_of_workloads_are_a_few_questions_of_bounded_length() -> None:
    many = [a_workload(f"web-{number}", app=f"{number:063}") for number in range(200)]

    found = pod_groups(many)

    assert [len(each.workloads) for each in found] == [50] * 4
    assert max(len(each.scope.query["labelSelector"]) for each in found) < 4000


def test_what_has_no_selector_has_no_pods_to_look_for() -> None:
    definition = an_object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "widgets.example.com").body

    assert pod_groups([definition, an_object("v1", "Pod", "alone", namespace="shop").body]) == []


@pytest.mark.parametrize(
    ("expressions", "labels", "belongs"),
    [
        pytest.param([], {"app": "web"}, True, id="its labels"),
        pytest.param([], {"app": "web", "more": "x"}, True, id="and more"),
        pytest.param([], {"app": "api"}, False, id="another value"),
        pytest.param([], {}, False, id="none"),
        pytest.param([expression("In", "a", "b")], {"app": "web", "tier": "b"}, True, id="one of several values"),
        pytest.param([expression("In", "a", "b")], {"app": "web", "tier": "c"}, False, id="none of several values"),
        pytest.param([expression("In", "a")], {"app": "web"}, False, id="no value"),
        pytest.param([expression("NotIn", "a")], {"app": "web", "tier": "a"}, False, id="a value it must not have"),
        pytest.param([expression("NotIn", "a")], {"app": "web"}, True, id="none that it must not have"),
        pytest.param([expression("Exists")], {"app": "web", "tier": ""}, True, id="a label that must be there"),
        pytest.param([expression("Exists")], {"app": "web"}, False, id="without a label that must be there"),
        pytest.param([expression("DoesNotExist")], {"app": "web", "tier": ""}, False, id="a label that must not"),
        pytest.param([expression("DoesNotExist")], {"app": "web"}, True, id="without one that must not"),
    ],
)
def test_a_selector_decides_which_pods_belong_to_a_workload(
    expressions: Sequence[Expression], labels: dict[str, str], belongs: bool
) -> None:
    assert is_pod_of(a_workload("web", *expressions, app="web"), a_pod(labels)) is belongs


@pytest.mark.parametrize(
    ("kind", "owner", "belongs"),
    [
        pytest.param("StatefulSet", None, True, id="nobody's: it will be adopted"),
        pytest.param("StatefulSet", ("StatefulSet", "web-uid"), True, id="its own"),
        pytest.param("StatefulSet", ("StatefulSet", "other-uid"), False, id="another one's of the kind"),
        pytest.param("StatefulSet", ("DaemonSet", "other-uid"), False, id="of another kind, which it would take away"),
        pytest.param("Job", ("Job", "web-uid"), True, id="a Job's"),
        pytest.param("Deployment", ("ReplicaSet", "web-c775747c6"), True, id="its ReplicaSet's"),
        pytest.param("Deployment", ("ReplicaSet", "web-canary-c775747c6"), False, id="its canary's"),
        pytest.param("Deployment", ("ReplicaSet", "web-other"), False, id="of a ReplicaSet that stands alone"),
        pytest.param("Deployment", ("StatefulSet", "other-uid"), False, id="not a ReplicaSet's"),
    ],
)
def test_where_selectors_overlap_a_pods_owner_decides(kind: str, owner: tuple[str, str] | None, belongs: bool) -> None:
    labels = {"app": "web", "pod-template-hash": "c775747c6"}

    assert is_pod_of(a_workload("web", kind=kind, app="web"), a_pod(labels, owner)) is belongs


_KEYS, _WORDS = st.sampled_from(["a", "b", "c"]), st.sampled_from(["", "x", "y", "z"])
_EXPRESSIONS = st.builds(
    lambda key, operator, values: expression(operator, *(values if operator in ("In", "NotIn") else ()), key=key),
    _KEYS,
    st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist"]),
    st.lists(_WORDS, min_size=1, max_size=3),
)
_SELECTORS = st.tuples(st.dictionaries(_KEYS, _WORDS), st.lists(_EXPRESSIONS, max_size=2)).filter(any)


@given(st.lists(_SELECTORS, min_size=1, max_size=5), st.dictionaries(_KEYS, _WORDS))
def test_every_pod_of_a_workload_is_found_by_the_watch_that_is_for_it(
    selectors: list[tuple[dict[str, str], list[Expression]]], labels: dict[str, str]
) -> None:
    workloads = {
        key_of(body): body
        for body in (a_workload(f"web-{at}", *more, **same) for at, (same, more) in enumerate(selectors))
    }
    pod = a_pod(labels)

    found = {key: each.scope for each in pod_groups(workloads.values()) for key in each.workloads}

    assert found.keys() == workloads.keys()
    missed = [key for key, body in workloads.items() if is_pod_of(body, pod) and not _lets_through(found[key], labels)]
    assert missed == []


def _lets_through(scope: Scope, labels: Mapping[str, str]) -> bool:
    return all(labels.get(label) in values for label, values in scope.any_of.items())


def test_warnings_are_asked_for_by_kind_where_only_events_tell() -> None:
    kinds = ["Deployment", "StatefulSet", "StatefulSet", "DaemonSet", "Job"]
    bodies = [a_workload(f"web-{at}", kind=kind, app="web") for at, kind in enumerate(kinds)]

    found = warning_groups(bodies)

    assert [(each.scope.query["fieldSelector"], len(each.workloads)) for each in found] == [
        ("involvedObject.kind=DaemonSet,type=Warning", 1),
        ("involvedObject.kind=Job,type=Warning", 1),
        ("involvedObject.kind=StatefulSet,type=Warning", 2),
    ]
    assert {each.scope.namespace for each in found} == {"shop"}


def test_an_event_is_about_the_workload_of_that_uid() -> None:
    workload = a_workload("web", app="web")
    about = [{"involvedObject": {"name": "web", "uid": uid}} for uid in ("web-uid", "that-of-an-earlier-one")]

    assert [is_about(workload, each) for each in about] == [True, False]
