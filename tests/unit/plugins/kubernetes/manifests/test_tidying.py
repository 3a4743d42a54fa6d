"""Manifests that a cluster would refuse, although what they mean is clear."""

from typing import Any

import pytest
import yaml

from fairway.config.problems import Severity
from fairway.plugins.kubernetes.manifests.documents import parse_file
from fairway.plugins.kubernetes.manifests.tidying import tidied

EXPORTED = """\
apiVersion: v1
kind: Service
metadata:
  name: web
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: '{}'
    team: shop
  creationTimestamp: "2026-01-01T00:00:00Z"
  resourceVersion: "12"
  uid: 5b8d
  managedFields: [{manager: kubectl}]
spec:
  ports: [{port: 80}]
status:
  loadBalancer: {ingress: [{ip: 10.0.0.1}]}
"""


def a_pod(**spec: Any) -> dict[str, Any]:
    """A Deployment with this pod."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"template": {"spec": spec}},
    }


def env_of(*entries: dict[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """The environment of a container as it is applied, and the warnings."""
    body, warnings = tidied(a_pod(containers=[{"name": "main", "env": list(entries)}]))
    found: list[dict[str, Any]] = body["spec"]["template"]["spec"]["containers"][0]["env"]
    return found, [each.message for each in warnings]


def of(name: str, value: str) -> dict[str, Any]:
    return {"name": name, "value": value}


def test_fields_that_only_the_cluster_sets_are_left_out_with_one_warning() -> None:
    parsed = parse_file(EXPORTED.encode(), "web.yaml")

    assert [each.body for each in parsed.checked()] == [
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "web", "annotations": {"team": "shop"}},
            "spec": {"ports": [{"port": 80}]},
        }
    ]
    assert parsed.notes() == (
        "web.yaml:8:3: warning: metadata.creationTimestamp: only the cluster sets metadata.creationTimestamp, "
        "metadata.managedFields, metadata.resourceVersion, metadata.uid, "
        'metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"], status; '
        "ignored, remove from the file",
    )


def test_empty_fields_as_generators_write_them_are_left_out_without_a_word() -> None:
    body = yaml.safe_load(
        "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, "
        "metadata: {name: things.example.com, creationTimestamp: null}, "
        'status: {acceptedNames: {kind: "", plural: ""}, conditions: [], storedVersions: []}}'
    )

    assert tidied(body) == (
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "things.example.com"},
        },
        (),
    )


def test_the_status_of_a_custom_resource_may_be_an_ordinary_field() -> None:
    body = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "web"}, "status": {"a": 1}}

    assert tidied(body) == (body, ())


def test_of_repeated_environment_variables_the_last_is_applied() -> None:
    found, warnings = env_of(of("A", "1"), of("B", "2"), of("A", "3"))

    assert found == [of("B", "2"), of("A", "3")]
    assert warnings == ["sets A more than once; the last value is applied, as in the container"]


def test_a_reference_to_an_overridden_variable_keeps_its_value() -> None:
    found, _ = env_of(of("A", "1"), of("B", "$(A) $$(A) $(C)"), of("A", "$(A):2"), of("D", "$(A)"))

    assert found == [of("B", "1 $$(A) $(C)"), of("A", "1:2"), of("D", "$(A)")]


@pytest.mark.parametrize(
    "entries",
    [
        pytest.param(
            [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}, of("B", "$(A)"), of("A", "1")],
            id="a value that is not in the manifest",
        ),
        pytest.param([of("A", "x"), *[of("A", "$(A)" * 100)] * 20], id="a value that grows without bound"),
    ],
)
def test_what_cannot_be_resolved_is_left_to_the_api_server(entries: list[dict[str, Any]]) -> None:
    assert env_of(*entries) == (entries, [])


def test_equal_ports_and_pull_secrets_are_applied_once() -> None:
    port, secret = {"containerPort": 80}, {"name": "registry"}
    body, warnings = tidied(
        a_pod(initContainers=[{"name": "a", "ports": [port, port]}], imagePullSecrets=[secret, secret])
    )

    assert body == a_pod(initContainers=[{"name": "a", "ports": [port]}], imagePullSecrets=[secret])
    assert [each.path for each in warnings] == [
        ("spec", "template", "spec", "initContainers", 0, "ports"),
        ("spec", "template", "spec", "imagePullSecrets"),
    ]


@pytest.mark.parametrize(
    ("kind", "api_version", "warned"),
    [
        ("Namespace", "v1", True),
        ("PersistentVolumeClaim", "v1", True),
        ("ConfigMap", "v1", False),
        ("Namespace", "example.com/v1", False),
    ],
)
def test_recreating_what_holds_other_objects_is_warned_of(kind: str, api_version: str, warned: bool) -> None:
    annotation = "pipecd.dev/force-sync-by-replace"
    metadata = {"name": "shop", "annotations": {annotation: "enabled"}}
    _, warnings = tidied({"apiVersion": api_version, "kind": kind, "metadata": metadata})

    assert [each.path[-1] for each in warnings] == [annotation] * warned


def test_warnings_keep_no_file_from_being_used_however_many_there_are() -> None:
    parsed = parse_file("---\n".join([EXPORTED] * 600).encode(), "web.yaml")

    assert len(parsed.checked()) == 600
    assert {each.severity for each in parsed.problems} == {Severity.WARNING}
    assert parsed.notes()[-1] == "580 more warnings"
