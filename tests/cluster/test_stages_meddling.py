"""What somebody makes by hand of a workload while a stage waits for it is not taken for what the stage has applied."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.acceptance.kubernetes.gates import behind, open_gate
from tests.cluster.kubernetes_applications import (
    FAILED,
    SUCCEEDED,
    Application,
    a_deployment,
    a_stateful_set,
    an_application,
    while_running,
)
from tests.clusters.running import RunningCluster

IMAGE = "spec.template.spec.containers[main].image"


def asking(body: dict[str, Any], annotation: str) -> dict[str, Any]:
    """The object with an annotation that asks for some treatment."""
    return {**body, "metadata": {**body["metadata"], "annotations": {f"pipecd.dev/{annotation}": "enabled"}}}


async def deployed(web: Application, body: dict[str, Any]) -> None:
    """That is what runs."""
    web.commit(body)
    await web.succeed("K8S_SYNC")
    web.deployed()


@pytest.mark.parametrize(
    ("body", "by_hand", "manager"),
    [
        pytest.param(
            a_deployment(), ("rollout", "undo", "deployment/web"), "kubectl", id="a Deployment that is undone"
        ),
        pytest.param(
            a_deployment(), ("set", "image", "deployment/web", "main=web:3"), "kubectl-set", id="another image"
        ),
        pytest.param(a_stateful_set("web"), ("rollout", "undo", "statefulset/web"), "kubectl", id="a StatefulSet"),
        pytest.param(
            asking(a_deployment(), "sync-by-replace"),
            ("rollout", "undo", "deployment/web"),
            "kubectl",
            id="one that is replaced",
        ),
    ],
)
async def test_a_rollout_that_somebody_changes_by_hand_has_not_succeeded(
    body: dict[str, Any],
    by_hand: tuple[str, ...],
    manager: str,
    cluster: RunningCluster,
    namespace: str,
    tmp_path: Path,
) -> None:
    broken = msgspec.json.decode(msgspec.json.encode(body))
    broken["spec"]["template"]["spec"]["containers"][0]["image"] = "broken:1"
    async with an_application(cluster, namespace, tmp_path) as web:
        await deployed(web, body)
        web.commit(broken)
        async with while_running(web, "K8S_SYNC", "ImagePullBackOff") as (running, _):
            web.kubectl(*by_hand)
            ended = await running
        await web.succeed("K8S_ROLLBACK")
        live = web.get(body["kind"].lower(), "web")

    said = f"{body['kind']} {namespace}/web was changed by {manager} while it was rolled out: {IMAGE}"
    assert (ended.status, ended.message) == (FAILED, f"{said}; what runs is not commit {web.plugin.commit[:7]}")
    assert (
        live["spec"]["template"]["spec"]["containers"][0]["image"]
        == body["spec"]["template"]["spec"]["containers"][0]["image"]
    )


async def test_a_workload_that_somebody_makes_anew_is_not_what_was_applied(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(**behind(namespace)))
        async with while_running(web, "K8S_SYNC", "0 of 1 replicas are available") as (running, _):
            live = web.get("deployment", "web")
            del live["metadata"]["uid"], live["metadata"]["resourceVersion"], live["status"]
            web.kubectl("replace", "--force", "-f", "-", given=live)
            ended = await running

    said = f"Deployment {namespace}/web was deleted and made anew by kubectl-replace while it was rolled out"
    assert ended.status is FAILED
    assert ended.message.startswith(said)


async def test_what_people_may_do_while_a_stage_waits_does_not_fail_it(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    more = {"spec": {"template": {"spec": {"containers": [{"name": "beside", "image": "sidecar:1"}]}}}}
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(**behind(namespace)))
        async with while_running(web, "K8S_SYNC", "0 of 1 replicas are available") as (running, _):
            web.kubectl("scale", "deployment", "web", "--replicas=2")
            web.kubectl("rollout", "restart", "deployment/web")
            web.kubectl("annotate", "deployment", "web", "pipecd.dev/commit-hash=mine", "--overwrite")
            web.kubectl("patch", "deployment", "web", "--patch-file=/dev/stdin", given=more)
            open_gate(cluster, namespace)
            ended = await running

    assert ended.status is SUCCEEDED, ended
