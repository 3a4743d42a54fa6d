"""An agent or a plugin that is killed in the middle of a stage: another goes on with it, and nothing is left behind."""

import os
import signal
from pathlib import Path

import pytest

from fairway.model.deployment import DeploymentStatus
from tests.acceptance.agent.sites import kill, plugin_hosts, until
from tests.acceptance.kubernetes.gates import GATE_PATH, behind, hold, let_go, open_gate
from tests.acceptance.kubernetes.pipelines import NEW, OLD, Change, an_application, manifests
from tests.acceptance.kubernetes.sites import ClusterSite, a_cluster_site, an_agent_of, objects
from tests.clusters.running import RunningCluster

#: Application → the stage in which it waits for the kill. The first three have pods that cannot run yet, the canaries
#: of the last two cannot go.
WAITS_IN = {
    "first": "K8S_SYNC",
    "canary": "K8S_CANARY_ROLLOUT",
    "primary": "K8S_PRIMARY_ROLLOUT",
    "clean": "K8S_CANARY_CLEAN",
    "undone": "K8S_ROLLBACK",
}
HELD = ("clean", "undone")
_HERE = {"kubernetes": ["here"]}


@pytest.mark.parametrize("who", ["agent", "plugin"])
def test_every_stage_goes_on_after_a_kill(cluster: RunningCluster, namespace: str, tmp_path: Path, who: str) -> None:
    changes = _changes(cluster, namespace)
    later = {f"{name}/app.pipecd.yaml": an_application(name, tmp_path, changes.get(name)) for name in WAITS_IN}
    old = {path: text for path, text in later.items() if not path.startswith("first/")}
    old |= {f"{name}/manifests.yaml": manifests(name) for name in WAITS_IN if name != "first"}
    shut = behind(f"{namespace}-shut")
    later |= {f"{name}/manifests.yaml": manifests(name, NEW, {} if name in HELD else shut) for name in WAITS_IN}
    open_gate(cluster, f"{namespace}-open")

    with a_cluster_site(tmp_path, old, {"here": an_agent_of(cluster, namespace)}) as site:
        earlier = [name for name in WAITS_IN if name != "first"]
        site.register(*earlier, deploy_targets_by_plugin=_HERE)
        assert {site.ended_of(name).status for name in earlier} == {DeploymentStatus.SUCCEEDED}
        site.origin.commit(later)
        site.register("first", deploy_targets_by_plugin=_HERE)
        for name, stage in WAITS_IN.items():
            site.in_stage(name, stage)
        until(lambda: _waiting(cluster, namespace) == 5, pause=0.2)

        _kill(site, who)
        open_gate(cluster, f"{namespace}-shut")
        for name in HELD:
            let_go(cluster, namespace, name)

        ended = {name: site.ended_of(name).status for name in WAITS_IN}
    failed = {"undone": DeploymentStatus.FAILED}
    assert ended == dict.fromkeys(WAITS_IN, DeploymentStatus.SUCCEEDED) | failed
    assert _deployed(cluster, namespace) == dict.fromkeys(WAITS_IN, NEW) | {"undone": OLD}


def _changes(cluster: RunningCluster, namespace: str) -> dict[str, dict[int, Change]]:
    """Application → how its pipeline differs from the usual one."""
    op = {"path": GATE_PATH, "value": f"{namespace}-open"}
    elsewhere = {"patches": [{"target": {"kind": "Deployment", "name": "primary"}, "ops": [op]}]}
    holding = {name: hold(cluster, namespace, name) for name in HELD}
    return {
        "primary": {1: {"with": elsewhere}},
        "clean": {5: {"with": {"run": holding["clean"]}}},
        "undone": {5: {"with": {"run": f"{holding['undone']} && exit 1"}}},
    }


def _waiting(cluster: RunningCluster, namespace: str) -> int:
    """How many stages have got as far as they can: pods that wait for a node, canaries that are to go."""
    found = objects(cluster, namespace, "pods,deployments")
    pods = [each for each in found if each["status"].get("phase") == "Pending"]
    going = [each for each in found if each["kind"] == "Deployment" and "deletionTimestamp" in each["metadata"]]
    return len(pods) + len(going)


def _deployed(cluster: RunningCluster, namespace: str) -> dict[str, str]:
    """Name → image of every Deployment."""
    found = objects(cluster, namespace, "deployments")
    return {each["metadata"]["name"]: each["spec"]["template"]["spec"]["containers"][0]["image"] for each in found}


def _kill(site: ClusterSite, who: str) -> None:
    if who == "plugin":
        for each in plugin_hosts(site.agent_proper):
            os.kill(each, signal.SIGKILL)
        return
    kill(site.agent)
    site.start_agent()
