"""Canary and baseline: copies beside the primary."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.config.platforms import ResourceReference
from fairway.config.scalars import Replicas
from fairway.kube.manifest import Manifest
from fairway.plugins.kubernetes.parts import part
from fairway.plugins.kubernetes.shaping.variants import (
    NoVariant,
    Variant,
    found_services,
    found_workloads,
    lacks_selector_label,
    replicas_of,
    variant_manifests,
    variant_service,
    with_selector_label,
)
from tests.unit.plugins.kubernetes.builders import a_config_map, a_deployment, a_service, an_object

CANARY = Variant(key="pipecd.dev/variant", value="canary", suffix="canary")
LABEL = {"pipecd.dev/variant": "canary"}


def made_of(*manifests: Manifest, services: tuple[Manifest, ...] = ()) -> tuple[Manifest, ...]:
    return variant_manifests(manifests, found_workloads(manifests, ()), services, CANARY, lambda _: 1)


def test_a_canary_is_a_deployment_of_another_name_with_its_label_in_selector_and_pods() -> None:
    (canary,) = made_of(a_deployment("web", replicas=5))

    assert canary.name == "web-canary"
    assert canary.body["spec"] == {
        "replicas": 1,
        "selector": {"matchLabels": {"app": "web", **LABEL}},
        "template": {
            "metadata": {"labels": {"app": "web", **LABEL}},
            "spec": {"containers": [{"name": "main", "image": "web:1"}]},
        },
    }


@pytest.mark.parametrize(
    ("pod", "place"),
    [
        pytest.param(
            {"volumes": [{"name": "v", "configMap": {"name": "settings"}}]},
            ("volumes", "configMap", "name"),
            id="volume",
        ),
        pytest.param(
            {"volumes": [{"name": "v", "secret": {"secretName": "keys"}}]},
            ("volumes", "secret", "secretName"),
            id="secret",
        ),
        pytest.param(
            {"volumes": [{"name": "v", "projected": {"sources": [{"configMap": {"name": "settings"}}]}}]},
            ("volumes", "projected", "sources", "configMap", "name"),
            id="projected volume (defect 18)",
        ),
        pytest.param(
            {"volumes": [{"name": "v", "projected": {"sources": [{"secret": {"name": "keys"}}]}}]},
            ("volumes", "projected", "sources", "secret", "name"),
            id="projected secret (defect 18)",
        ),
        pytest.param(
            {"imagePullSecrets": [{"name": "keys"}]}, ("imagePullSecrets", "name"), id="pull secret (defect 18)"
        ),
        pytest.param(
            {"container": {"envFrom": [{"secretRef": {"name": "keys"}}]}},
            ("containers", "envFrom", "secretRef", "name"),
            id="envFrom",
        ),
        pytest.param(
            {"container": {"env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "settings"}}}]}},
            ("containers", "env", "valueFrom", "configMapKeyRef", "name"),
            id="env",
        ),
    ],
)
def test_copied_configuration_is_what_the_canary_uses(pod: dict[str, Any], place: tuple[str, ...]) -> None:
    secret = an_object("v1", "Secret", "keys", data={})
    *_, canary = made_of(a_config_map("settings"), secret, a_deployment(**pod))

    value: Any = part(canary.body, "spec", "template", "spec")
    for name in place:
        value = value[0] if isinstance(value, list) else value
        value = value[name]
    assert value in ("settings-canary", "keys-canary")


def test_configuration_that_is_not_of_the_application_keeps_its_name() -> None:
    (canary,) = made_of(a_deployment(imagePullSecrets=[{"name": "registry"}]))

    assert part(canary.body, "spec", "template", "spec", "imagePullSecrets") == [{"name": "registry"}]


def test_configuration_of_another_namespace_is_not_what_a_pod_uses() -> None:
    elsewhere = an_object("v1", "ConfigMap", "settings", namespace="other", data={})
    pod: dict[str, Any] = {"volumes": [{"name": "v", "configMap": {"name": "settings"}}]}

    *_, canary = made_of(elsewhere, a_deployment(namespace="shop", **pod))

    assert part(canary.body, "spec", "template", "spec", "volumes") == pod["volumes"]


def test_autoscalers_and_disruption_budgets_stay_the_primarys() -> None:
    """Defect 18 of PipeCD."""
    others = [
        an_object("autoscaling/v2", "HorizontalPodAutoscaler", "h"),
        an_object("policy/v1", "PodDisruptionBudget", "p"),
    ]

    assert [each.kind for each in made_of(*others, a_deployment())] == ["Deployment"]


def test_a_variants_service_has_nothing_of_what_only_one_service_may_have() -> None:
    """Defect 19 of PipeCD: the API server refused the copy of a Service with a node port."""
    service = a_service(
        type="LoadBalancer",
        ports=[{"port": 80, "nodePort": 30080}],
        clusterIP="10.0.0.7",
        externalTrafficPolicy="Local",
        healthCheckNodePort=30081,
        loadBalancerIP="1.2.3.4",
        loadBalancerSourceRanges=["0.0.0.0/0"],
        externalIPs=["1.2.3.4"],
        sessionAffinity="ClientIP",
    )

    made = variant_service(service, CANARY)

    assert made.name == "web-canary"
    assert made.body["spec"] == {
        "type": "ClusterIP",
        "selector": {"app": "web", **LABEL},
        "ports": [{"port": 80}],
        "sessionAffinity": "ClientIP",
    }


def test_a_headless_service_stays_headless() -> None:
    assert part(variant_service(a_service(clusterIP="None"), CANARY).body, "spec", "clusterIP") == "None"


@pytest.mark.parametrize("kind", ["StatefulSet", "DaemonSet"])
def test_a_workload_that_cannot_run_beside_itself_is_refused_in_words(kind: str) -> None:
    workload = an_object("apps/v1", kind, "db", spec={})

    with pytest.raises(NoVariant, match=f"{kind} db cannot run beside itself: variants are made of Deployments only"):
        variant_manifests([workload], [workload], [], CANARY, lambda _: 1)


def test_workloads_are_those_that_are_named_or_all_deployments() -> None:
    given_manifests = [a_deployment("a"), a_config_map(), a_deployment("b")]

    assert [each.name for each in found_workloads(given_manifests, ())] == ["a", "b"]
    assert [each.name for each in found_workloads(given_manifests, [ResourceReference(name="b")])] == ["b"]


def test_a_workload_or_service_that_is_named_and_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(
        NoVariant, match="asks for Deployment c, which is not among its manifests; of that kind there is a"
    ):
        found_workloads([a_deployment("a")], [ResourceReference(name="c")])
    with pytest.raises(NoVariant, match="asks for Service c"):
        found_services([a_service("a")], ResourceReference(name="c"))
    with pytest.raises(
        NoVariant, match="there is no Deployment among the manifests to make a variant of; found ConfigMap"
    ):
        made_of(a_config_map())


def test_the_label_of_a_variant_is_put_into_selector_and_pods() -> None:
    one, other = a_deployment("a"), a_deployment("b")

    labelled, untouched = with_selector_label([one, other], [one], LABEL)

    assert [lacks_selector_label(each, LABEL) for each in (one, labelled)] == [True, False]
    assert untouched is other


@pytest.mark.parametrize(
    ("wanted", "written", "live", "expected"),
    [
        pytest.param(Replicas(3), 10, None, 3, id="a number"),
        pytest.param(Replicas(10, is_percentage=True), 10, None, 1, id="a share"),
        pytest.param(Replicas(10, is_percentage=True), 11, None, 2, id="a share is rounded up"),
        pytest.param(Replicas(50, is_percentage=True), None, 8, 4, id="a share of what runs where Git leaves it open"),
        pytest.param(Replicas(50, is_percentage=True), 2, 8, 4, id="a share of what an autoscaler has set"),
        pytest.param(Replicas(50, is_percentage=True), None, None, 1, id="a share of nothing known"),
        pytest.param(Replicas(50, is_percentage=True), 0, None, 1, id="at least one"),
        pytest.param(Replicas(3), None, None, 3, id="a number where Git leaves it open"),
    ],
)
def test_how_many_replicas_a_variant_has(
    wanted: Replicas, written: int | None, live: int | None, expected: int
) -> None:
    assert replicas_of(wanted, a_deployment(replicas=written), live) == expected


@given(st.integers(1, 100), st.integers(0, 1000))
def test_a_share_is_never_more_than_the_whole_nor_less_than_one(percent: int, written: int) -> None:
    made = replicas_of(Replicas(percent, is_percentage=True), a_deployment(replicas=written), None)

    assert max(1, written * percent // 100) <= made <= max(1, written)
