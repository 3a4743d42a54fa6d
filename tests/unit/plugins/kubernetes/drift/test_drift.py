"""Drift without a cluster: what differs, what seems to, what does not count, and how it is told."""

import base64
from typing import Any

import pytest

from fairway.kube.manifest import Key, Manifest
from fairway.plugins.kubernetes.drift.drift import (
    Changed,
    Drift,
    Foreign,
    changes_by,
    counting,
    ignored_fields,
    in_words,
    is_the_same,
    leftovers,
    may_be_gone,
    seeming_changes,
)
from fairway.plugins.kubernetes.planning.difference import ABSENT, Change


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

    found = counting(seeming_changes(LIVE, wanted), ["spec.strategy"])

    assert found == (
        Change(("spec", "minReadySeconds"), ABSENT, 5),
        Change(("spec", "replicas"), 2, 3),
    )


@pytest.mark.parametrize(
    ("live", "same"),
    [
        pytest.param({"selector": {"app": "web"}}, True, id="word for word"),
        pytest.param({"selector": {"app": "web", "more": "x"}}, False, id="one more key"),
        pytest.param({"selector": {"app": "web"}, "type": "ClusterIP"}, False, id="what may be a default"),
    ],
)
def test_only_what_is_written_and_nothing_else_is_the_same(live: dict[str, Any], same: bool) -> None:
    of_cluster = {"uid": "1", "resourceVersion": "7", "managedFields": [{"manager": "fairway"}]}
    body = an_object(live, "Service", "v1", metadata=of_cluster, status={"loadBalancer": {}})

    assert is_the_same(body, an_object({"selector": {"app": "web"}}, "Service", "v1")) is same


def test_what_would_change_has_the_place_that_it_has_in_git() -> None:
    """Others may have put an element before it, and `ignoreFields` was written by whoever knows Git."""
    web, side = {"name": "web", "image": "web:2"}, {"name": "side", "image": "side:1"}
    live, answer = (an_object({"containers": [side, {**web, "image": image}]}) for image in ("web:1", "web:2"))

    found = changes_by(live, answer, an_object({"containers": [web]}))

    assert found == (Change(("spec", "containers", 0, "image"), "web:1", "web:2"),)
    assert counting(found, ["spec.containers.0"]) == ()


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


def test_objects_that_git_does_not_have_are_left_over_unless_they_ask_not_to_be_compared() -> None:
    mark = {"annotations": {"pipecd.dev/ignore-drift-detection": "true"}}
    one, old, asking = (an_object(metadata={"name": name}) for name in ("web", "old", "asking"))
    asking["metadata"] |= mark

    assert leftovers([Manifest(one)], [one, old, asking]) == (Key("apps", "Deployment", "shop", "old"),)


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

    assert in_words(Drift(changed=changed), "abc")[-3:] == (
        "... and 2 more changed objects, not shown in full:",
        f"# 4. {changed[3].key}: spec.a",
        f"# 5. {changed[4].key}: spec.a",
    )


def test_names_of_changed_objects_end_somewhere() -> None:
    paths = tuple(Change(("data", name), "1", "2") for name in "abcdef")
    changed = tuple(Changed(Key("", "ConfigMap", "shop", f"c{n:03}"), paths) for n in range(300))

    said = in_words(Drift(changed=changed), "abc")

    assert said[-2:] == ("# 103. ConfigMap shop/c102: data.a, data.b, data.c and 3 more", "... and 197 more")


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


def test_objects_of_others_are_not_called_missing() -> None:
    foreign = tuple(
        Foreign(key=Key("", "ConfigMap", "shop", name), api_version="v1", uid=name, application=application)
        for name, application in (("a", ""), ("b", "other"))
    )

    said = in_words(Drift(foreign=foreign), "abc")

    assert said[0] == (
        "2 objects are not as Git says: 1 in the cluster, but of no application, "
        "1 in the cluster, but of another application"
    )
    assert said[-6:] == (
        "+ 1. ConfigMap shop/a",
        "",
        "  it exists and belongs to no application; the next deployment takes it over",
        "+ 2. ConfigMap shop/b",
        "",
        "  it exists and belongs to application other",
    )
