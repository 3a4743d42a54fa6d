"""Drift without a cluster: what seems to differ, what is asked, what is left of it, and how it is told."""

import base64
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fairway.kube.manifest import Key, Manifest
from fairway.plugins.kubernetes.difference import ABSENT, Change
from fairway.plugins.kubernetes.drift import (
    Changed,
    Drift,
    confirmed,
    ignored_fields,
    in_words,
    is_ignored,
    leftovers,
    may_be_gone,
    question,
    seeming_changes,
    value_at,
)


def an_object(spec: Any = None, kind: str = "Deployment", api_version: str = "apps/v1", **more: Any) -> dict[str, Any]:
    metadata = {"name": "web", "namespace": "shop"} | more.pop("metadata", {})
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec or {}, **more}


LIVE = an_object(
    {"replicas": 2, "strategy": {"type": "RollingUpdate"}},
    status={"replicas": 2},
    metadata={"uid": "1", "resourceVersion": "7", "labels": {"added": "by somebody"}},
)


@pytest.mark.parametrize(
    ("live", "wanted"),
    [
        pytest.param(LIVE, an_object({"replicas": 2}), id="the cluster adds"),
        pytest.param(LIVE, an_object({"replicas": "2"}), id="a number as text"),
        pytest.param(LIVE, an_object({"replicas": 2, "paused": False, "extra": {}}), id="nothing, in words"),
        pytest.param(LIVE, an_object({"replicas": 2}, status={"replicas": 9}), id="a status in Git"),
        pytest.param(LIVE, an_object({"replicas": 2}, metadata={"creationTimestamp": None}), id="made by a tool"),
        pytest.param(
            {"kind": "Secret", "data": {"a": base64.b64encode(b"x").decode()}},
            {"kind": "Secret", "stringData": {"a": "x"}},
            id="a secret's texts",
        ),
    ],
)
def test_what_only_looks_different_is_not(live: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert seeming_changes(live, wanted) == ()


def test_what_differs_is_found_and_what_is_ignored_is_not() -> None:
    wanted = an_object({"replicas": 3, "strategy": {"type": "Recreate"}, "minReadySeconds": 5})

    found = seeming_changes(LIVE, wanted, ["spec.strategy"])

    assert found == (
        Change(("spec", "minReadySeconds"), ABSENT, 5),
        Change(("spec", "replicas"), 2, 3),
    )


def test_one_more_element_of_a_list_is_a_difference() -> None:
    live = an_object({"ports": [{"port": 80}, {"port": 81}]})

    assert seeming_changes(live, an_object({"ports": [{"port": 80}]})) == (
        Change(("spec", "ports", 1), {"port": 81}, ABSENT),
    )


@pytest.mark.parametrize(
    ("setting", "meant"),
    [
        pytest.param("apps/v1:Deployment:shop:web#spec.replicas", True, id="this one"),
        pytest.param("apps/v1:Deployment:default:web#spec.replicas", False, id="another namespace"),
        pytest.param("apps/v1beta1:Deployment:shop:web#spec.replicas", False, id="another version"),
        pytest.param("nonsense#spec.replicas", False, id="nonsense"),
    ],
)
def test_a_setting_means_an_object(setting: str, meant: bool) -> None:
    expected = ("spec.replicas",) if meant else ()
    assert ignored_fields([setting], Manifest(an_object())) == expected


def test_a_setting_means_an_object_of_no_namespace_whose_name_has_colons() -> None:
    role = {"apiVersion": "rbac/v1", "kind": "ClusterRole", "metadata": {"name": "a:b"}}
    settings = ["rbac/v1:ClusterRole:default:a:b#rules", "rbac/v1:ClusterRole::a:b#metadata"]

    assert ignored_fields(settings, Manifest(role)) == ("rules", "metadata")


def test_the_cluster_is_asked_about_the_places_that_seem_to_differ_only() -> None:
    container = {"name": "main", "image": "web:1", "imagePullPolicy": "Always", "cpu": "1"}
    live = an_object({"replicas": 2, "template": {"containers": [container], "other": 1}})
    wanted = an_object({"replicas": 2, "template": {"containers": [{"name": "main", "cpu": "1000m"}]}})

    patch = question(live, wanted, seeming_changes(live, wanted))

    # A list is written as a whole, with what the cluster has added to its elements.
    assert patch == {"spec": {"template": {"containers": [{**container, "cpu": "1000m"}]}}}


def test_a_change_is_left_when_the_cluster_would_make_something_else() -> None:
    live = an_object({"cpu": "1", "replicas": 2})
    changes = seeming_changes(live, an_object({"cpu": "1000m", "replicas": 3}))

    left = confirmed(changes, live, an_object({"cpu": "1", "replicas": 3}, metadata={"resourceVersion": "9"}))

    assert left == (Change(("spec", "replicas"), 2, 3),)


_BODIES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text("ab1", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("xyz", min_size=1, max_size=2), inner),
    max_leaves=12,
)


@example({"x": True}, {"x": 1})
@example([0], [False])
@given(_BODIES, _BODIES)
def test_a_cluster_that_takes_gits_values_as_they_are_confirms_every_change(live: Any, wanted: Any) -> None:
    one, other = an_object({"a": live}), an_object({"a": wanted})
    changes = seeming_changes(one, other)

    answer = merged(one, question(one, other, changes))

    assert confirmed(changes, one, answer) == changes


@given(_BODIES, _BODIES)
def test_a_cluster_that_changes_nothing_confirms_nothing(live: Any, wanted: Any) -> None:
    one, other = an_object({"a": live}), an_object({"a": wanted})

    assert confirmed(seeming_changes(one, other), one, one) == ()


def merged(body: Any, patch: Any) -> Any:
    """What a merge patch makes of a body."""
    if not isinstance(patch, dict):
        return patch
    found = dict(body) if isinstance(body, dict) else {}
    for key, value in patch.items():
        if value is None:
            found.pop(key, None)
        else:
            found[key] = merged(found.get(key), value)
    return found


@pytest.mark.parametrize(
    ("path", "value"),
    [
        pytest.param(("spec", "a", 1), "y", id="there"),
        pytest.param(("spec", "a", 5), ABSENT, id="behind the end"),
        pytest.param(("spec", "b"), ABSENT, id="no such key"),
        pytest.param(("spec", "a", "b"), ABSENT, id="not a mapping"),
        pytest.param(("kind", 0), ABSENT, id="a text is no list"),
    ],
)
def test_a_place_has_a_value_or_none(path: Any, value: Any) -> None:
    assert value_at(an_object({"a": ["x", "y"]}), path) == value


def test_objects_that_git_does_not_have_are_left_over_unless_they_ask_not_to_be_compared() -> None:
    mark = {"annotations": {"pipecd.dev/ignore-drift-detection": "true"}}
    one, old, asking = (an_object(metadata={"name": name}) for name in ("web", "old", "asking"))
    asking["metadata"] |= mark

    assert leftovers([Manifest(one)], [one, old, asking]) == (Key("apps", "Deployment", "shop", "old"),)
    assert is_ignored(one, asking)


def test_nothing_is_told_where_nothing_differs() -> None:
    assert in_words(Drift(), "abcdef0123") == ()


def test_drift_is_told_with_a_summary_and_then_in_full() -> None:
    key = Key("apps", "Deployment", "shop", "web")
    secret = Changed(Key("", "Secret", "shop", "keys"), (Change(("data", "a"), "b2xk", "bmV3"),))
    drift = Drift(
        missing=(Key("", "Service", "shop", "new"),),
        orphans=(Key("", "Service", "shop", "old"),),
        changed=(Changed(key, (Change(("spec", "replicas"), 2, 3),)), secret),
    )

    told = "\n".join(in_words(drift, "abcdef0123"))

    assert (
        told
        == """\
4 objects are not as Git says: 1 missing in the cluster, 1 not in Git, 2 different

What Git says at commit abcdef0, and what is in the cluster:

--- Actual   (LiveState)
+++ Expected (Git)

- 1. Service shop/old
+ 2. Service shop/new
# 3. Deployment shop/web

  spec:
    #spec.replicas
-   replicas: 2
+   replicas: 3

# 4. Secret shop/keys

  data:
    #data.a
-   a: '*****'
+   a: '*****'
"""
    )


def test_many_changed_objects_are_shown_in_part() -> None:
    changed = tuple(Changed(Key("", "Service", "shop", f"s{n}"), (Change(("spec", "a"), 1, 2),)) for n in range(5))

    assert in_words(Drift(changed=changed), "abc")[-1] == "... and 2 more changed objects"


@pytest.mark.parametrize(
    ("version", "kind", "spec", "expected"),
    [
        pytest.param("batch/v1", "Job", {"ttlSecondsAfterFinished": 0}, True, id="a Job that goes"),
        pytest.param("batch/v1", "Job", {}, False, id="a Job that stays"),
        pytest.param("example.com/v1", "Job", {"ttlSecondsAfterFinished": 0}, False, id="another Job"),
    ],
)
def test_only_a_job_that_git_lets_go_may_be_gone(version: str, kind: str, spec: dict[str, int], expected: bool) -> None:
    assert may_be_gone({"apiVersion": version, "kind": kind, "metadata": {"name": "a"}, "spec": spec}) is expected
