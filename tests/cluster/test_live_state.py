"""What runs, on a real cluster: the tree, how each part is, and that the agent is told when it changes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from fairway.config.agent_file import DeployTarget
from fairway.kube.calls import Patience
from fairway.model.application import SyncStatus
from fairway.model.live_state import Health, Resource
from fairway.plugins.kubernetes.plugin import Kubernetes
from fairway.sdk.testing import plugin_under_test
from tests.cluster.kubernetes_applications import (
    Application,
    a_config_map,
    a_deployment,
    a_service,
    an_application,
    kubeconfig_for,
)
from tests.clusters.running import RunningCluster
from tests.integration.agent.running import until


def shape(resources: tuple[Resource, ...]) -> list[str]:
    """The tree as lines: kinds from the root to each object."""
    by_id = {each.id: each for each in resources}

    def path(each: Resource) -> str:
        above = [path(by_id[parent]) for parent in each.parent_ids]
        return " > ".join([*above, each.type])

    return sorted(map(path, resources))


def found(resources: tuple[Resource, ...], kind: str) -> Resource:
    return next(each for each in resources if each.type == kind)


async def until_healthy(web: Application) -> tuple[Resource, ...]:
    async def look() -> tuple[Resource, ...] | None:
        resources, _ = await web.plugin.live_state()
        return resources if all(each.health is Health.HEALTHY for each in resources) else None

    return await until(look)


async def test_what_belongs_to_an_application_is_a_tree_with_the_health_of_each_part(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """Defect 9 of PipeCD: an application with a Service or a ConfigMap never was healthy."""
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(replicas=2), a_service(), a_config_map(a="1"))
        await web.succeed("K8S_SYNC")

        resources = await until_healthy(web)

        chain = "Deployment > ReplicaSet"
        assert shape(resources) == ["ConfigMap", "Deployment", chain, f"{chain} > Pod", f"{chain} > Pod", "Service"]
        deployment = found(resources, "Deployment")
        assert (deployment.name, deployment.deploy_target) == ("web", "test")
        assert deployment.metadata == {"Namespace": namespace, "API Version": "apps/v1", "Kind": "Deployment"}


async def test_pods_of_the_jobs_of_a_cron_job_are_in_the_tree(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    """Defect 33 of PipeCD: one level of owners was followed."""
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "tick:1"}]}
    job = {"spec": {"template": {"spec": pod}}}
    cron = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "tick"}}
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit({**cron, "spec": {"schedule": "0 0 1 1 *", "jobTemplate": job}})
        await web.succeed("K8S_SYNC")
        owner = web.get("cronjob", "tick")["metadata"]
        reference = {
            "apiVersion": "batch/v1",
            "kind": "CronJob",
            "name": "tick",
            "uid": owner["uid"],
            "controller": True,
        }
        made = {"metadata": {"name": "tick-1", "ownerReferences": [reference]}, "spec": job["spec"]}
        cluster.api.create(f"/apis/batch/v1/namespaces/{namespace}/jobs", made)

        async def look() -> bool:
            resources, _ = await web.plugin.live_state()
            return shape(resources) == ["CronJob", "CronJob > Job", "CronJob > Job > Pod"]

        assert await until(look)


async def test_a_rollout_that_gets_nowhere_says_what_its_pods_wait_for(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(
            {
                **a_deployment(image="broken:1"),
                "metadata": {"name": "web", "annotations": {"fairway.dev/wait": "false"}},
            }
        )
        await web.succeed("K8S_SYNC")

        async def look() -> bool:
            resources, _ = await web.plugin.live_state()
            words = found(resources, "Deployment").health_description
            # Before that it says what the cluster's controllers have not yet noted of the rollout.
            return words.startswith("0 of 1 replicas are available; pod web-") and "ImagePullBackOff" in words

        assert await until(look)


async def test_the_agent_is_told_when_something_changes(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_config_map(a="1"))
        await web.succeed("K8S_SYNC")
        await until_healthy(web)
        web.plugin.agent.changed.clear()

        web.kubectl("patch", "configmap", "settings", "--type=merge", "-p", '{"data": {"a": "2"}}')

        async def told() -> bool:
            return web.plugin.application_id in web.plugin.agent.changed

        assert await until(told)


async def test_objects_of_other_applications_are_not_in_the_tree(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_config_map(a="1"))
        await web.succeed("K8S_SYNC")
        mark = {"pipecd.dev/managed-by": "piped", "pipecd.dev/application": "another"}
        other = {**a_config_map("other"), "metadata": {"name": "other", "annotations": mark, "labels": mark}}
        web.kubectl("apply", "-f", "-", given=other)

        resources, state = await web.plugin.live_state()

        assert ([each.name for each in resources], state.status) == (["settings"], SyncStatus.SYNCED)


READING = {"apiGroups": ["", "apps"], "resources": ["*"], "verbs": ["*"]}


async def test_who_may_see_one_namespace_only_sees_that(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    own = cluster.limited([READING], namespace)
    async with an_application(cluster, namespace, tmp_path, kubeconfig=own) as web:
        web.commit(a_deployment(), a_config_map(a="1"))
        await web.succeed("K8S_SYNC")

        resources = await until_healthy(web)

        assert shape(resources) == [
            "ConfigMap",
            "Deployment",
            "Deployment > ReplicaSet",
            "Deployment > ReplicaSet > Pod",
        ]


@pytest.mark.parametrize(
    ("resources", "missing"),
    [
        pytest.param(["deployments", "replicasets"], "list pods", id="what is below"),
        pytest.param(["pods", "replicasets", "deployments"], "list configmaps", id="what Git has"),
    ],
)
async def test_a_missing_permission_is_named(
    cluster: RunningCluster, namespace: str, tmp_path: Path, resources: list[str], missing: str
) -> None:
    rules = [{"apiGroups": ["", "apps"], "resources": resources, "verbs": ["*"]}]
    own = kubeconfig_for(cluster.limited(rules, namespace), namespace, tmp_path)
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_deployment(image="broken:1", replicas=1), *([a_config_map(a="1")] if "pods" in resources else []))
        bodies = yaml.safe_load_all((web.plugin.folder / "manifests.yaml").read_text())
        for body in bodies:
            web.kubectl("apply", "-f", "-", given=marked(body, web.plugin.application_id))
        target = DeployTarget(name="test", config={"kubeConfigPath": str(own)})
        (tmp_path / "limited").mkdir()
        async with plugin_under_test(Kubernetes, tmp_path / "limited", targets=(target,)) as plugin:
            plugin.folder.rmdir()
            plugin.folder.symlink_to(web.plugin.folder)
            plugin.application_id = web.plugin.application_id

            seen, state = await plugin.live_state()

    said = found(seen, "Deployment").health_description + state.short_reason
    assert f"is not allowed to {missing} in namespace {namespace}" in said


async def test_a_deploy_target_may_say_what_is_watched(cluster: RunningCluster, namespace: str, tmp_path: Path) -> None:
    own = kubeconfig_for(cluster.limited([READING], namespace), namespace, tmp_path)
    informer = {"namespace": namespace, "excludeResources": [{"apiVersion": "v1", "kind": "ConfigMap"}]}
    target = DeployTarget(name="test", config={"kubeConfigPath": str(own), "appStateInformer": informer})
    async with plugin_under_test(Kubernetes, tmp_path, targets=(target,)) as plugin:
        web = Application(plugin, cluster, namespace, tmp_path)
        plugin.application_id = f"app-{namespace}"
        web.commit(a_service(), a_config_map(a="1"), a_cluster_role(namespace))
        web.kubectl("apply", "-f", "-", given=marked(a_service(), plugin.application_id))

        resources, state = await plugin.live_state()

    # Neither the ConfigMap nor the ClusterRole is there; nobody looks for them.
    assert ([each.name for each in resources], state.status) == (["web"], SyncStatus.SYNCED)


def a_cluster_role(name: str) -> dict[str, Any]:
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name}}


def marked(body: Mapping[str, Any], application_id: str) -> dict[str, Any]:
    mark = {"pipecd.dev/managed-by": "piped", "pipecd.dev/application": application_id}
    return {**body, "metadata": {**body["metadata"], "annotations": mark}}


async def test_an_application_that_pipecds_older_agents_deployed_is_seen(
    cluster: RunningCluster, namespace: str, tmp_path: Path
) -> None:
    async with an_application(cluster, namespace, tmp_path) as web:
        web.commit(a_config_map(a="1"))
        web.kubectl("apply", "-f", "-", given=marked(a_config_map(a="1"), web.plugin.application_id))

        resources, state = await web.plugin.live_state()

        assert ([each.name for each in resources], state.status) == (["settings"], SyncStatus.SYNCED)


async def test_a_cluster_that_is_away_is_said_and_nothing_is_guessed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Patience, "delay", lambda *_: 0.0)
    kubeconfig = tmp_path / "kubeconfig"
    cluster = {"name": "x", "cluster": {"server": "https://127.0.0.1:1"}}
    context = {"name": "x", "context": {"cluster": "x"}}
    told = {"current-context": "x", "clusters": [cluster], "contexts": [context]}
    kubeconfig.write_bytes(msgspec.json.encode(told))
    target = DeployTarget(name="gone", config={"kubeConfigPath": str(kubeconfig)})
    async with plugin_under_test(Kubernetes, tmp_path, targets=(target,)) as plugin:
        (plugin.folder / "app.pipecd.yaml").write_text(
            "apiVersion: pipecd.dev/v1beta1\nkind: KubernetesApp\nspec: {}\n"
        )
        (plugin.folder / "one.yaml").write_text(yaml.safe_dump(a_config_map(a="1")))

        resources, state = await plugin.live_state()

    assert state.status is SyncStatus.UNKNOWN
    assert "gone: The cluster gone (https://127.0.0.1:1) does not answer" in state.short_reason
    (shown,) = resources
    assert (shown.type, shown.name, shown.deploy_target, shown.health) == (
        "DeployTarget",
        "gone",
        "gone",
        Health.UNKNOWN,
    )
    assert shown.health_description.startswith("not known since 20")
    assert "UTC: The cluster gone (https://127.0.0.1:1) does not answer" in shown.health_description
