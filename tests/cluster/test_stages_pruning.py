"""What pruning leaves alone: namespaces and kinds that others use, and copies that people make of objects."""

from pathlib import Path
from typing import Any

import msgspec
import yaml

from tests.cluster.kubernetes_applications import (
    Application,
    a_config_map,
    a_definition,
    a_deployment,
    a_service,
    an_application,
)
from tests.clusters.running import RunningCluster


def a_namespace(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def a_widget(group: str, name: str) -> dict[str, Any]:
    return {"apiVersion": f"{group}/v1", "kind": "Widget", "metadata": {"name": name}}


def within(namespace: str, body: dict[str, Any]) -> dict[str, Any]:
    return {**body, "metadata": {**body["metadata"], "namespace": namespace}}


def is_there(web: Application, kind: str, name: str) -> bool:
    return bool(web.kubectl("get", kind, name, "--ignore-not-found", "-o", "name"))


async def test_a_namespace_and_a_kind_that_others_use_stay_although_they_left_git(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    other, group = f"{namespace}-shared", f"{namespace}.example.com"
    ours = [a_namespace(other), a_definition(group, "Widget"), within(other, a_widget(group, "w"))]
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(*ours, a_config_map(), within(other, a_config_map("c")))
        await web.succeed("K8S_SYNC")
        for body in (a_config_map("other"), a_service("other"), a_widget(group, "theirs")):
            cluster.kubectl("apply", "-f", "-", given=yaml.safe_dump(body), namespace=other)

        web.commit(a_config_map(), quickSync={"prune": True})
        ended = await web.succeed("K8S_SYNC")

        assert ended.log[-1] == "1 object applied, 2 removed"
        no_longer = "; it is no longer this application's"
        foreign = "ConfigMap other and 2 more in it are not this application's"
        assert f"Namespace {other}: kept, because {foreign}{no_longer}" in ended.log
        definition = f"CustomResourceDefinition widgets.{group}: kept, because Widget {other}/theirs would go with it"
        assert f"{definition}{no_longer}" in ended.log
        for kind, name in (("namespace", other), ("crd", f"widgets.{group}")):
            assert "pipecd.dev/" not in cluster.kubectl("get", kind, name, "-o", "yaml", "--show-managed-fields=false")
        # Nobody looks at it again.
        assert not [each for each in (await web.succeed("K8S_SYNC")).log if "kept" in each]
        assert cluster.kubectl("get", f"configmap,widgets.{group}", "-o", "name", namespace=other).split() == [
            "configmap/kube-root-ca.crt",
            "configmap/other",
            f"widget.{group}/theirs",
        ]


async def test_a_namespace_stays_while_git_has_something_in_it(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    other = f"{namespace}-used"
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_namespace(other), within(other, a_config_map("c")))
        await web.succeed("K8S_SYNC")

        web.commit(within(other, a_config_map("c")))
        ended = await web.succeed("K8S_SYNC", prune=True)

        kept = f"Namespace {other}: kept, because Git still has ConfigMap c in it; it is no longer this application's"
        assert kept in ended.log
        assert ended.log[-1] == "1 object applied"
        assert cluster.kubectl("get", "configmap", "c", "-o", "name", namespace=other) == "configmap/c\n"


async def test_a_namespace_and_a_kind_with_nothing_of_others_go_with_all_that_the_application_made_there(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """Pods and whatever else belongs to the application's objects do not keep a namespace."""
    other, group = f"{namespace}-own", f"{namespace}.example.com"
    inside = [a_deployment(), a_service(), a_config_map(), a_widget(group, "w")]
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(
            a_config_map(), a_namespace(other), a_definition(group, "Widget"), *(within(other, each) for each in inside)
        )
        await web.succeed("K8S_SYNC")

        web.commit(a_config_map())
        ended = await web.succeed("K8S_SYNC", prune=True)

        assert ended.log[-1] == "1 object applied, 6 removed"
        assert not is_there(web, "crd", f"widgets.{group}")


async def test_a_namespace_stays_when_it_cannot_be_seen_what_is_in_it(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    other = f"{namespace}-dark"
    verbs = ["get", "list", "watch", "create", "patch", "delete"]
    rights = cluster.limited([{"apiGroups": [""], "resources": ["configmaps", "namespaces"], "verbs": verbs}])
    async with an_application(cluster, namespace, tmp_path, kubeconfig=rights) as web:
        web.commit(a_config_map(), a_namespace(other))
        await web.succeed("K8S_SYNC")

        web.commit(a_config_map())
        ended = await web.succeed("K8S_SYNC", prune=True)

        (said,) = [each for each in ended.log if each.startswith(f"Namespace {other}: kept, because")]
        assert "it cannot be seen whether anybody else uses it" in said
        assert "is not allowed to list" in said
        assert is_there(web, "namespace", other)


async def test_a_copy_of_an_object_with_all_its_marks_is_not_pruned(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_config_map("original"))
        await web.succeed("K8S_SYNC")
        copied = web.get("configmap", "original")["metadata"]
        marks = {each: copied[each] for each in ("labels", "annotations")}
        copy = {**a_config_map("copy"), "metadata": {"name": "copy", **marks}}
        web.kubectl("create", "-f", "-", given=msgspec.json.encode(copy).decode())

        await web.succeed("K8S_SYNC", prune=True)

        assert web.names("configmap") == ["copy", "original"]
