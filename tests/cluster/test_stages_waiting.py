"""What a stage waits for is told, and is why it fails, however many workloads it waits for and whoever may look."""

from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.kubernetes.gates import behind, open_gate
from tests.cluster.kubernetes_applications import (
    FAILED,
    SUCCEEDED,
    Application,
    a_deployment,
    a_job,
    a_stateful_set,
    an_application,
    while_running,
)
from tests.cluster.test_permissions import rules, without
from tests.clusters.running import RunningCluster
from tests.integration.agent.running import until

#: More than anybody would watch one by one.
MANY = [a_deployment(f"web-{number}") for number in range(30)]
#: Of such a container the quota below takes notice.
COUNTED = {"resources": {"requests": {"cpu": "1m"}}}


async def allow_no_pod_that_counts(web: Application) -> None:
    spec = {"hard": {"pods": "0"}, "scopes": ["NotBestEffort"]}
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "small"}, "spec": spec}
    web.kubectl("create", "-f", "-", given=quota)

    async def holds() -> bool:
        return "used" in web.get("resourcequota", "small").get("status", {})

    await until(holds)


def told(web: Application, stage_id: str, start: str) -> list[str]:
    return [each for each in web.plugin.agent.logs[stage_id] if each.startswith(start)]


async def test_one_of_many_that_gets_nowhere_fails_the_stage_with_what_its_pods_say(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(*MANY, a_deployment("zoo", image="broken:1"))

        async with while_running(web, "K8S_SYNC", "ImagePullBackOff") as (running, _):
            web.kubectl("patch", "deployment", "zoo", "-p", '{"spec": {"progressDeadlineSeconds": 1}}')
            ended = await running

    assert ended.status is FAILED
    assert f"Deployment {namespace}/zoo did not become available: It made no progress for 1 sec" in ended.message
    assert "pod zoo-" in ended.message
    assert "main: ImagePullBackOff" in ended.message


@pytest.mark.parametrize(
    ("last", "waits_for"),
    [
        pytest.param(a_stateful_set(container=COUNTED), "0 of 1 replicas are ready", id="StatefulSet"),
        pytest.param(a_job(container=COUNTED), "0 of 1 completions, 0 pods at work", id="Job"),
    ],
)
async def test_why_one_of_many_has_no_pods_is_told(
    last: dict[str, Any], waits_for: str, cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    said = f"{last['kind']} {namespace}/{last['metadata']['name']}: {waits_for}; FailedCreate: "
    async with an_application(cluster, namespace, tmp_path) as web:
        await allow_no_pod_that_counts(web)
        web.commit(*MANY, last)

        async with while_running(web, "K8S_SYNC", said) as (_, stage_id):
            (line, *_) = told(web, stage_id, said)

    assert "exceeded quota: small" in line


async def test_what_is_tried_again_is_not_given_up_for_what_was_wrong_before(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """Nothing has changed in Git, so nothing but the controller's verdict of before is there to be seen at first."""
    async with an_application(cluster, namespace, tmp_path) as web:
        await allow_no_pod_that_counts(web)
        web.commit(a_deployment(container=COUNTED, deadline=2))
        failed = await web.run("K8S_SYNC")
        web.kubectl("delete", "resourcequota", "small")

        again = await web.run("K8S_SYNC")

    assert failed.status is FAILED
    assert "exceeded quota: small" in failed.message
    assert again.status is SUCCEEDED, again


async def test_the_pods_of_a_canary_are_not_called_the_primarys(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """Although its selector takes them as well."""
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(image="broken:1", deadline=2))
        canary = await web.run("K8S_CANARY_ROLLOUT")
        web.commit(a_deployment(**behind(namespace)))

        async with while_running(web, "K8S_SYNC", "No node takes it") as (_, stage_id):
            lines = told(web, stage_id, f"Deployment {namespace}/web: ")

    assert "pod web-canary-" in canary.message
    assert "; pod web-" in lines[-1]
    assert "canary" not in " ".join(lines)


async def test_who_may_look_neither_at_pods_nor_at_events_is_told_so_once(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    blind = without(without(rules("namespace.yaml"), "list", "pods"), "list", "events")
    rights = cluster.limited(blind, namespace)
    untold = {"Why pods are not ready cannot be told: ": "pods", "Why pods are not made cannot be told: ": "events"}
    async with an_application(cluster, namespace, tmp_path, kubeconfig=rights) as web:
        web.commit(*MANY[:3], a_deployment(**behind(namespace)), a_stateful_set("a"), a_stateful_set("b"), a_job())
        async with while_running(web, "K8S_SYNC", next(iter(untold))) as (stage, stage_id):

            async def both() -> bool:
                return all(told(web, stage_id, each) for each in untold)

            await until(both)
            open_gate(cluster, namespace)
            ended = await stage

    assert ended.status is SUCCEEDED, ended
    for start, resource in untold.items():
        (line,) = [each for each in ended.log if each.startswith(start)]
        assert f"is not allowed to list {resource} in namespace {namespace}" in line
