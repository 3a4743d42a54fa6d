"""Whose objects and fields are whose: taking over from kubectl and PipeCD, conflicts, and pruning."""

import itertools
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from fairway.kube.cluster import Cluster
from fairway.kube.errors import ClusterAway
from fairway.kube.manifest import Body
from tests.cluster.kubernetes_applications import (
    FAILED,
    a_config_map,
    a_definition,
    a_deployment,
    a_service,
    a_stateful_set,
    an_application,
    pods,
)
from tests.clusters.running import RunningCluster


def by_pipecd(namespace: str, application: str = "") -> dict[str, str]:
    """The marks of an application that PipeCD has deployed."""
    return {
        "pipecd.dev/managed-by": "piped",
        "pipecd.dev/piped": "agent",
        "pipecd.dev/application": application or f"app-{namespace}",
        "pipecd.dev/variant": "primary",
    }


def labelled(body: dict[str, Any], marks: dict[str, str]) -> dict[str, Any]:
    """The object as PipeCD's newer agents mark it."""
    return annotated({**body, "metadata": {**body["metadata"], "labels": marks}}, marks)


def annotated(body: dict[str, Any], marks: dict[str, str]) -> dict[str, Any]:
    """The object as PipeCD's older agents mark it: by annotations alone."""
    return {**body, "metadata": {**body["metadata"], "annotations": marks}}


async def test_what_pipecd_has_deployed_is_taken_over_without_a_restart(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        deployed = a_deployment(replicas=2, terminationGracePeriodSeconds=7)
        web.kubectl("apply", "-f", "-", given=annotated(deployed, by_pipecd(namespace)))
        web.kubectl("rollout", "status", "deployment/web", "--timeout=240s")
        before = pods(web)

        web.commit(a_deployment(replicas=2, terminationGracePeriodSeconds=7))
        ended = await web.succeed("K8S_SYNC")

        assert f"Deployment {namespace}/web: taken over from kubectl" in ended.log
        assert pods(web) == before
        metadata = web.get("deployment", "web")["metadata"]
        assert "kubectl.kubernetes.io/last-applied-configuration" not in metadata["annotations"]
        assert metadata["labels"]["pipecd.dev/application"] == f"app-{namespace}"


async def test_what_older_agents_have_started_without_a_hash_rolls_with_the_first_change_only(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """They hash the configuration of Deployments alone; nobody there hashes `stringData` and projected volumes."""
    stateful = a_stateful_set("set", container={"envFrom": [{"configMapRef": {"name": "settings"}}]})
    sources = [{"secret": {"name": "texts"}}, {"configMap": {"name": "settings"}}]
    projecting = a_deployment("projecting", volumes=[{"name": "v", "projected": {"sources": sources}}])
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "texts"}, "stringData": {"a": "1"}}
    workloads = (stateful, projecting)
    async with an_application(cluster, namespace, tmp_path) as web:
        for each in (a_config_map(a="1"), secret, *workloads):
            web.kubectl("apply", "-f", "-", given=annotated(each, by_pipecd(namespace)))
        for name in ("statefulset/set", "deployment/projecting"):
            web.kubectl("rollout", "status", name, "--timeout=240s")
        before = pods(web)

        for _ in range(2):
            web.commit(a_config_map(a="1"), secret, *workloads)
            await web.succeed("K8S_SYNC")
        kept = pods(web)
        web.commit(a_config_map(a="2"), secret, *workloads)
        await web.succeed("K8S_SYNC")

        assert kept == before
        assert not pods(web) & before


async def test_what_is_taken_over_is_not_restarted_although_the_cluster_goes_away_in_the_middle(
    cluster: RunningCluster, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the configuration, which is not as somebody else has put it any more."""
    bodies = (a_config_map(a="1"), a_stateful_set(container={"envFrom": [{"configMapRef": {"name": "settings"}}]}))
    apply, times = Cluster.apply, itertools.count()

    async def breaking(self: Cluster, body: Body, *, dry_run: bool = False, force: bool = False) -> dict[str, Any]:
        if body["kind"] == "StatefulSet" and not dry_run and next(times) == 0:
            raise ClusterAway("The cluster test went away")
        return await apply(self, body, dry_run=dry_run, force=force)

    monkeypatch.setattr(Cluster, "apply", breaking)
    async with an_application(cluster, namespace, tmp_path) as web:
        for each in bodies:
            web.kubectl("apply", "-f", "-", given=annotated(each, by_pipecd(namespace)))
        web.kubectl("rollout", "status", "statefulset/db", "--timeout=240s")
        before = pods(web)
        web.commit(*bodies)

        ended = await web.succeed("K8S_SYNC")

        assert "The cluster test went away; the stage goes on as soon as it answers" in ended.log
        assert pods(web) == before


async def test_fields_that_leave_git_leave_what_was_taken_over(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.kubectl("apply", "-f", "-", given=annotated(a_config_map(a="1", gone="x"), by_pipecd(namespace)))

        web.commit(a_config_map(a="2"))
        await web.succeed("K8S_SYNC")

        assert web.get("configmap", "settings")["data"] == {"a": "2"}


async def test_what_people_change_by_hand_is_taken_back_and_told(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_config_map(a="1"))
        await web.succeed("K8S_SYNC")
        web.kubectl("patch", "configmap", "settings", "-p", '{"data": {"a": "by hand"}}')

        ended = await web.succeed("K8S_SYNC")

        assert web.get("configmap", "settings")["data"] == {"a": "1"}
        assert f"ConfigMap {namespace}/settings: .data.a as Git says, no longer as kubectl-patch did" in ended.log


async def test_what_would_have_been_taken_back_is_not_told_where_nothing_was_applied(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_config_map(a="1"))
        await web.succeed("K8S_SYNC")
        web.kubectl("patch", "configmap", "settings", "-p", '{"data": {"a": "by hand"}}')
        web.commit(a_config_map(a="1"), {**a_config_map("misspelt"), "dtaa": {}})

        ended = await web.run("K8S_SYNC")

        assert ended.status is FAILED
        assert [line for line in ended.log if "as Git says" in line] == []


async def test_a_field_that_a_controller_manages_fails_the_stage_with_its_name(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """Defect 34 of PipeCD: no field manager, and no say in conflicts."""
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_config_map(a="1"))
        await web.succeed("K8S_SYNC")
        text = yaml.safe_dump(a_config_map(a="theirs"))
        web.kubectl("apply", "--server-side", "--force-conflicts", "--field-manager=tuner", "-f", "-", given=text)

        refused = await web.run("K8S_SYNC")
        config = a_config_map(a="1")
        config["metadata"]["annotations"] = {"fairway.dev/on-conflict": "override"}
        web.commit(config)
        await web.succeed("K8S_SYNC")

        assert refused.status is FAILED
        for word in ("tuner", ".data.a", "fairway.dev/on-conflict: override", "manifests.yaml"):
            assert word in refused.message
        assert web.get("configmap", "settings")["data"] == {"a": "1"}


async def test_the_number_of_replicas_is_left_to_whoever_scales(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(replicas=1))
        await web.succeed("K8S_SYNC")
        scaled = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"replicas": 3}}
        text = yaml.safe_dump(scaled)
        web.kubectl("apply", "--server-side", "--force-conflicts", "--field-manager=scaler", "-f", "-", given=text)

        web.commit(a_deployment(replicas=1, image="web:2"))
        ended = await web.succeed("K8S_SYNC")

        assert web.get("deployment", "web")["spec"]["replicas"] == 3
        said = f"Deployment {namespace}/web: the number of replicas is left to scaler, which scales it"
        assert ended.log.count(said) == 1


async def test_who_scales_and_who_edits_by_hand_are_told_apart_at_one_object(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(replicas=1))
        await web.succeed("K8S_SYNC")
        scale = f"/apis/apps/v1/namespaces/{namespace}/deployments/web/scale?fieldManager=autoscaler"
        cluster.api.merge(scale, {"spec": {"replicas": 3}})
        web.kubectl("set", "image", "deployment/web", "*=web:by-hand")

        web.commit(a_deployment(replicas=1, image="web:2"))
        await web.succeed("K8S_SYNC")

        spec = web.get("deployment", "web")["spec"]
        assert (spec["replicas"], spec["template"]["spec"]["containers"][0]["image"]) == (3, "web:2")


async def test_an_object_that_is_there_in_another_version_of_its_kind_is_not_new(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    group = f"{namespace}.example.com"
    definition = a_definition(group, "Thing")
    thing = {"apiVersion": f"{group}/v1", "kind": "Thing", "metadata": {"name": "by-hand"}, "a": 1}
    (first,) = definition["spec"]["versions"]
    both = deepcopy(definition)
    both["spec"]["versions"] = [first, {**first, "name": "v2", "storage": False}]
    async with an_application(cluster, namespace, tmp_path) as web:
        web.kubectl("apply", "-f", "-", given=definition)
        cluster.wait_for(f"/apis/{group}/v1/namespaces/{namespace}/things")
        web.kubectl("apply", "-f", "-", given=thing)
        uid = web.get(f"things.{group}", "by-hand")["metadata"]["uid"]
        web.commit(both, {**thing, "apiVersion": f"{group}/v2", "a": 2})

        ended = await web.succeed("K8S_SYNC")
        await web.run("K8S_ROLLBACK")

        assert not [line for line in ended.log if "by-hand: created" in line]
        assert web.get(f"things.{group}", "by-hand")["metadata"]["uid"] == uid


async def test_pruning_takes_what_left_git_and_nothing_that_is_not_the_applications(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """Defects 4, 5 and 12 of PipeCD: what was just applied, or is of the same name elsewhere, is told apart."""
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_config_map("stays"), a_config_map("goes"), a_service("goes"), a_deployment())
        await web.succeed("K8S_SYNC")
        for other in (
            labelled(a_config_map("others"), by_pipecd(namespace, "another")),
            a_config_map("nobodys"),
            annotated(labelled(a_config_map("inherited"), by_pipecd(namespace)), {}),
        ):
            web.kubectl("apply", "-f", "-", given=other)

        web.commit(a_config_map("stays"), a_deployment())
        unpruned = await web.succeed("K8S_SYNC")
        pruned = await web.succeed("K8S_SYNC", prune=True)

        assert "removed" not in unpruned.log[-1]
        assert pruned.log[-1] == "2 objects applied, 2 removed"
        names = ("stays", "others", "nobodys", "inherited")
        assert web.all_names("configmap,service") == sorted(f"configmap/{each}" for each in names)


async def test_pruning_needs_no_more_rights_than_applying(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """Defect 28 of PipeCD: one had to be allowed to list every kind in the whole cluster."""
    verbs = ["get", "list", "watch", "create", "patch", "delete"]
    rights = cluster.limited([{"apiGroups": [""], "resources": ["configmaps"], "verbs": verbs}], namespace)
    async with an_application(cluster, namespace, tmp_path, kubeconfig=rights) as web:
        web.commit(a_config_map("a"), a_config_map("b"))
        await web.succeed("K8S_SYNC", prune=True)

        web.commit(a_config_map("a"))
        ended = await web.succeed("K8S_SYNC", prune=True)

        assert ended.log[-1] == "1 object applied, 1 removed"
        assert web.names("configmap") == ["a"]


async def test_what_pipecd_left_behind_is_found_wherever_it_is(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """By labels everywhere once, and by what the running commit says where there are no labels."""
    async with an_application(cluster, namespace, tmp_path) as web:
        web.kubectl("apply", "-f", "-", given=annotated(a_config_map("old"), by_pipecd(namespace)))
        web.kubectl("apply", "-f", "-", given=labelled(a_service("left"), by_pipecd(namespace)))
        web.commit(a_config_map("old"), a_config_map("new"))
        web.deployed()

        web.commit(a_config_map("new"))
        ended = await web.succeed("K8S_SYNC", prune=True)

        assert ended.log[-1] == "1 object applied, 2 removed"
        assert (web.names("configmap"), web.names("service")) == (["new"], [])


async def test_the_settings_of_quick_sync_hold_for_a_quick_sync(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_config_map("a"), a_config_map("b"))
        await web.succeed("K8S_SYNC")

        web.commit(a_config_map("a"), quickSync={"prune": True})
        ended = await web.succeed("K8S_SYNC")

        assert ended.log[-1] == "1 object applied, 1 removed"


async def test_a_kind_that_went_away_took_its_objects_along(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    group = f"{namespace}.example.com"
    definition = a_definition(group, "Widget")
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(definition, {"apiVersion": f"{group}/v1", "kind": "Widget", "metadata": {"name": "w"}})
        await web.succeed("K8S_SYNC")
        web.kubectl("delete", "crd", f"widgets.{group}", "--timeout=240s")

        web.commit(a_config_map())
        ended = await web.succeed("K8S_SYNC", prune=True)

        assert ended.log[-1] == "1 object applied"


async def test_an_object_that_moves_to_another_namespace_leaves_the_one_where_it_was(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """Defect 12 of PipeCD: what has moved was never pruned."""
    other = cluster.new_namespace()
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_config_map("moves"), a_config_map("stays"))
        await web.succeed("K8S_SYNC")

        moved = a_config_map("moves")
        moved["metadata"]["namespace"] = other
        web.commit(moved, a_config_map("stays"))
        await web.succeed("K8S_SYNC", prune=True)

        assert web.names("configmap") == ["stays"]
        assert cluster.kubectl("get", "configmap", "moves", "-o", "name", namespace=other) == "configmap/moves\n"


async def test_kinds_of_the_same_name_are_told_apart_by_their_groups(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """Defect 13 of PipeCD: it asked for, and deleted, whichever kind of that name the cluster came upon first."""
    group = f"{namespace}.example.com"
    definition = a_definition(group, "ConfigMap")
    custom = {**a_config_map("a"), "apiVersion": f"{group}/v1"}
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(definition, custom, a_config_map("a"), a_config_map("b"))
        await web.succeed("K8S_SYNC")

        web.commit(definition, custom, a_config_map("b"))
        ended = await web.succeed("K8S_SYNC", prune=True)

        assert ended.log[-1] == "3 objects applied, 1 removed"
        assert (web.names("configmaps"), web.names(f"configmaps.{group}")) == (["b"], ["a"])
