"""An API server that is busy, and credentials that were not good until somebody renewed them."""

import json
from pathlib import Path
from typing import Any

from fairway.model.deployment import DeploymentStatus
from tests.acceptance.kubernetes.doors import a_door
from tests.acceptance.kubernetes.pipelines import NEW, an_application, manifests
from tests.acceptance.kubernetes.sites import a_cluster_site, an_agent_of, images
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

    assert (ended.status, images(cluster, namespace)) == (DeploymentStatus.SUCCEEDED, {NEW})
    assert {method for method, _ in door.refused} >= {"PATCH", "DELETE"}


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


def _by_program(handed: Path) -> dict[str, Any]:
    """The user of a kubeconfig whose credentials a program hands out."""
    version = "client.authentication.k8s.io/v1"
    return {"exec": {"apiVersion": version, "command": "cat", "args": [str(handed)], "interactiveMode": "Never"}}


def _credential(token: str) -> str:
    made = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": token}}
    return json.dumps(made)
