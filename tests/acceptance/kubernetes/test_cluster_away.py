"""A cluster that is away in the middle of a canary: it is waited for, and what is left there is not forgotten."""

from pathlib import Path

from fairway.model.application import SyncStatus
from fairway.model.deployment import DeploymentStatus
from tests.acceptance.agent.sites import kill, until
from tests.acceptance.kubernetes.doors import a_door
from tests.acceptance.kubernetes.pipelines import NEW, OLD, Change, an_application, manifests
from tests.acceptance.kubernetes.sites import ClusterSite, a_cluster_site, an_agent_of, assert_no_variants, images
from tests.clusters.running import RunningCluster, a_cluster

#: What both do while their canary runs: wait for a person.
_ASKED: dict[int, Change] = {2: {"name": "WAIT_APPROVAL", "with": {"timeout": "1h"}}}


def test_stages_and_rollbacks_wait_for_an_api_server_that_is_away(tmp_path: Path) -> None:
    names = ("approved", "given-up")
    files = {f"{name}/app.pipecd.yaml": an_application(name, tmp_path, _ASKED) for name in names}
    files |= {f"{name}/manifests.yaml": manifests(name) for name in names}

    with a_cluster() as cluster:
        namespace = cluster.new_namespace()
        with a_cluster_site(tmp_path, files, {"here": an_agent_of(cluster, namespace)}) as site:
            site.register(*names, deploy_targets_by_plugin={"kubernetes": ["here"]})
            for name in names:
                assert site.ended_of(name).status is DeploymentStatus.SUCCEEDED
            site.origin.commit({f"{name}/manifests.yaml": manifests(name, NEW) for name in names})
            approved, given_up = (site.in_stage(name, "WAIT_APPROVAL") for name in names)

            cluster.stop()
            site.ask("deployments", approved.id, "stages", approved.stages[1].id, "approve")
            site.ask("deployments", given_up.id, "cancel")
            site.in_stage("approved", "K8S_PRIMARY_ROLLOUT")
            site.in_stage("given-up", "K8S_ROLLBACK")
            cluster.start()

            ended = [site.ended_of(name) for name in names]
            # What was watched before is not remembered by a server that has started since.
            cluster.kubectl("scale", "deployment", "approved", "--replicas=2", namespace=namespace)
            until(lambda: "replicas: 2" in _drift(site, "approved"), pause=0.2)
        assert [each.status_reason for each in ended] == [
            "All stages have ended well",
            "Cancelled by first; it was rolled back",
        ]
        assert_no_variants(cluster, namespace)
        assert images(cluster, namespace) == {OLD, NEW}


def test_a_canary_that_is_left_on_a_cluster_that_stays_away_is_told_found_again_and_removed(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    hasty: dict[int, Change] = {**_ASKED, 4: {"timeout": "1s"}}
    files = {"web/app.pipecd.yaml": an_application("web", tmp_path, hasty), "web/manifests.yaml": manifests("web")}

    with a_door(cluster) as door:
        kubeconfig = door.kubeconfig(an_agent_of(cluster, namespace))
        with a_cluster_site(tmp_path, files, {"here": kubeconfig}) as site:
            site.register("web", deploy_targets_by_plugin={"kubernetes": ["here"]})
            assert site.ended_of("web").status is DeploymentStatus.SUCCEEDED
            site.origin.commit({"web/manifests.yaml": manifests("web", NEW)})
            waiting = site.in_stage("web", "WAIT_APPROVAL")
            door.shut()
            kill(site.agent)
            site.start_agent()
            site.ask("deployments", waiting.id, "stages", waiting.stages[1].id, "approve")
            # The primary's stage has no time to wait for the cluster; who waits for the rollback does not, either.
            undoing = site.in_stage("web", "K8S_ROLLBACK")
            (at,) = (number for number, each in enumerate(undoing.stages) if each.name == "K8S_ROLLBACK")
            # One that is ended before it has begun says nothing.
            until(lambda: "the stage goes on as soon as it answers" in site.log(undoing, at), pause=0.2)
            site.ask("deployments", waiting.id, "cancel", body={"rollback": "never"})
            lost = site.ended_of("web")

            door.open()
            until(lambda: "web-canary" in _drift(site, "web"), pause=0.2)
            site.origin.commit({"web/app.pipecd.yaml": an_application("web", tmp_path)})
            again = site.ended_of("web")

    assert (lost.status, again.status) == (DeploymentStatus.FAILED, DeploymentStatus.SUCCEEDED)
    left = f"Deployment {namespace}/web-canary, ConfigMap {namespace}/web-canary"
    assert f"may still be at deploy target here: {left}" in lost.status_reason
    assert_no_variants(cluster, namespace)


def _drift(site: ClusterSite, name: str) -> str:
    """What is said of how an application differs from Git, once that is known."""
    state = site.applications()[name].sync_state
    return "" if state is None or state.status is not SyncStatus.OUT_OF_SYNC else state.reason
