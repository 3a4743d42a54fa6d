"""Drift on a real cluster: what differs from Git is found, what only looks different is not."""

import base64
from pathlib import Path
from typing import Any

import pytest

from fairway.kube.cluster import Cluster
from fairway.model.application import SyncState, SyncStatus
from tests.cluster.kubernetes_applications import Application, a_config_map, a_deployment, a_service, an_application
from tests.clusters.running import RunningCluster
from tests.integration.agent.running import until

SYNCED, OUT_OF_SYNC = SyncStatus.SYNCED, SyncStatus.OUT_OF_SYNC


async def until_it_is(web: Application, status: SyncStatus, under_way: bool | None = False) -> SyncState:
    """The watch needs a moment to tell of what kubectl has just done."""

    async def look() -> SyncState | None:
        _, state = await web.plugin.live_state(under_way)
        return state if state.status is status else None

    return await until(look)


def a_peculiar_deployment() -> dict[str, Any]:
    """One that the cluster writes down otherwise than it was written."""
    limits = {"cpu": "1000m", "memory": "1024Mi"}
    ports = [{"containerPort": 8080}]
    container = {"resources": {"limits": limits}, "ports": ports, "env": [{"name": "EMPTY", "value": ""}]}
    return a_deployment(container=container, nodeSelector={}, terminationGracePeriodSeconds=30)


async def test_what_the_cluster_fills_in_or_writes_its_own_way_is_no_drift(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys"}, "stringData": {"a": "b"}}
        web.commit(a_peculiar_deployment(), a_service(), secret)
        await web.succeed("K8S_SYNC")

        _, state = await web.plugin.live_state(under_way=False)

        assert (state.status, state.reason) == (SYNCED, "")


async def test_an_unchanged_application_costs_no_call(
    cluster: RunningCluster, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_peculiar_deployment(), a_config_map(a="1"))
        await web.succeed("K8S_SYNC")
        web.kubectl("patch", "configmap", "settings", "--type=merge", "-p", '{"data": {"a": "2"}}')
        await until_it_is(web, OUT_OF_SYNC)

        def refuse(*_: Any, **__: Any) -> None:
            raise AssertionError("the cluster was asked")

        for name in ("get", "list", "apply", "patch", "items", "pages"):
            monkeypatch.setattr(Cluster, name, refuse)

        for _ in range(3):
            assert (await web.plugin.live_state(under_way=False))[1].status is OUT_OF_SYNC


async def test_a_change_is_shown_as_a_difference(cluster: RunningCluster, namespace: str, tmp_path: Path) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(replicas=1))
        await web.succeed("K8S_SYNC")

        web.kubectl("scale", "deployment", "web", "--replicas=2")

        state = await until_it_is(web, OUT_OF_SYNC)
        assert state.short_reason == "1 object is not as Git says: 1 different"
        assert f"# 1. Deployment {namespace}/web" in state.reason
        assert "  spec:\n    #spec.replicas\n-   replicas: 2\n+   replicas: 1\n" in state.reason


async def test_a_number_of_replicas_that_an_autoscaler_has_set_is_no_drift(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(replicas=1))
        await web.succeed("K8S_SYNC")

        path = f"/apis/apps/v1/namespaces/{namespace}/deployments/web/scale?fieldManager=autoscaler"
        cluster.api.merge(path, {"spec": {"replicas": 2}})

        async def look() -> SyncStatus | None:
            resources, state = await web.plugin.live_state(under_way=False)
            seen = any(each.health_description == "2 of 2 replicas are available" for each in resources)
            return state.status if seen else None

        assert await until(look) is SYNCED


async def test_missing_objects_and_orphans_are_listed(cluster: RunningCluster, namespace: str, tmp_path: Path) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_config_map(a="1"), a_service("old"))
        await web.succeed("K8S_SYNC")

        web.commit(a_config_map(a="1"), a_config_map("new", b="2"))

        state = await until_it_is(web, OUT_OF_SYNC)
        assert state.short_reason == "2 objects are not as Git says: 1 missing in the cluster, 1 not in Git"
        assert f"- 1. Service {namespace}/old\n+ 2. ConfigMap {namespace}/new" in state.reason


async def test_a_job_that_the_cluster_has_removed_as_git_says_is_not_missing(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """Where drift is deployed again, it would run again and again."""
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "job:1"}]}}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "migrate"}}
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit({**job, "spec": {"ttlSecondsAfterFinished": 0, "template": template}}, a_config_map(a="1"))
        await web.succeed("K8S_SYNC")

        async def is_gone() -> bool:
            return not web.names("job")

        await until(is_gone)

        _, state = await web.plugin.live_state(under_way=False)

        assert (state.status, state.reason) == (SYNCED, "")


async def test_a_field_that_is_ignored_is_no_drift(cluster: RunningCluster, namespace: str, tmp_path: Path) -> None:
    """Defect 8 of PipeCD: its plugin did not heed ignoreFields."""
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(replicas=1), a_config_map(a="1"))
        file = web.plugin.folder / "app.pipecd.yaml"
        ignored = f"apps/v1:Deployment:{namespace}:web#spec.replicas"
        file.write_text(f"{file.read_text()}  driftDetection:\n    ignoreFields: ['{ignored}']\n")
        await web.succeed("K8S_SYNC")

        web.kubectl("scale", "deployment", "web", "--replicas=2")
        web.kubectl("patch", "configmap", "settings", "--type=merge", "-p", '{"data": {"a": "2"}}')

        state = await until_it_is(web, OUT_OF_SYNC)
        assert state.short_reason == "1 object is not as Git says: 1 different"
        assert "ConfigMap" in state.reason


async def test_an_object_that_asks_for_it_is_not_compared(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        ignoring = a_config_map(a="1")
        ignoring["metadata"]["annotations"] = {"pipecd.dev/ignore-drift-detection": "true"}
        web.commit(ignoring, a_config_map("other", b="1"))
        await web.succeed("K8S_SYNC")

        for name in ("settings", "other"):
            web.kubectl("patch", "configmap", name, "--type=merge", "-p", '{"data": {"a": "2", "b": "2"}}')

        state = await until_it_is(web, OUT_OF_SYNC)
        assert state.short_reason == "1 object is not as Git says: 1 different"


async def test_a_secret_is_never_shown(cluster: RunningCluster, namespace: str, tmp_path: Path) -> None:
    """Defect 6 of PipeCD: stringData was printed."""
    async with an_application(cluster, namespace, tmp_path) as web:
        data = {"stringData": {"a": "hunter2"}, "data": {"b": base64.b64encode(b"hunter3").decode()}}
        web.commit({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys"}, **data})
        await web.succeed("K8S_SYNC")

        web.kubectl("patch", "secret", "keys", "-p", '{"stringData": {"a": "hunter4", "b": "hunter5"}}')

        state = await until_it_is(web, OUT_OF_SYNC)
        encoded = [base64.b64encode(f"hunter{number}".encode()).decode() for number in range(2, 6)]
        assert not [each for each in ("hunter", *encoded) if each in state.reason]
        assert "*****" in state.reason


async def test_a_canary_is_no_drift_while_its_deployment_is_under_way_and_one_that_was_left_is(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """Defect 23 of PipeCD: canaries were shown as drift."""
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(image="web:1"))
        await web.succeed("K8S_SYNC")
        web.deployed()
        web.commit(a_deployment(image="web:2"))
        await web.succeed("K8S_CANARY_ROLLOUT", replicas=1)

        meanwhile = await until_it_is(web, OUT_OF_SYNC, under_way=True)
        resources, _ = await web.plugin.live_state(under_way=True)
        afterwards = await until_it_is(web, OUT_OF_SYNC)
        _, unsaid = await web.plugin.live_state(under_way=None)

        # That the primary is not what Git says yet is so; the agent shows that a deployment is under way.
        assert meanwhile.short_reason == "1 object is not as Git says: 1 different"
        assert "web-canary" in {each.name for each in resources}
        assert f"Deployment {namespace}/web-canary" in afterwards.reason
        assert unsaid.short_reason == meanwhile.short_reason


async def test_an_object_in_another_version_than_the_cluster_prefers_is_compared(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """Defects 10 and 11 of PipeCD: every version was watched, or only the preferred one."""
    scaler = {
        "apiVersion": "autoscaling/v1",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web"},
        "spec": {
            "maxReplicas": 3,
            "targetCPUUtilizationPercentage": 80,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
        },
    }
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(scaler)
        await web.succeed("K8S_SYNC")
        assert (await web.plugin.live_state(under_way=False))[1].status is SYNCED

        web.kubectl("patch", "hpa", "web", "--type=merge", "-p", '{"spec": {"maxReplicas": 5}}')

        state = await until_it_is(web, OUT_OF_SYNC)
        assert "#spec.maxReplicas" in state.reason


async def test_an_object_that_git_does_not_have_is_mended_only_where_something_is_pruned(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_config_map("stays"), a_config_map("left"))
        await web.succeed("K8S_SYNC")

        mendable = []
        for settings in ({}, {"quickSync": {"prune": True}}):
            web.commit(a_config_map("stays"), **settings)
            state = await until_it_is(web, OUT_OF_SYNC)
            mendable.append((state.short_reason, web.plugin.mendable))

        assert mendable == [("1 object is not as Git says: 1 not in Git", each) for each in (False, True)]


async def test_an_object_that_exists_and_is_of_no_application_is_not_called_missing(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.kubectl("apply", "-f", "-", given=a_deployment())
        web.commit(a_deployment(), a_config_map(a="1"))

        resources, state = await web.plugin.live_state(under_way=False)

        assert state.short_reason == (
            "2 objects are not as Git says: 1 missing in the cluster, 1 in the cluster, but of no application"
        )
        words = "it exists and belongs to no application; the next deployment takes it over"
        assert f"Deployment {namespace}/web\n\n  {words}" in state.reason
        assert [(each.name, each.health_description) for each in resources] == [("web", words)]

        web.kubectl("delete", "deployment", "web")
        _, state = await web.plugin.live_state(under_way=False)

        assert state.short_reason == "2 objects are not as Git says: 2 missing in the cluster"
