"""An object moves from one application to another by one commit, which deploys both at once."""

import json
from pathlib import Path

import pytest
import yaml

from fairway.model.deployment import DeploymentStatus
from tests.acceptance.kubernetes.sites import a_cluster_site, an_agent_of
from tests.clusters.running import RunningCluster

NAMES = ("first", "second")


def files(prune: bool, **configs: tuple[str, ...]) -> dict[str, str]:
    """Applications with these ConfigMaps."""
    spec = {"quickSync": {"prune": prune}}
    made = {}
    for name, own in configs.items():
        file = {"apiVersion": "pipecd.dev/v1beta1", "kind": "KubernetesApp", "spec": {"name": name, **spec}}
        bodies = [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": each}} for each in own]
        made[f"{name}/app.pipecd.yaml"] = yaml.safe_dump(file)
        made[f"{name}/manifests.yaml"] = yaml.safe_dump_all(bodies)
    return made


@pytest.mark.parametrize("prune", [pytest.param(True, id="pruning"), pytest.param(False, id="without pruning")])
def test_what_moves_by_one_commit_is_the_new_ones_when_both_are_deployed(
    cluster: RunningCluster, namespace: str, tmp_path: Path, prune: bool
) -> None:
    before = files(prune, first=("moves", "one"), second=("other",))
    with a_cluster_site(tmp_path, before, {"here": an_agent_of(cluster, namespace)}) as site:
        site.register(*NAMES, deploy_targets_by_plugin={"kubernetes": ["here"]})
        for name in NAMES:
            assert site.ended_of(name).status is DeploymentStatus.SUCCEEDED
        site.origin.commit(files(prune, first=("one",), second=("moves", "other")))
        ended = {name: site.ended_of(name) for name in NAMES}
        ids = {name: site.applications()[name].id for name in NAMES}

    assert {
        name: (each.status, each.status_reason)
        for name, each in ended.items()
        if each.status is not DeploymentStatus.SUCCEEDED
    } == {}
    moved = json.loads(cluster.kubectl("get", "configmap", "moves", "-o", "json", namespace=namespace))
    assert moved["metadata"]["annotations"]["pipecd.dev/application"] == ids["second"]
