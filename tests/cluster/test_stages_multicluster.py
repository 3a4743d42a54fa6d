"""Applications on several deploy targets: here several namespaces of one cluster, by a kubeconfig each."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import yaml

from fairway.config.agent_file import DeployTarget
from fairway.config.stages import K8sSyncOptions
from fairway.errors import TemporaryError
from fairway.model.application import SyncStatus
from fairway.plugins.kubernetes import stages
from fairway.plugins.kubernetes.plugin import Kubernetes, KubernetesMulticluster, OnClusters
from fairway.plugins.kubernetes.site import Site
from fairway.plugins.kubernetes.stages import sync
from fairway.sdk.testing import plugin_under_test
from tests.cluster.kubernetes_applications import (
    FAILED,
    Application,
    a_config_map,
    a_deployment,
    a_service,
    kubeconfig_for,
)
from tests.cluster.test_stages_variants import labelled, selected, selecting_primary
from tests.clusters.running import RunningCluster
from tests.integration.agent.running import until


@asynccontextmanager
async def on_two(
    cluster: RunningCluster, folder: Path, kind: type[OnClusters] = KubernetesMulticluster
) -> AsyncIterator[tuple[Application, Application]]:
    """One application on two deploy targets, east and west, as each of them has it."""
    places = {name: cluster.new_namespace() for name in ("east", "west")}
    targets = [
        DeployTarget(
            name=name,
            labels={"side": name},
            config={"kubeConfigPath": str(kubeconfig_for(cluster.kubeconfig, namespace, folder))},
        )
        for name, namespace in places.items()
    ]
    async with plugin_under_test(kind, folder, targets=tuple(targets)) as plugin:
        plugin.application_id = f"app-{places['east']}"
        east, west = (Application(plugin, cluster, namespace, folder) for namespace in places.values())
        yield east, west


async def test_a_stage_works_on_all_clusters_and_tells_of_each(cluster: RunningCluster, tmp_path: Path) -> None:
    async with on_two(cluster, tmp_path) as (east, west):
        east.commit(a_deployment(), plugin="kubernetes_multicluster")

        ended = await east.run("K8S_MULTI_SYNC", id="s")

        assert ended.message == ""
        assert (east.names("deployment"), west.names("deployment")) == (["web"], ["web"])
        notes = east.plugin.agent.stage_notes["s"]
        assert notes["fairway/target/east"] == notes["fairway/target/west"] == "succeeded: 1 object applied"
        assert all(line.startswith(("east: ", "west: ")) for line in ended.log), ended.log
        assert f"west: Deployment {west.namespace}/web: created" in ended.log


async def test_a_cluster_that_fails_does_not_keep_the_others_from_their_work(
    cluster: RunningCluster, tmp_path: Path
) -> None:
    async with on_two(cluster, tmp_path) as (east, west):
        theirs = yaml.safe_dump(a_config_map(a="theirs"))
        west.kubectl("apply", "--server-side", "--field-manager=tuner", "-f", "-", given=theirs)
        east.commit(a_config_map(a="1"), plugin="kubernetes_multicluster")

        ended = await east.run("K8S_MULTI_SYNC")

        assert ended.status is FAILED
        assert ended.message.startswith("1 of 2 deploy targets failed: west:")
        assert east.names("configmap") == ["settings"]


async def test_a_stage_may_be_for_some_clusters_only(cluster: RunningCluster, tmp_path: Path) -> None:
    async with on_two(cluster, tmp_path) as (east, west):
        east.commit(a_deployment(), plugin="kubernetes_multicluster")

        await east.succeed("K8S_MULTI_CANARY_ROLLOUT", multiTargets=["west"])
        unknown = await east.run("K8S_MULTI_CANARY_ROLLOUT", {"multiTargets": ["north"]})
        there = (east.names("deployment"), west.names("deployment"))
        await east.succeed("K8S_MULTI_CANARY_CLEAN")

        assert there == ([], ["web-canary"])
        assert west.names("deployment") == []
        assert unknown.message == "multiTargets names north; the application's deploy targets are east, west"


async def test_canary_baseline_and_traffic_on_several_clusters(cluster: RunningCluster, tmp_path: Path) -> None:
    def seen(web: Application) -> tuple[list[str], str]:
        return web.names("deployment"), selected(web)

    async with on_two(cluster, tmp_path) as (east, west):
        east.commit(labelled(a_deployment()), selecting_primary(), plugin="kubernetes_multicluster")
        await east.succeed("K8S_MULTI_SYNC")
        east.deployed()
        east.commit(labelled(a_deployment(image="web:2")), selecting_primary(), plugin="kubernetes_multicluster")

        await east.succeed("K8S_MULTI_CANARY_ROLLOUT")
        await east.succeed("K8S_MULTI_BASELINE_ROLLOUT", multiTargets=["west"])
        await east.succeed("K8S_MULTI_TRAFFIC_ROUTING", all="canary", multiTargets=["east"])
        halfway = seen(east), seen(west)
        await east.succeed("K8S_MULTI_PRIMARY_ROLLOUT")
        await east.succeed("K8S_MULTI_TRAFFIC_ROUTING", all="primary")
        await east.succeed("K8S_MULTI_BASELINE_CLEAN")
        await east.succeed("K8S_MULTI_CANARY_CLEAN", multiTargets=["east"])

        assert halfway == ((["web", "web-canary"], "canary"), (["web", "web-baseline", "web-canary"], "primary"))
        assert (seen(east), seen(west)) == ((["web"], "primary"), (["web", "web-canary"], "primary"))
        assert [image_of(each, "web") for each in (east, west)] == ["web:2", "web:2"]


def image_of(web: Application, name: str) -> str:
    (container,) = web.get("deployment", name)["spec"]["template"]["spec"]["containers"]
    return str(container["image"])


async def test_each_cluster_may_have_manifests_of_its_own(cluster: RunningCluster, tmp_path: Path) -> None:
    async with on_two(cluster, tmp_path) as (east, west):
        for_west = {"target": {"labels": {"side": "west"}}, "manifests": ["west.yaml"]}
        for_east = {"target": {"name": "east"}, "manifests": ["manifests.yaml"]}
        settings = {"input": {"multiTargets": [for_east, for_west]}}
        east.commit(a_config_map("here"), plugin="kubernetes_multicluster", **settings)
        (east.plugin.folder / "west.yaml").write_text(yaml.safe_dump(a_config_map("there")))

        await east.succeed("K8S_MULTI_SYNC")

        assert (east.names("configmap"), west.names("configmap")) == (["here"], ["there"])


async def test_a_rollback_takes_away_what_went_to_a_cluster_that_is_new(
    cluster: RunningCluster, tmp_path: Path
) -> None:
    async with on_two(cluster, tmp_path) as (east, west):
        only_east = {"input": {"multiTargets": [{"target": {"name": "east"}}]}}
        east.commit(a_config_map(a="1"), plugin="kubernetes_multicluster", **only_east)
        await east.succeed("K8S_MULTI_SYNC")
        east.deployed()
        east.commit(a_config_map(a="2"), plugin="kubernetes_multicluster")
        await east.succeed("K8S_MULTI_SYNC")

        await east.succeed("K8S_MULTI_ROLLBACK")

        assert east.get("configmap", "settings")["data"] == {"a": "1"}
        assert west.names("configmap") == []


async def test_objects_are_routed_to_other_clusters_and_pruned_there(cluster: RunningCluster, tmp_path: Path) -> None:
    """Defect 30 of PipeCD: what was routed elsewhere was never pruned."""
    route = {"provider": {"name": "west"}, "match": {"kind": "ConfigMap"}}
    async with on_two(cluster, tmp_path, Kubernetes) as (east, west):
        east.plugin.deploy_targets = ("east",)
        east.commit(a_deployment(), a_config_map("a"), a_config_map("b"), resourceRoutes=[route])
        await east.succeed("K8S_SYNC")
        routed = (east.names("configmap"), west.names("configmap"), west.names("deployment"))

        east.commit(a_deployment(), a_config_map("a"), resourceRoutes=[route])
        await east.succeed("K8S_SYNC", prune=True)

        assert routed == ([], ["a", "b"], [])
        assert west.names("configmap") == ["a"]
        assert east.names("deployment") == ["web"]


async def test_what_is_routed_goes_nowhere_else_when_a_stage_is_tried_again(
    cluster: RunningCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []

    async def troubled(site: Site, options: K8sSyncOptions) -> str:
        tried.append(site.target.name)
        if len(tried) <= 2:
            raise TemporaryError("for now")
        return await sync(site, options)

    monkeypatch.setattr(stages, "sync", troubled)
    route = {"provider": {"name": "west"}, "match": {"kind": "ConfigMap"}}
    async with on_two(cluster, tmp_path, Kubernetes) as (east, west):
        east.plugin.deploy_targets = ("east",)
        east.commit(a_deployment(), a_config_map(), resourceRoutes=[route])

        await east.succeed("K8S_SYNC")

        assert sorted(tried) == ["east", "east", "west", "west"]
        assert (east.all_names("deployment,configmap"), west.all_names("deployment,configmap")) == (
            ["deployment.apps/web"],
            ["configmap/settings"],
        )


async def test_neither_another_commit_nor_what_a_service_makes_is_drift(
    cluster: RunningCluster, tmp_path: Path
) -> None:
    """Defect 7 of PipeCD: both were, on several clusters, for ever."""
    async with on_two(cluster, tmp_path) as (east, west):
        east.commit(a_deployment(), a_service(), plugin="kubernetes_multicluster")
        await east.succeed("K8S_MULTI_SYNC")
        east.commit(a_deployment(), a_service(), plugin="kubernetes_multicluster")
        slices = "endpointslices.discovery.k8s.io"

        async def made() -> bool:
            return all(each.names(slices, "kubernetes.io/service-name=web") for each in (east, west))

        await until(made)

        async def synced() -> bool:
            return (await east.plugin.live_state())[1].status is SyncStatus.SYNCED

        assert await until(synced)
