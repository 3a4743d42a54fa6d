"""An application on the tests' cluster, and the plugin over real gRPC that deploys it."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
import yaml

from fairway.config.agent_file import DeployTarget
from fairway.model.registration import Registration, Standing
from fairway.model.stage import Stage, StageStatus
from fairway.plugins.kubernetes.plugin import Kubernetes, OnClusters
from fairway.sdk.testing import Ended, PluginUnderTest, plugin_under_test
from tests.clusters.running import RunningCluster
from tests.integration.agent.running import until

SUCCEEDED, FAILED, CANCELLED = StageStatus.SUCCEEDED, StageStatus.FAILED, StageStatus.CANCELLED


class Application:
    """One application: what Git says, and what a cluster has of it."""

    def __init__(self, plugin: PluginUnderTest, cluster: RunningCluster, namespace: str, folder: Path) -> None:
        self.plugin = plugin
        self.cluster = cluster
        self.namespace = namespace
        self._folder = folder
        self._commits = 0

    def commit(self, *bodies: Mapping[str, Any], **settings: Any) -> None:
        """What Git says from now on: these manifests, and these settings of the plugin."""
        self._commits += 1
        folder = self.plugin.folder
        shutil.rmtree(folder)
        folder.mkdir()
        plugin = settings.pop("plugin", "kubernetes")
        spec = {"name": "web", "pipeline": settings.pop("pipeline", {}), "plugins": {plugin: settings}}
        file = {"apiVersion": "pipecd.dev/v1beta1", "kind": "Application", "spec": spec}
        (folder / "app.pipecd.yaml").write_text(yaml.safe_dump(file))
        (folder / "manifests.yaml").write_text(yaml.safe_dump_all(bodies))
        self.plugin.commit = f"{self._commits:040x}"

    def work_for(self, name: str) -> None:
        """Another application is deployed from now on; it is registered, as the agent says."""
        plugin = self.plugin
        plugin.application_id, plugin.application_name = f"{name}-{self.namespace}", name
        registered = Registration(Standing.REGISTERED, name)
        plugin.agent.applications = {**(plugin.agent.applications or {}), plugin.application_id: registered}

    def deployed(self) -> None:
        """The deployment has ended well: what Git says now is what runs, and the next deployment begins."""
        running = self._folder / f"running-{self._commits}"
        shutil.copytree(self.plugin.folder, running)
        self.plugin.running, self.plugin.running_commit = running, self.plugin.commit
        self.plugin.agent.plugin_notes.clear()
        self.plugin.agent.stage_notes.clear()

    async def run(self, name: str, options: Mapping[str, Any] | None = None, *, id: str = "") -> Ended:
        """Run a stage."""
        return await self.plugin.run(name, options, id=id)

    async def succeed(self, name: str, **options: Any) -> Ended:
        """Run a stage that must succeed."""
        ended = await self.run(name, options)
        assert ended.status is SUCCEEDED, ended
        return ended

    def get(self, kind: str, name: str) -> dict[str, Any]:
        """One object."""
        text = self.cluster.kubectl("get", kind, name, "-o", "json", namespace=self.namespace)
        found: dict[str, Any] = msgspec.json.decode(text)
        return found

    def names(self, kind: str, labels: str = "pipecd.dev/managed-by=piped") -> list[str]:
        """The names of all objects of a kind with these labels."""
        listed = self.cluster.kubectl("get", kind, "-l", labels, "-o", "name", namespace=self.namespace)
        return sorted(line.partition("/")[2] for line in listed.splitlines())

    def all_names(self, kinds: str) -> list[str]:
        """The kinds and names of all objects of some kinds, but for what the cluster puts into every namespace."""
        listed = self.cluster.kubectl("get", kinds, "-o", "name", namespace=self.namespace).split()
        return sorted(each for each in listed if each != "configmap/kube-root-ca.crt")

    def kubectl(self, *arguments: str, given: Mapping[str, Any] | str = "") -> str:
        """What kubectl says."""
        text = given if isinstance(given, str) else yaml.safe_dump(dict(given))
        return self.cluster.kubectl(*arguments, given=text, namespace=self.namespace)


@asynccontextmanager
async def an_application(
    cluster: RunningCluster,
    namespace: str,
    folder: Path,
    *,
    kubeconfig: Path | None = None,
    kind: type[OnClusters] = Kubernetes,
) -> AsyncIterator[Application]:
    """An application that is deployed to the namespace, with rights of its own if need be."""
    own = kubeconfig_for(kubeconfig or cluster.kubeconfig, namespace, folder)
    target = DeployTarget(name="test", config={"kubeConfigPath": str(own)})
    async with plugin_under_test(kind, folder, targets=(target,)) as plugin:
        # What is pruned is looked for in all namespaces.
        plugin.application_id = f"app-{namespace}"
        yield Application(plugin, cluster, namespace, folder)


def kubeconfig_for(like: Path, namespace: str, folder: Path) -> Path:
    """The same kubeconfig, by which objects go to the namespace whose manifests name none."""
    own = folder / f"kubeconfig-{uuid4().hex[:6]}"
    told = yaml.safe_load(like.read_text())
    for each in told["contexts"]:
        each["context"]["namespace"] = namespace
    own.write_text(yaml.safe_dump(told))
    return own


def pods(application: Application) -> set[str]:
    """The uids of all pods of the namespace that are not about to end."""
    listed = msgspec.json.decode(application.kubectl("get", "pods", "-o", "json"))
    return {each["metadata"]["uid"] for each in listed["items"] if "deletionTimestamp" not in each["metadata"]}


@asynccontextmanager
async def while_running(
    application: Application, name: str, said: str, options: Mapping[str, Any] | None = None
) -> AsyncIterator[tuple[asyncio.Task[Ended], str]]:
    """A stage that runs, once its log has said something, and its id."""
    stage_id = f"{name}-{uuid4().hex[:6]}"
    task = asyncio.create_task(application.run(name, options, id=stage_id))
    try:

        async def look() -> bool:
            if task.done():
                raise AssertionError(f"it has ended: {task.result()}")
            return any(said in line for line in application.plugin.agent.logs.get(stage_id, ()))

        await until(look)
        yield task, stage_id
    finally:
        task.cancel()
        await asyncio.wait({task})


def a_stage(name: str, index: int, status: StageStatus = StageStatus.NOT_STARTED, id: str = "") -> Stage:
    """A stage of a deployment."""
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return Stage(id=id or f"{name}-{index}", name=name, index=index, status=status, created_at=at, updated_at=at)


def a_deployment(name: str = "web", image: str = "web:1", replicas: int | None = 1, **pod: Any) -> dict[str, Any]:
    """A Deployment."""
    labels = {"app": name}
    container = {"name": "main", "image": image, **pod.pop("container", {})}
    spec = {
        "selector": {"matchLabels": labels},
        "progressDeadlineSeconds": pod.pop("deadline", 600),
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [container], **pod}},
    }
    if replicas is not None:
        spec["replicas"] = replicas
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": spec}


def a_stateful_set(name: str = "db", image: str = "db:1", replicas: int = 1, **pod: Any) -> dict[str, Any]:
    """A StatefulSet."""
    service = pod.pop("service", name)
    made = a_deployment(name, image, replicas, **pod)
    spec = {key: value for key, value in made["spec"].items() if key != "progressDeadlineSeconds"}
    return {**made, "kind": "StatefulSet", "spec": {**spec, "serviceName": service}}


def a_job(name: str = "migrate", container: Mapping[str, Any] = {}, **spec: Any) -> dict[str, Any]:
    """A Job of one pod."""
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "job:1", **container}]}
    spec = {"template": {"spec": pod}, **spec}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": spec}


def a_config_map(name: str = "settings", **data: str) -> dict[str, Any]:
    """A ConfigMap."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def a_definition(group: str, kind: str) -> dict[str, Any]:
    """A kind of one's own in that group, whose objects may hold anything."""
    name = kind.lower()
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{name}s.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": f"{name}s", "singular": name},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }


def a_service(name: str = "web", **spec: Any) -> dict[str, Any]:
    """A Service."""
    spec = {"selector": {"app": name}, "ports": [{"port": 80}], **spec}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}
