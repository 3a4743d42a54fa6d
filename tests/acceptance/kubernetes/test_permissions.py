"""What the agent may not do, and what the cluster cannot do, fails the stage in words that help."""

from pathlib import Path

from fairway.model.deployment import DeploymentStatus
from tests.acceptance.agent.sites import How, until
from tests.acceptance.kubernetes.pipelines import BROKEN, an_application, manifests
from tests.acceptance.kubernetes.sites import a_cluster_site, an_agent_of, providers
from tests.clusters.running import RunningCluster

GIVE_UP = '{"spec": {"progressDeadlineSeconds": 1}}'


def test_a_missing_permission_and_a_pod_that_cannot_run_are_told(cluster: RunningCluster, tmp_path: Path) -> None:
    files = {f"{name}/app.pipecd.yaml": an_application(name, tmp_path) for name in ("forbidden", "broken")}
    files["forbidden/manifests.yaml"] = manifests("forbidden")
    files["broken/manifests.yaml"] = manifests("broken", BROKEN)
    strict, usual = cluster.new_namespace(), cluster.new_namespace()
    targets = {"strict": an_agent_of(cluster, strict), "usual": an_agent_of(cluster, usual)}
    without_configuration = '[{"op": "remove", "path": "/rules/0"}]'
    cluster.kubectl("patch", "role", "fairway-agent", "--type=json", "-p", without_configuration, namespace=strict)

    with a_cluster_site(tmp_path, files, targets, How(plugins=providers(targets))) as site:
        site.register("forbidden", kind="kubernetes", platform_provider="strict")
        site.register("broken", kind="kubernetes", platform_provider="usual")
        waiting = site.in_stage("broken", "K8S_SYNC")
        until(lambda: "ImagePullBackOff" in site.log(waiting, 0), pause=0.1)
        # Not before it is known why: the cluster gives up at once.
        cluster.kubectl("patch", "deployment", "broken", "-p", GIVE_UP, namespace=usual)
        forbidden, broken = site.ended_of("forbidden"), site.ended_of("broken")

    assert [forbidden.status, broken.status] == [DeploymentStatus.FAILED] * 2
    assert [word for word in ("patch", "configmaps", strict) if word not in forbidden.status_reason] == []
    assert "ImagePullBackOff" in broken.status_reason
