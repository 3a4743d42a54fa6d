"""Which namespace an object is in."""

from typing import Any

from fairway.kube.manifest import Manifest
from fairway.plugins.kubernetes.manifests.scope import in_namespace


def an_object(kind: str, api_version: str = "v1", namespace: str | None = None, **rest: Any) -> Manifest:
    metadata = {"name": "it"} if namespace is None else {"name": "it", "namespace": namespace}
    return Manifest({"apiVersion": api_version, "kind": kind, "metadata": metadata, **rest})


async def namespaces(*manifests: Manifest, namespace: str = "") -> list[str | None]:
    placed = await in_namespace(manifests, namespace)
    return [each.metadata.get("namespace") for each in placed]


async def test_the_namespace_of_the_application_is_that_of_every_object_that_has_one() -> None:
    objects = [an_object("Service"), an_object("Secret", namespace="other"), an_object("Namespace", namespace="odd")]

    assert await namespaces(*objects, namespace="shop") == ["shop", "shop", None]


async def test_without_one_each_object_stays_where_it_says() -> None:
    objects = [an_object("Service"), an_object("Secret", namespace="other")]

    assert await namespaces(*objects) == [None, "other"]


async def test_a_definition_among_the_manifests_tells_of_its_kind() -> None:
    spec = {"group": "example.com", "names": {"kind": "Planet"}, "scope": "Cluster"}
    definition = an_object("CustomResourceDefinition", "apiextensions.k8s.io/v1", spec=spec)

    assert await namespaces(definition, an_object("Planet", "example.com/v1"), namespace="shop") == [None, None]


async def test_a_cluster_is_asked_once_for_each_kind() -> None:
    asked: list[tuple[str, str]] = []

    async def namespaced(api_version: str, kind: str) -> bool | None:
        asked.append((api_version, kind))
        return False if kind == "Planet" else None

    objects = [an_object("Planet", "example.com/v1"), an_object("Planet", "example.com/v1"), an_object("Pod")]

    placed = await in_namespace(objects, "shop", namespaced)

    assert [each.namespace for each in placed] == ["", "", "shop"]
    assert asked == [("example.com/v1", "Planet"), ("v1", "Pod")]


async def test_a_manifest_that_needs_no_change_is_not_copied() -> None:
    manifest = an_object("Pod", namespace="shop")

    (placed,) = await in_namespace([manifest], "shop")

    assert placed is manifest
