"""A Deployment that is paused: what a person has paused is waited for, a rollback goes on with it, Git is obeyed."""

from pathlib import Path

import pytest

from tests.acceptance.kubernetes.gates import behind, open_gate
from tests.cluster.kubernetes_applications import SUCCEEDED, a_deployment, an_application, while_running
from tests.clusters.running import RunningCluster
from tests.integration.agent.running import until


@pytest.mark.parametrize("spec", [{}, {"paused": False}], ids=["Git says nothing", "Git says that it is not paused"])
async def test_a_rollout_that_somebody_pauses_is_waited_for_and_told(
    cluster: RunningCluster, namespace: str, tmp_path: Path, spec: dict[str, bool]
) -> None:
    said = (
        f"Deployment {namespace}/web: It is paused by kubectl-rollout, and nothing is rolled out until somebody goes "
        f"on with it: kubectl rollout resume deployment/web -n {namespace}"
    )
    async with an_application(cluster, namespace, tmp_path) as web:
        deployment = a_deployment(**behind(namespace))
        web.commit({**deployment, "spec": {**deployment["spec"], **spec}})

        async with while_running(web, "K8S_SYNC", "0 of 1 replicas are available") as (stage, stage_id):
            web.kubectl("rollout", "pause", "deployment/web")

            async def told() -> bool:
                assert not stage.done(), stage.result()
                return said in web.plugin.agent.logs[stage_id]

            await until(told)
            web.kubectl("rollout", "resume", "deployment/web")
            open_gate(cluster, namespace)
            ended = await stage

    assert ended.status is SUCCEEDED, ended


async def test_a_rollback_goes_on_with_what_somebody_has_paused(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment())
        await web.succeed("K8S_SYNC")
        web.deployed()
        web.commit(a_deployment(image="web:2"))
        web.kubectl("rollout", "pause", "deployment/web")
        async with while_running(web, "K8S_PRIMARY_ROLLOUT", "It is paused by kubectl-rollout") as (stage, _):
            stage.cancel()

        ended = await web.succeed("K8S_ROLLBACK")

        said = "goes on; kubectl-rollout had paused it, and Git does not say so"
        assert f"Deployment {namespace}/web: {said}" in ended.log
        spec = web.get("deployment", "web")["spec"]
        assert "paused" not in spec
        assert spec["template"]["spec"]["containers"][0]["image"] == "web:1"


async def test_what_git_pauses_is_not_waited_for(cluster: RunningCluster, namespace: str, tmp_path: Path) -> None:
    paused = a_deployment()
    paused["spec"]["paused"] = True
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(paused)

        ended = await web.succeed("K8S_SYNC")

        said = "It is paused, as Git says: nothing is rolled out while spec.paused is true; it is not waited for"
        assert f"Deployment {namespace}/web: {said}" in ended.log
