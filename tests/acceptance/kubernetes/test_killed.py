"""An agent or a plugin that is killed in the middle of a stage: another goes on with it, and nothing is left behind."""

import os
import signal
from pathlib import Path

import pytest

from fairway.model.deployment import DeploymentStatus
from tests.acceptance.agent.sites import kill, plugin_hosts, until
from tests.acceptance.kubernetes.gates import GATE_PATH, behind, open_gate
from tests.acceptance.kubernetes.pipelines import NEW, Change, an_application, manifests
from tests.acceptance.kubernetes.sites import ClusterSite, a_cluster_site, an_agent_of, images, objects
from tests.clusters.running import RunningCluster


@pytest.mark.parametrize("who", ["agent", "plugin"])
def test_every_rollout_goes_on_after_a_kill(cluster: RunningCluster, namespace: str, tmp_path: Path, who: str) -> None:
    waits_in = {"first": "K8S_SYNC", "canary": "K8S_CANARY_ROLLOUT", "primary": "K8S_PRIMARY_ROLLOUT"}
    apart = {"primary": _canary_elsewhere("primary", f"{namespace}-open")}
    old = {f"{name}/app.pipecd.yaml": an_application(name, tmp_path, apart.get(name)) for name in ("canary", "primary")}
    old |= {f"{name}/manifests.yaml": manifests(name) for name in ("canary", "primary")}
    new = {f"{name}/manifests.yaml": manifests(name, NEW, behind(f"{namespace}-shut")) for name in waits_in}
    new["first/app.pipecd.yaml"] = an_application("first", tmp_path)
    open_gate(cluster, f"{namespace}-open")

    with a_cluster_site(tmp_path, old, {"here": an_agent_of(cluster, namespace)}) as site:
        site.register("canary", "primary", deploy_targets_by_plugin={"kubernetes": ["here"]})
        for name in ("canary", "primary"):
            assert site.ended_of(name).status is DeploymentStatus.SUCCEEDED
        site.origin.commit(new)
        site.register("first", deploy_targets_by_plugin={"kubernetes": ["here"]})
        for name, stage in waits_in.items():
            site.in_stage(name, stage)
        _wait_for_pods_that_wait(cluster, namespace)

        _kill(site, who)
        open_gate(cluster, f"{namespace}-shut")

        ended = {name: site.ended_of(name).status for name in waits_in}
    assert ended == dict.fromkeys(waits_in, DeploymentStatus.SUCCEEDED)
    assert images(cluster, namespace) == {NEW}
    assert [each for each in objects(cluster, namespace) if "-canary" in each["metadata"]["name"]] == []


def _canary_elsewhere(name: str, gate: str) -> dict[int, Change]:
    """A canary that waits at another gate than the primary."""
    patch = {"target": {"kind": "Deployment", "name": name}, "ops": [{"path": GATE_PATH, "value": gate}]}
    return {1: {"with": {"patches": [patch]}}}


def _wait_for_pods_that_wait(cluster: RunningCluster, namespace: str) -> None:
    """Each of the three rollouts has got as far as it can."""

    def pending() -> bool:
        pods = objects(cluster, namespace, "pods")
        return len([each for each in pods if each["status"].get("phase") == "Pending"]) == 3

    until(pending, pause=0.2)


def _kill(site: ClusterSite, who: str) -> None:
    if who == "plugin":
        for each in plugin_hosts(site.agent_proper):
            os.kill(each, signal.SIGKILL)
        return
    kill(site.agent)
    site.start_agent()
