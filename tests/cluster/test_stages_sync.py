"""K8S_SYNC on a real cluster: what it brings, in which order, and how long it waits."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fairway.kube.manifest import Body
from fairway.plugins.kubernetes.rollout.rollout import Rollout
from tests.acceptance.kubernetes.gates import behind, open_gate
from tests.cluster.kubernetes_applications import (
    CANCELLED,
    FAILED,
    SUCCEEDED,
    a_config_map,
    a_deployment,
    a_job,
    a_service,
    an_application,
    pods,
    while_running,
)
from tests.clusters.running import RunningCluster
from tests.integration.agent.running import until


async def test_a_sync_brings_everything_and_waits_until_it_is_available(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """Defect 1 of PipeCD: no stage waited for anything."""
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(replicas=2), a_service(), a_config_map(a="1"))

        ended = await web.run("K8S_SYNC")

        assert (ended.status, ended.log[-1]) == (SUCCEEDED, "3 objects applied"), ended
        deployment = web.get("deployment", "web")
        assert deployment["status"]["availableReplicas"] == 2
        assert deployment["metadata"]["labels"]["pipecd.dev/application"] == f"app-{namespace}"


async def test_a_rollout_that_gets_nowhere_fails_with_what_its_pods_say(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(image="broken:1"))

        async with while_running(web, "K8S_SYNC", "ImagePullBackOff") as (running, _):
            web.kubectl("patch", "deployment", "web", "-p", '{"spec": {"progressDeadlineSeconds": 1}}')
            ended = await running

        assert ended.status is FAILED
        assert "Deployment" in ended.message
        assert "did not become available: It made no progress for 1 seconds" in ended.message
        assert "ImagePullBackOff" in ended.message


async def test_what_failed_once_is_waited_for_afresh_when_it_is_mended(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(image="broken:1", deadline=1))
        assert (await web.run("K8S_SYNC")).status is FAILED

        web.commit(a_deployment(image="web:2"))

        await web.succeed("K8S_SYNC")


async def test_a_cancelled_sync_ends_at_once(cluster: RunningCluster, namespace: str, tmp_path: Path) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(image="broken:1"))

        async with while_running(web, "K8S_SYNC", "ImagePullBackOff") as (running, stage_id):
            await web.plugin.stop(stage_id, "somebody cancelled it")
            ended = await running

        assert (ended.status, ended.message) == (CANCELLED, "somebody cancelled it")


async def test_nothing_is_applied_when_one_of_the_manifests_is_refused(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        bad: dict[str, Any] = a_service("bad")
        bad["spec"]["ports"] = [{"port": 70000}]
        web.commit(a_config_map(), bad, a_deployment(imagee="typo"))

        ended = await web.run("K8S_SYNC")

        assert ended.status is FAILED
        assert ended.message.startswith("2 objects are refused by the cluster; nothing was applied:")
        written = (web.plugin.folder / "manifests.yaml").read_text().splitlines()
        for field, said in (("- port: 70000", "spec.ports[0].port"), ("imagee: typo", "spec.template.spec.imagee")):
            line = next(number for number, text in enumerate(written, 1) if text.strip() == field)
            place = next(each for each in ended.message.splitlines() if f" {said}: " in each)
            assert place.startswith(f"manifests.yaml:{line}: ")
        assert web.names("configmap") == []


async def test_kinds_namespaces_and_what_needs_them_come_in_one_commit(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """Defect 2 of PipeCD: nothing was ordered by kind."""
    group = f"{namespace}.example.com"
    names = {"kind": "Widget", "plural": "widgets", "singular": "widget"}
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"widgets.{group}"},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [version]},
    }
    other = f"{namespace}-other"
    widget = {"apiVersion": f"{group}/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": other}, "size": 1}
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(widget, definition, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": other}})

        ended = await web.run("K8S_SYNC")

        assert (ended.status, ended.log[-1]) == (SUCCEEDED, "3 objects applied"), ended
        assert cluster.kubectl("get", f"widgets.{group}", "w", "-o", "jsonpath={.size}", namespace=other) == "1"
        # What is told of a kind is told before there is anything of it.
        told = [line.partition(" ")[0] for line in ended.log[:-1]]
        assert told == sorted(told, key=["Namespace", "CustomResourceDefinition", "Widget"].index)


async def test_objects_are_applied_in_the_order_that_their_authors_ask_for(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    def after(body: dict[str, Any], number: int) -> dict[str, Any]:
        return {**body, "metadata": {**body["metadata"], "annotations": {"pipecd.dev/order": str(number)}}}

    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(after(a_config_map(a="1"), 2), after(a_service(), 1), a_deployment())

        ended = await web.succeed("K8S_SYNC")

    told = [each.partition(":")[0] for each in ended.log if each.endswith(": created")]
    assert told == [f"Deployment {namespace}/web", f"Service {namespace}/web", f"ConfigMap {namespace}/settings"]


async def test_a_kind_that_the_cluster_does_not_have_is_named_with_its_file(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_config_map(), {"apiVersion": "shop.example.com/v1", "kind": "Cart", "metadata": {"name": "c"}})

        ended = await web.run("K8S_SYNC")

        assert ended.status is FAILED
        for word in ("manifests.yaml:", "no kind Cart in shop.example.com/v1", "CustomResourceDefinition"):
            assert word in ended.message
        assert web.names("configmap") == []


async def test_a_namespace_is_made_once_when_the_application_asks_for_it(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """Defect 24 of PipeCD: it was made for each object anew."""
    other = f"{namespace}-made"
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_config_map("a"), a_config_map("b"), input={"namespace": other, "autoCreateNamespace": True})

        ended = await web.run("K8S_SYNC")

        assert (ended.status, ended.log[-1]) == (SUCCEEDED, "2 objects applied"), ended
        assert [each for each in ended.log if "Namespace" in each] == [f"Created Namespace {other}"]


async def test_another_configuration_rolls_the_pods_and_the_same_does_not(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        deployment = a_deployment(container={"envFrom": [{"configMapRef": {"name": "settings"}}]})
        web.commit(deployment, a_config_map(a="1"))
        await web.succeed("K8S_SYNC")
        before = pods(web)

        web.commit(deployment, a_config_map(a="1"))
        await web.succeed("K8S_SYNC")
        same = pods(web)
        web.commit(deployment, a_config_map(a="2"))
        await web.succeed("K8S_SYNC")

        assert same == before
        assert not pods(web) & before


async def test_a_job_is_waited_for_until_it_has_completed(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_job())

        await web.succeed("K8S_SYNC")

        assert web.get("job", "migrate")["status"]["succeeded"] == 1


async def test_a_job_that_is_removed_once_it_has_completed_was_not_deleted_by_somebody(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """Others are waited for longer than its `ttlSecondsAfterFinished`."""
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_job(ttlSecondsAfterFinished=0), a_deployment(**behind(namespace)))

        async with while_running(web, "K8S_SYNC", f"Job {namespace}/migrate: It is complete") as (stage, _):

            async def is_gone() -> bool:
                return stage.done() or not web.names("job")

            await until(is_gone)
            open_gate(cluster, namespace)
            ended = await stage

        assert (ended.status, ended.log[-1]) == (SUCCEEDED, "2 objects applied"), ended


async def test_a_job_that_is_removed_before_anybody_has_looked_at_it_has_completed(
    cluster: RunningCluster, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        wait = Rollout.wait

        async def late(self: Rollout, objects: Sequence[Body]) -> int:
            async def is_gone() -> bool:
                return not objects or not web.names("job")

            await until(is_gone)
            return await wait(self, objects)

        monkeypatch.setattr(Rollout, "wait", late)
        web.commit(a_job(ttlSecondsAfterFinished=0))

        ended = await web.succeed("K8S_SYNC")

        assert f"Job {namespace}/migrate: It is complete" in ended.log


async def test_what_cannot_be_changed_says_how_it_can_be_made_anew(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """By `force-sync-by-replace`; and `sync-by-replace` takes away what Git does not say."""
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment())
        await web.succeed("K8S_SYNC")
        other = a_deployment()
        for labels in (other["spec"]["selector"]["matchLabels"], other["spec"]["template"]["metadata"]["labels"]):
            labels["tier"] = "front"
        web.commit(other)

        refused = await web.run("K8S_SYNC")
        other["metadata"]["annotations"] = {"pipecd.dev/force-sync-by-replace": "enabled"}
        web.commit(other)
        await web.succeed("K8S_SYNC")

        assert "annotate the manifest with pipecd.dev/force-sync-by-replace: enabled" in refused.message
        assert web.get("deployment", "web")["spec"]["selector"]["matchLabels"] == {"app": "web", "tier": "front"}


async def test_a_job_that_is_made_anew_runs_once_though_its_stage_is_run_again(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    job = a_job()
    job["metadata"]["annotations"] = {"pipecd.dev/force-sync-by-replace": "enabled"}
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(job)
        uids = []
        for stage_id in ("first", "first", "second", "second"):
            ended = await web.run("K8S_SYNC", id=stage_id)
            assert ended.status is SUCCEEDED, ended
            uids.append(web.get("job", "migrate")["metadata"]["uid"])

        assert (uids[0], uids[2]) == (uids[1], uids[3])
        assert uids[0] != uids[2]


async def test_an_object_that_is_replaced_has_only_what_git_says(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    config = a_config_map(a="1")
    config["metadata"]["annotations"] = {"pipecd.dev/sync-by-replace": "enabled"}
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(config)
        await web.succeed("K8S_SYNC")
        web.kubectl("patch", "configmap", "settings", "-p", '{"data": {"by-hand": "x"}}')

        await web.succeed("K8S_SYNC")

        assert web.get("configmap", "settings")["data"] == {"a": "1"}


async def test_a_missing_permission_is_named_with_verb_resource_and_namespace(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    little = cluster.limited([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "patch"]}], namespace)
    async with an_application(cluster, namespace, tmp_path, kubeconfig=little) as web:
        web.commit(a_config_map(), a_service())

        ended = await web.run("K8S_SYNC")

        assert ended.status is FAILED
        for word in ("patch", "services", namespace, "nothing was applied"):
            assert word in ended.message


async def test_what_somebody_has_deleted_is_made_anew_once_it_is_gone(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_config_map(a="1"))
        await web.succeed("K8S_SYNC")
        web.kubectl("patch", "configmap", "settings", "-p", '{"metadata": {"finalizers": ["example.com/hold"]}}')
        web.kubectl("delete", "configmap", "settings", "--wait=false")

        async with while_running(web, "K8S_SYNC", "example.com/hold") as (running, _):
            web.kubectl("patch", "configmap", "settings", "-p", '{"metadata": {"finalizers": null}}')
            ended = await running

        assert ended.status is SUCCEEDED, ended
        assert f"ConfigMap {namespace}/settings: created" in ended.log
        assert web.get("configmap", "settings")["data"] == {"a": "1"}


async def test_a_sync_that_was_broken_off_goes_on_when_it_is_asked_for_again(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(image="broken:1"), a_config_map())
        async with while_running(web, "K8S_SYNC", "ImagePullBackOff") as (running, stage_id):
            # As when the agent goes away.
            running.cancel()

        web.commit(a_deployment(image="web:1"), a_config_map())
        ended = await web.run("K8S_SYNC", id=stage_id)

        assert (ended.status, ended.log[-1]) == (SUCCEEDED, "2 objects applied"), ended
