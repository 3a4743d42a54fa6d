"""Objects that are replaced as a whole, or deleted and made anew, because their manifests ask for it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.kubernetes_applications import (
    FAILED,
    SUCCEEDED,
    Application,
    a_config_map,
    a_deployment,
    a_job,
    a_service,
    an_application,
)
from tests.clusters.running import RunningCluster

REPLACED, ANEW = "pipecd.dev/sync-by-replace", "pipecd.dev/force-sync-by-replace"


def asking(body: Mapping[str, Any], annotation: str) -> dict[str, Any]:
    """The object, with an annotation that asks for another treatment."""
    return {**body, "metadata": {**body["metadata"], "annotations": {annotation: "enabled"}}}


def job_uid(web: Application) -> str:
    """Which Job it is: another one when it has run again."""
    return str(web.get("job", "migrate")["metadata"]["uid"])


@pytest.mark.parametrize("annotation", [REPLACED, ANEW])
async def test_a_rollback_leaves_alone_what_is_replaced_and_the_deployment_has_not_touched(
    annotation: str, cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """An old migration that runs again can do harm; a Job that is replaced by itself is refused."""
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(asking(a_job(), annotation), a_deployment())
        await web.succeed("K8S_SYNC")
        web.deployed()
        before = job_uid(web)
        web.commit(asking(a_job(container={"image": "job:2"}), annotation), a_deployment(image="web:2"))
        await web.succeed("K8S_CANARY_ROLLOUT")

        ended = await web.run("K8S_ROLLBACK")

        assert (ended.status, job_uid(web)) == (SUCCEEDED, before), ended
        assert f"Job {namespace}/migrate: as it was" in ended.log


async def test_a_rollback_makes_anew_what_the_deployment_has_made_anew(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(asking(a_job(), ANEW), a_deployment())
        await web.succeed("K8S_SYNC")
        web.deployed()
        web.commit(asking(a_job(container={"image": "job:2"}), ANEW), a_deployment(image="web:2"))
        await web.succeed("K8S_PRIMARY_ROLLOUT")

        uids = []
        for _ in range(2):
            # The second time as after a restart of the agent.
            ended = await web.run("K8S_ROLLBACK", id="back")
            assert ended.status is SUCCEEDED, ended
            uids.append(job_uid(web))

        assert web.get("job", "migrate")["spec"]["template"]["spec"]["containers"][0]["image"] == "job:1"
        assert uids[0] == uids[1]


def misspelt() -> dict[str, Any]:
    return {**a_config_map(), "dtaa": {"a": "1"}}


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        pytest.param(
            [asking(a_job(), REPLACED)],
            [asking(a_job(container={"image": "job:2"}), REPLACED)],
            ["manifests.yaml:7: Job", "spec.template: ", "is immutable", ANEW],
            id="what is replaced and cannot be changed",
        ),
        pytest.param([], [asking(misspelt(), REPLACED)], ["manifests.yaml:3: ConfigMap", "dtaa"], id="what is new"),
        pytest.param([], [asking(misspelt(), ANEW)], ["manifests.yaml:3: ConfigMap", "dtaa"], id="what is made"),
        pytest.param(
            [asking(a_config_map(), ANEW)],
            [asking(misspelt(), ANEW)],
            ["dtaa: there is no such field"],
            id="what is made anew",
        ),
        pytest.param(
            [asking(a_job(), ANEW)],
            [asking(a_job(container={"imagePullPolicy": "Sometimes"}), ANEW)],
            ["jobs.batch 'migrate'", "spec.template.spec.containers[0].imagePullPolicy", "Sometimes"],
            id="a value of what is made anew",
        ),
    ],
)
async def test_what_is_refused_of_what_is_replaced_is_told_before_anything_is_applied(
    before: list[Any], after: list[Any], words: list[str], cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(*before, a_service("other"))
        await web.succeed("K8S_SYNC")
        uids = [web.get(each["kind"], each["metadata"]["name"])["metadata"]["uid"] for each in before]
        web.commit(*after, a_service("other"), a_service("another"))

        ended = await web.run("K8S_SYNC")

        assert (ended.status, [each for each in words if each not in ended.message]) == (FAILED, []), ended.message
        assert ended.message.startswith("1 object is refused by the cluster; nothing was applied:\n")
        assert web.names("service") == ["other"]
        assert [web.get(each["kind"], each["metadata"]["name"])["metadata"]["uid"] for each in before] == uids


async def test_what_is_made_anew_may_ask_for_what_only_one_can_have(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """Of a Service under another name the cluster would say that its port is given away, which it is: to this one."""
    quota = {"kind": "ResourceQuota", "metadata": {"name": "small"}, "spec": {"hard": {"services": "1"}}}
    service = asking(a_service(type="NodePort", ports=[{"port": 80, "nodePort": 30971}]), ANEW)
    async with an_application(cluster, namespace, tmp_path) as web:
        web.kubectl("create", "-f", "-", given={"apiVersion": "v1", **quota})
        web.commit(service)
        await web.succeed("K8S_SYNC")
        before = web.get("service", "web")["metadata"]["uid"]

        service["spec"]["sessionAffinity"] = "ClientIP"
        web.commit(service)
        await web.succeed("K8S_SYNC")

        assert web.get("service", "web")["metadata"]["uid"] != before


async def test_what_may_not_be_deleted_is_not_made_anew_and_nothing_else_is_applied(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    verbs = ["get", "list", "watch", "create", "patch", "update"]
    rights = cluster.limited([{"apiGroups": [""], "resources": ["configmaps"], "verbs": verbs}], namespace)
    async with an_application(cluster, namespace, tmp_path, kubeconfig=rights) as web:
        web.commit(asking(a_config_map(), ANEW))
        await web.succeed("K8S_SYNC")
        web.commit(asking(a_config_map(a="2"), ANEW), a_config_map("other"))

        ended = await web.run("K8S_SYNC")

        assert ended.status is FAILED
        assert "nothing was applied" in ended.message
        assert f"is not allowed to delete configmaps in namespace {namespace}" in ended.message
