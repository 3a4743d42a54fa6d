"""A cluster that is away in the middle of a canary: who goes on waits for it, and who is given up is still undone."""

from pathlib import Path

from fairway.model.deployment import DeploymentStatus
from tests.acceptance.kubernetes.pipelines import NEW, OLD, an_application, manifests
from tests.acceptance.kubernetes.sites import a_cluster_site, an_agent_of, assert_no_variants, images
from tests.clusters.running import a_cluster

#: What both do while their canary runs: wait for a person.
_ASKED = {2: {"name": "WAIT_APPROVAL", "with": {"timeout": "1h"}}}


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
        assert [each.status_reason for each in ended] == [
            "All stages have ended well",
            "Cancelled by first; it was rolled back",
        ]
        assert_no_variants(cluster, namespace)
        assert images(cluster, namespace) == {OLD, NEW}
