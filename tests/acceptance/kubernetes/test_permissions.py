"""What the agent may not do, and what the cluster cannot do, fails the stage in words that help."""

from pathlib import Path

from fairway.model.deployment import DeploymentStatus
from tests.acceptance.kubernetes.pipelines import BROKEN, an_application, manifests
from tests.acceptance.kubernetes.sites import a_cluster_site, an_agent_of
from tests.clusters.running import RunningCluster


def test_a_missing_permission_is_named_with_verb_resource_and_namespace(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    files = {"web/app.pipecd.yaml": an_application("web", tmp_path), "web/manifests.yaml": manifests("web")}
    kubeconfig = an_agent_of(cluster, namespace)
    rule = '[{"op": "remove", "path": "/rules/0"}]'
    cluster.kubectl("patch", "role", "fairway-agent", "--type=json", "-p", rule, namespace=namespace)

    with a_cluster_site(tmp_path, files, {"here": kubeconfig}) as site:
        site.register("web", deploy_targets_by_plugin={"kubernetes": ["here"]})
        ended = site.ended_of("web")

    assert ended.status is DeploymentStatus.FAILED
    assert "configmaps" in ended.status_reason
    assert namespace in ended.status_reason
    assert "patch" in ended.status_reason or "get" in ended.status_reason


def test_a_rollout_that_cannot_succeed_fails_with_the_reason_of_its_pods(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    broken = manifests("web", BROKEN).replace('"replicas": 1', '"replicas": 1, "progressDeadlineSeconds": 1')
    files = {"web/app.pipecd.yaml": an_application("web", tmp_path), "web/manifests.yaml": broken}

    with a_cluster_site(tmp_path, files, {"here": an_agent_of(cluster, namespace)}) as site:
        site.register("web", deploy_targets_by_plugin={"kubernetes": ["here"]})
        ended = site.ended_of("web")

    assert ended.status is DeploymentStatus.FAILED
    assert "ImagePullBackOff" in ended.status_reason
