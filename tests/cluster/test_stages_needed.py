"""What comes with a canary on a real cluster, because its pods cannot do without it."""

from pathlib import Path
from typing import Any

import pytest

from tests.cluster.kubernetes_applications import FAILED, a_deployment, an_application
from tests.clusters.running import RunningCluster

KINDS = "serviceaccount,role,rolebinding,pvc,deployment"
NEEDED = ["role.rbac.authorization.k8s.io/web", "rolebinding.rbac.authorization.k8s.io/web", "serviceaccount/web"]


def needing_more(namespace: str) -> list[dict[str, Any]]:
    """A Deployment, what its pods cannot do without, and something else."""
    rbac = "rbac.authorization.k8s.io"
    size = {"accessModes": ["ReadWriteOnce"], "storageClassName": ""}
    disk = {**size, "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/data"}}
    claim = {**size, "resources": {"requests": {"storage": "1Gi"}}, "volumeName": namespace}
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    return [
        a_deployment(image="web:2", serviceAccountName="web", volumes=[volume]),
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "web"}},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "unused"}},
        {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": namespace}, "spec": disk},
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}, "spec": claim},
        {"apiVersion": f"{rbac}/v1", "kind": "Role", "metadata": {"name": "web"}, "rules": []},
        {
            "apiVersion": f"{rbac}/v1",
            "kind": "RoleBinding",
            "metadata": {"name": "web"},
            "subjects": [{"kind": "ServiceAccount", "name": "web", "namespace": namespace}],
            "roleRef": {"apiGroup": rbac, "kind": "Role", "name": "web"},
        },
    ]


async def test_a_canary_comes_with_what_its_pods_need_and_the_cluster_does_not_have(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment())
        await web.succeed("K8S_SYNC")
        web.deployed()

        web.commit(*needing_more(namespace))
        ended = await web.succeed("K8S_CANARY_ROLLOUT")
        await web.succeed("K8S_CANARY_CLEAN")
        cleaned = web.all_names(KINDS)
        await web.succeed("K8S_ROLLBACK")

        said = f"ServiceAccount {namespace}/web: comes with the canary already, as Git has it: its pods need it"
        assert said in ended.log
        assert ended.log[-1] == "6 objects applied"
        there = ["deployment.apps/web", "persistentvolumeclaim/data"]
        assert cleaned == sorted([*there, *NEEDED, "serviceaccount/default"])
        assert web.all_names(KINDS) == [*there, "serviceaccount/default"]


async def test_what_a_canarys_pods_need_and_is_there_stays_as_it_is(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "web", "labels": {"of": "git"}}}
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment())
        await web.succeed("K8S_SYNC")
        web.deployed()
        web.kubectl("create", "serviceaccount", "web")

        web.commit(a_deployment(image="web:2", serviceAccountName="web"), account)
        ended = await web.succeed("K8S_CANARY_ROLLOUT")

        assert ended.log[-1] == "1 object applied"
        assert "labels" not in web.get("serviceaccount", "web")["metadata"]


async def test_nothing_comes_with_a_canary_that_is_refused(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "web"}}
    async with an_application(cluster, namespace, tmp_path) as web:
        web.kubectl("create", "deployment", "web-canary", "--image=other:1")

        web.commit(a_deployment(serviceAccountName="web"), account)
        ended = await web.run("K8S_CANARY_ROLLOUT")

        assert ended.status is FAILED
        assert "nothing was applied" in ended.message
        assert web.all_names("serviceaccount") == ["serviceaccount/default"]


@pytest.mark.parametrize("account", ["default", "robot"])
async def test_a_canary_in_a_namespace_that_is_new_has_it_made_where_the_application_asks_for_that(
    account: str, cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    new = f"{namespace}-{account}"
    elsewhere = a_deployment("other", serviceAccountName=account)
    elsewhere["metadata"]["namespace"] = new
    robot = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot", "namespace": new}}
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment())
        await web.succeed("K8S_SYNC")
        web.deployed()

        web.commit(a_deployment(image="web:2"), elsewhere, robot, input={"autoCreateNamespace": True})
        await web.succeed("K8S_CANARY_ROLLOUT")

        made = cluster.kubectl("get", "deployment", "-o", "name", namespace=new)
        assert made.split() == ["deployment.apps/other-canary"]
