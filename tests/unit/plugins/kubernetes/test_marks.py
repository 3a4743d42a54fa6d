"""To whom an object belongs."""

from typing import Any

import msgspec
import pytest

from fairway.kube.manifest import Manifest
from fairway.plugins.kubernetes.marks import Owner, asks_for, belongs_to, is_mark_field, mark, marked, selector
from tests.unit.plugins.kubernetes.builders import a_deployment, an_object

OWNER = Owner(agent_id="agent-1", application_id="app-1", commit="c0ffee")


def test_a_marked_manifest_has_pipecds_labels_and_annotations_beside_its_own() -> None:
    manifest = an_object("apps/v1", "Deployment", "web", namespace="shop", metadata={"labels": {"team": "a"}})

    metadata = marked(manifest, OWNER).metadata

    labels = {
        "pipecd.dev/managed-by": "piped",
        "pipecd.dev/piped": "agent-1",
        "pipecd.dev/application": "app-1",
        "pipecd.dev/commit-hash": "c0ffee",
        "pipecd.dev/variant": "primary",
    }
    assert metadata == {
        "name": "web",
        "namespace": "shop",
        "labels": {"team": "a", **labels},
        "annotations": {
            **labels,
            "pipecd.dev/original-api-version": "apps/v1",
            "pipecd.dev/resource-key": "apps:Deployment:shop:web",
        },
    }


@pytest.mark.parametrize(
    ("manifest", "key"),
    [
        pytest.param(an_object("v1", "Service", "web", namespace="shop"), "v1:Service:shop:web", id="in a namespace"),
        pytest.param(an_object("v1", "Namespace", "shop", namespace=""), "v1:Namespace:default:shop", id="in none"),
    ],
)
def test_an_object_is_called_as_the_older_agents_know_it_where_they_know_the_application(
    manifest: Manifest, key: str
) -> None:
    """They delete nothing that is called otherwise."""
    made = marked(manifest, msgspec.structs.replace(OWNER, of_older_agents=True))

    assert made.metadata["annotations"]["pipecd.dev/resource-key"] == key
    assert belongs_to(made.body, "app-1")


def test_a_copy_from_the_default_namespace_is_nobodys_in_the_older_form_either() -> None:
    made = marked(
        an_object("v1", "ConfigMap", "c", namespace="default"), msgspec.structs.replace(OWNER, of_older_agents=True)
    )

    copy = {**made.body, "metadata": {**made.metadata, "namespace": "other"}}

    assert (belongs_to(made.body, "app-1"), belongs_to(copy, "app-1")) == (True, False)


def test_marks_never_reach_the_pods_so_that_none_restarts_for_them() -> None:
    manifest = a_deployment()

    assert marked(manifest, OWNER).body["spec"] == manifest.body["spec"]


def test_marking_leaves_the_manifest_as_it_was() -> None:
    manifest = a_deployment()

    marked(manifest, OWNER)

    assert manifest == a_deployment()


@pytest.mark.parametrize(
    ("change", "belongs"),
    [
        pytest.param({}, True, id="its own"),
        pytest.param({"labels": {}}, True, id="by annotations alone, as PipeCD's older agents write"),
        pytest.param({"annotations": {}}, False, id="by labels alone, as Endpoints inherit them"),
        pytest.param({"labels": {"pipecd.dev/application": "app-2"}}, False, id="claimed by another application"),
        pytest.param({"ownerReferences": [{"uid": "u", "controller": True}]}, False, id="made by another object"),
        pytest.param({"ownerReferences": [{"uid": "u"}]}, True, id="owned, but not made by another object"),
    ],
)
def test_an_object_belongs_to_the_application_that_it_names(change: dict[str, Any], belongs: bool) -> None:
    body = marked(a_deployment(), OWNER).body

    assert belongs_to({**body, "metadata": {**body["metadata"], **change}}, "app-1") is belongs


@pytest.mark.parametrize(
    ("named", "belongs"),
    [
        pytest.param("apps:Deployment:shop:web", True, id="as we write it"),
        pytest.param("apps/v1:Deployment:shop:web", True, id="as PipeCD's older agents do"),
        pytest.param("apps:Deployment::web", True, id="where the kubeconfig leads, newer"),
        pytest.param("apps:Deployment:shop:other", False, id="a copy under another name"),
        pytest.param("apps:Deployment:other:web", False, id="a copy in another namespace"),
        pytest.param("apps:Deployment:default:web", False, id="a copy from the default namespace"),
        pytest.param(":Deployment:default:web", False, id="a copy from there of a kind without a group"),
        pytest.param("apps/v1:Deployment:default:web", False, id="a copy from there of one in the older form"),
        pytest.param("web", True, id="what nobody of ours writes"),
    ],
)
def test_a_copy_with_all_its_marks_belongs_to_nobody(named: str, belongs: bool) -> None:
    body = marked(a_deployment(), OWNER).body
    annotations = {**body["metadata"]["annotations"], "pipecd.dev/resource-key": named}
    metadata = {**body["metadata"], "namespace": "shop", "annotations": annotations}

    assert belongs_to({**body, "metadata": metadata}, "app-1") is belongs


@pytest.mark.parametrize(
    ("kind", "name", "belongs"),
    [
        pytest.param("ConfigMap", "web-canary", True, id="a copy of PipeCD's"),
        pytest.param("ConfigMap", "web-canary-kept", False, id="a copy by somebody"),
        pytest.param("ConfigMap", "web-baseline", False, id="with another suffix"),
        pytest.param("Service", "web-canary", False, id="of a kind whose copies name themselves"),
    ],
)
def test_a_copy_that_pipecd_has_made_for_a_variant_belongs_to_it(kind: str, name: str, belongs: bool) -> None:
    metadata = marked(an_object("v1", kind, "web", namespace="shop"), OWNER).metadata
    body = {"apiVersion": "v1", "kind": kind, "metadata": {**metadata, "name": name}}

    assert belongs_to(body, "app-1", ("canary",)) is belongs
    assert not belongs_to(body, "app-1")


@pytest.mark.parametrize("version", ["apps/v1", "v1"])
def test_what_the_older_agents_call_one_of_the_default_namespace_may_be_anywhere(version: str) -> None:
    """They write no labels."""
    metadata = marked(a_deployment(), OWNER).metadata
    annotations = {**metadata["annotations"], "pipecd.dev/resource-key": f"{version}:Deployment:default:web"}
    body = {"kind": "Deployment", "metadata": {"name": "web", "namespace": "shop", "annotations": annotations}}

    assert belongs_to(body, "app-1")


def test_the_objects_of_a_variant_are_found_by_labels() -> None:
    found = selector("app-1", {"pipecd.dev/variant": "canary"})

    assert found == {
        "pipecd.dev/managed-by": "piped",
        "pipecd.dev/application": "app-1",
        "pipecd.dev/variant": "canary",
    }


@pytest.mark.parametrize(
    ("field", "is_ours"),
    [
        pytest.param(".metadata.annotations.pipecd.dev/commit-hash", True, id="an annotation of ours"),
        pytest.param(".metadata.labels.team/variant", True, id="the label of the variant"),
        pytest.param(".metadata.annotations.pipecd.dev/order", False, id="what an author has asked for"),
        pytest.param(".metadata.labels.app", False, id="a label of Git"),
        pytest.param(".data.pipecd.dev/piped", False, id="something else of that name"),
    ],
)
def test_a_field_is_known_for_a_mark(field: str, is_ours: bool) -> None:
    assert is_mark_field(field, "team/variant") is is_ours


def test_a_mark_is_read_from_annotations_first() -> None:
    body = {"metadata": {"labels": {"k": "label", "l": "label"}, "annotations": {"k": "annotation"}}}

    assert [mark(body, key) for key in ("k", "l", "m")] == ["annotation", "label", ""]


def test_an_author_asks_by_the_exact_value() -> None:
    body = {"metadata": {"annotations": {"a": "enabled"}}}

    assert [asks_for(body, "a", "enabled"), asks_for(body, "a", "true"), asks_for({}, "a", "enabled")] == [
        True,
        False,
        False,
    ]
