"""An API server that is busy, and credentials that were not good until somebody renewed them."""

import json
from pathlib import Path
from typing import Any

from fairway.model.deployment import Deployment, DeploymentStatus
from tests.acceptance.agent.sites import until
from tests.acceptance.kubernetes.doors import a_door
from tests.acceptance.kubernetes.gates import behind, open_gate
from tests.acceptance.kubernetes.pipelines import NEW, STAGES, an_application, manifests
from tests.acceptance.kubernetes.sites import ClusterSite, a_cluster_site, an_agent_of, images
from tests.clusters.running import RunningCluster

_HERE = {"kubernetes": ["here"]}


def test_a_busy_api_server_is_waited_for(cluster: RunningCluster, namespace: str, tmp_path: Path) -> None:
    files = {"web/app.pipecd.yaml": an_application("web", tmp_path), "web/manifests.yaml": manifests("web")}

    with a_door(cluster) as door:
        door.busy = True
        kubeconfig = door.kubeconfig(an_agent_of(cluster, namespace))
        with a_cluster_site(tmp_path, files, {"here": kubeconfig}) as site:
            site.register("web", deploy_targets_by_plugin=_HERE)
            assert site.ended_of("web").status is DeploymentStatus.SUCCEEDED
            site.origin.commit({"web/manifests.yaml": manifests("web", NEW)})
            ended = site.ended_of("web")
            site.all_told()
            said = [site.log(ended, number) for number in range(len(STAGES))]

    assert (ended.status, images(cluster, namespace)) == (DeploymentStatus.SUCCEEDED, {NEW})
    assert {method for method, _ in door.refused} >= {"PATCH", "DELETE"}
    # Each call is made again by itself; no stage has to begin anew for that.
    assert [text for text in said if "too busy" in text] == []


def test_credentials_that_are_refused_are_said_to_be_and_work_once_they_are_renewed(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    files = {"web/app.pipecd.yaml": an_application("web", tmp_path), "web/manifests.yaml": manifests("web")}
    kubeconfig, handed = an_agent_of(cluster, namespace), tmp_path / "handed"
    config = json.loads(kubeconfig.read_text())
    good = config["users"][0]["user"]["token"]
    config["users"][0]["user"] = _by_program(handed)
    kubeconfig.write_text(json.dumps(config))
    handed.write_text(_credential("over"))

    with a_cluster_site(tmp_path, files, {"here": kubeconfig}) as site:
        site.register("web", deploy_targets_by_plugin=_HERE)
        refused = site.ended_of("web")
        handed.write_text(_credential(good))
        site.origin.commit({"web/manifests.yaml": manifests("web", NEW)})
        renewed = site.ended_of("web")

    assert refused.status is DeploymentStatus.FAILED
    assert "credentials" in refused.status_reason
    assert (renewed.status, images(cluster, namespace)) == (DeploymentStatus.SUCCEEDED, {NEW})


def test_credentials_that_are_over_in_the_middle_of_a_pipeline_are_waited_for(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    names, gate = ("file", "program"), f"{namespace}-gate"
    files = {f"{name}/app.pipecd.yaml": an_application(name, tmp_path) for name in names}
    files |= {f"{name}/manifests.yaml": manifests(name) for name in names}
    real = [an_agent_of(cluster, namespace), cluster.account(namespace, "fairway-agent")]
    old, new = (json.loads(each.read_text())["users"][0]["user"]["token"] for each in real)
    file, handed = tmp_path / "token", tmp_path / "handed"
    _hand_out(old, file, handed)

    with a_door(cluster) as door:
        users = {"file": {"tokenFile": str(file)}, "program": _by_program(handed)}
        targets = {name: door.kubeconfig(path, users[name]) for name, path in zip(names, real, strict=True)}
        with a_cluster_site(tmp_path, files, targets) as site:
            for name in names:
                site.register(name, deploy_targets_by_plugin={"kubernetes": [name]})
            assert {site.ended_of(name).status for name in names} == {DeploymentStatus.SUCCEEDED}
            site.origin.commit({f"{name}/manifests.yaml": manifests(name, NEW, behind(gate)) for name in names})
            waiting = [site.in_stage(name, "K8S_CANARY_ROLLOUT") for name in names]
            door.over.add(old)
            open_gate(cluster, gate)
            until(lambda: all("does not take the credentials" in _log(site, each) for each in waiting), pause=0.2)
            _hand_out(new, file, handed)
            ended = {site.ended_of(name).status for name in names}

    assert (ended, images(cluster, namespace)) == ({DeploymentStatus.SUCCEEDED}, {NEW})


def _hand_out(token: str, file: Path, handed: Path) -> None:
    file.write_text(token)
    handed.write_text(_credential(token))


def _log(site: ClusterSite, deployment: Deployment) -> str:
    """What its canary's stage, or the primary's, has logged."""
    return site.log(deployment, 0) + site.log(deployment, 3)


def _by_program(handed: Path) -> dict[str, Any]:
    """The user of a kubeconfig whose credentials a program hands out."""
    version = "client.authentication.k8s.io/v1"
    return {"exec": {"apiVersion": version, "command": "cat", "args": [str(handed)], "interactiveMode": "Never"}}


def _credential(token: str) -> str:
    made = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": token}}
    return json.dumps(made)
