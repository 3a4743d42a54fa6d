"""An application that changes its deploy target leaves objects behind: they are shown, and pruning removes them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from fairway.config.agent_file import DeployTarget
from fairway.kube.errors import ClusterAway
from fairway.model.application import SyncStatus
from fairway.plugins.kubernetes.plugin import Kubernetes
from fairway.plugins.kubernetes.removing.left_behind import LeftBehind
from fairway.sdk.testing import plugin_under_test
from tests.cluster.kubernetes_applications import (
    Application,
    a_config_map,
    a_deployment,
    a_service,
    kubeconfig_for,
)
from tests.cluster.test_drift import until_it_is
from tests.clusters.running import RunningCluster

ALL = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}


@asynccontextmanager
async def moving(cluster: RunningCluster, folder: Path) -> AsyncIterator[tuple[Application, Application]]:
    """One application, as east and west have it. Each deploy target may see its own namespace only, as two clusters
    would."""
    places = {name: cluster.new_namespace() for name in ("east", "west")}
    targets = []
    for name, namespace in places.items():
        kubeconfig = kubeconfig_for(cluster.limited([ALL], namespace), namespace, folder)
        targets.append(DeployTarget(name=name, config={"kubeConfigPath": str(kubeconfig)}))
    async with plugin_under_test(Kubernetes, folder, targets=tuple(targets)) as plugin:
        plugin.application_id = f"app-{places['east']}"
        east, west = (Application(plugin, cluster, namespace, folder) for namespace in places.values())
        yield east, west


async def test_what_is_left_at_a_former_deploy_target_is_shown_and_pruned(
    cluster: RunningCluster, tmp_path: Path
) -> None:
    async with moving(cluster, tmp_path) as (east, west):
        east.plugin.deploy_targets = ("east",)
        east.commit(a_deployment(), a_service(), a_config_map(a="1"))
        await east.succeed("K8S_SYNC")

        east.plugin.deploy_targets = ("west",)
        ended = await west.succeed("K8S_SYNC")

        assert west.names("deployment") == east.names("deployment") == ["web"]
        (told,) = [each for each in ended.log if "Deploy target east still has objects" in each]
        assert f"Deployment {east.namespace}/web" in told
        assert f"Deployment {west.namespace}/web" not in told
        state = await until_it_is(west, SyncStatus.OUT_OF_SYNC)
        assert (
            state.short_reason
            == "east: 3 objects left at deploy target east, which the application does not use any more"
        )
        assert f"- 2. Service {east.namespace}/web" in state.reason
        resources, _ = await west.plugin.live_state(under_way=False)
        (left,) = [each for each in resources if each.type == "Deployment" and each.deploy_target == "east"]
        assert left.health_description.startswith("left behind: the application is not deployed to east any more")

        ended = await west.succeed("K8S_SYNC", prune=True)

        assert east.all_names("deployment,service,configmap") == []
        assert west.names("deployment") == ["web"]
        assert "Deploy target east is not used any more: 3 objects removed" in ended.log
        await until_it_is(west, SyncStatus.SYNCED)


async def test_a_former_deploy_target_that_is_unreachable_fails_no_deployment(
    cluster: RunningCluster, tmp_path: Path
) -> None:
    async with moving(cluster, tmp_path) as (east, west):
        east.plugin.deploy_targets = ("east",)
        east.commit(a_config_map(a="1"))
        await east.succeed("K8S_SYNC")
        east.plugin.deploy_targets = ("west",)

        async def fail(*_: object) -> list[dict[str, object]]:
            raise ClusterAway("nothing came in time")

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(LeftBehind, "_found", fail)
            ended = await west.succeed("K8S_SYNC", prune=True)

        words = "Deploy target east: objects of this application may be left there: nothing came in time"
        assert [each for each in ended.log if words in each]
        assert east.all_names("configmap") == ["configmap/settings"]

        await west.succeed("K8S_SYNC", prune=True)

        assert east.all_names("configmap") == []
