"""What is applied before what (defect 2 of PipeCD: nothing by kind, and an unstable sort)."""

from hypothesis import given
from hypothesis import strategies as st

from fairway.kube.manifest import Manifest
from fairway.plugins.kubernetes.shaping.order import in_steps, in_steps_away, place
from tests.unit.plugins.kubernetes.builders import a_config_map, a_deployment, a_service, an_object


def names(steps: list[tuple[Manifest, ...]]) -> list[list[str]]:
    return [[each.name for each in step] for step in steps]


def test_what_others_need_comes_first() -> None:
    given_manifests = [
        an_object("networking.k8s.io/v1", "Ingress", "ingress"),
        an_object("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "webhook"),
        a_deployment("web"),
        a_service("service"),
        a_config_map("config"),
        an_object("rbac.authorization.k8s.io/v1", "RoleBinding", "binding"),
        an_object("rbac.authorization.k8s.io/v1", "Role", "role"),
        an_object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "definition"),
        an_object("v1", "Namespace", "namespace"),
        an_object("example.com/v1", "Widget", "widget"),
    ]

    assert names(in_steps(given_manifests)) == [
        ["namespace"],
        ["definition"],
        ["role"],
        ["binding"],
        ["config"],
        ["service"],
        ["web"],
        ["ingress", "widget"],
        ["webhook"],
    ]


def test_the_authors_order_counts_before_the_kind() -> None:
    late = an_object("v1", "ConfigMap", "late", metadata={"annotations": {"pipecd.dev/order": "2"}})
    early = an_object("apps/v1", "Deployment", "early", metadata={"annotations": {"pipecd.dev/order": "-1"}})
    bad = an_object("v1", "ConfigMap", "bad", metadata={"annotations": {"pipecd.dev/order": "soon"}})

    assert names(in_steps([late, bad, early])) == [["early"], ["bad"], ["late"]]


def test_a_custom_resource_that_bears_the_name_of_a_kind_is_still_a_custom_resource() -> None:
    knative = an_object("serving.knative.dev/v1", "Service", "knative")

    assert names(in_steps([knative, a_deployment("web")])) == [["web"], ["knative"]]


_KINDS = st.sampled_from([("v1", "ConfigMap"), ("apps/v1", "Deployment"), ("v1", "Service"), ("a.b/v1", "X")])


@given(st.lists(_KINDS, max_size=20))
def test_the_order_is_stable_and_loses_nothing(kinds: list[tuple[str, str]]) -> None:
    given_manifests = [an_object(version, kind, f"{n}") for n, (version, kind) in enumerate(kinds)]

    ordered = [each for step in in_steps(given_manifests) for each in step]

    assert ordered == sorted(given_manifests, key=lambda each: (place(each.body), int(each.name)))


def test_workloads_go_before_their_configuration() -> None:
    """Defect 17 of PipeCD: ConfigMaps were deleted before the pods that used them."""
    bodies = [a_config_map("config").body, a_deployment("web").body, a_service("service").body]

    kinds = [[each["kind"] for each in step] for step in in_steps_away(bodies)]

    assert kinds == [["Deployment"], ["Service"], ["ConfigMap"]]
