"""A site whose agent deploys to a real cluster, with no more rights than `examples/kubernetes/rbac` gives it."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
import yaml

from fairway.cli.remote import segments
from fairway.model.application import Application, SyncStatus
from fairway.model.deployment import Deployment
from fairway.model.live_state import LiveState
from fairway.model.stage import Stage, StageStatus
from tests.acceptance.agent.sites import How, Site, until
from tests.clusters.running import RunningCluster
from tests.integration.git.repositories import an_origin

EXAMPLES = Path(__file__).parents[3] / "examples" / "kubernetes"
#: What has no status worth waiting for.
_LISTED = "deployments,replicasets,pods,services,configmaps,secrets"


class ClusterSite(Site):
    """One server and one agent with the Kubernetes plugins."""

    def register(self, *names: str, **said: object) -> None:
        """Register the applications in the directories of these names, saying more about them than where they are."""
        until(lambda: self._get(f"/agents/{self.agent_id}")["repositories"])
        for name in names:
            place = {"agent_id": self.agent_id, "repository_id": "r-1", "path": name}
            self._remote.send("POST", "/applications", {"name": name.replace("/", "-"), **place, **said})

    def applications(self) -> dict[str, Application]:
        """All of them by their names."""
        page = msgspec.json.decode(self._remote.get("/applications", {"limit": 100}), type=_Applications)
        return {each.name: each for each in page.items}

    def deployment_of(self, name: str) -> Deployment | None:
        """The deployment of one application at the newest commit, if it is there already."""
        head = self.origin.head()
        found = (each for each in self.deployments() if each.application_name == name)
        return next((each for each in found if each.trigger.commit.hash == head), None)

    def live_state(self, name: str) -> LiveState:
        """What the server knows of what runs."""
        path = segments("applications", self.applications()[name].id, "live-state")
        return msgspec.json.decode(self._remote.get(path), type=LiveState)

    def ended_of(self, name: str) -> Deployment:
        """That deployment, once it has ended."""

        def look() -> Deployment | None:
            found = self.deployment_of(name)
            return found if found is not None and found.status.is_terminal else None

        return self._until(name, look)

    def in_stage(self, name: str, stage: str) -> Deployment:
        """That deployment, as soon as a stage of that name runs."""
        return self.at_stage(name, lambda each: each.name == stage)

    def at_stage(self, name: str, wanted: Callable[[Stage], bool]) -> Deployment:
        """That deployment, as soon as a stage like that runs; one that has ended before is the test's failure."""

        def look() -> Deployment | None:
            found = self.deployment_of(name)
            if found is None or any(wanted(each) and each.status is StageStatus.RUNNING for each in found.stages):
                return found
            assert not found.status.is_terminal, found.status_reason
            return None

        return self._until(name, look)

    def _until(self, name: str, look: Callable[[], Deployment | None]) -> Deployment:
        """Patience with a deployment; when it is over, what is known of it."""
        try:
            return until(look, pause=0.1)
        except AssertionError as error:
            found = self.deployment_of(name)
            stages = [(each.name, each.status.value, each.status_reason) for each in found.stages] if found else []
            status = (found.status.value, found.status_reason) if found else "there is no deployment"
            raise AssertionError(f"{name}: {error}: {status}, {stages}") from error

    def synced(self, name: str) -> None:
        """Wait until what runs is what Git says."""

        def look() -> bool:
            state = self.applications()[name].sync_state
            return state is not None and state.status is SyncStatus.SYNCED

        try:
            until(look, pause=0.1)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}: {self.applications()[name].sync_state}") from error


class _Applications(msgspec.Struct):
    items: tuple[Application, ...]


@contextmanager
def a_cluster_site(
    folder: Path, files: Mapping[str, str | bytes], targets: Mapping[str, Path], how: How | None = None
) -> Iterator[ClusterSite]:
    """A site with a repository of these files, whose agent knows these deploy targets."""
    how = how or How()
    if how.plugins == How().plugins:
        how = how._replace(plugins=plugins(targets))
    with ExitStack() as stack:
        yield ClusterSite(folder, an_origin(folder, files), stack, how)


def plugins(targets: Mapping[str, Path]) -> str:
    """Both plugins with the same deploy targets, for an agent's file."""
    written = [{"name": name, "labels": {"tier": "web"}, "config": _config(path)} for name, path in targets.items()]
    names = ("kubernetes", "kubernetes_multicluster")
    return json.dumps([{"name": name, "url": f"builtin:{name}", "deployTargets": written} for name in names])


def providers(targets: Mapping[str, Path]) -> str:
    """The same in the first generation's form: no plugins, but platform providers."""
    written = [{"name": name, "type": "KUBERNETES", "config": _config(path)} for name, path in targets.items()]
    return f"[]\n  platformProviders: {json.dumps(written)}"


def _config(kubeconfig: Path) -> dict[str, Any]:
    return {"kubeConfigPath": str(kubeconfig), "appStateInformer": {"namespace": namespace_of(kubeconfig)}}


def namespace_of(kubeconfig: Path) -> str:
    """The namespace of its only context."""
    found: str = json.loads(kubeconfig.read_text())["contexts"][0]["context"]["namespace"]
    return found


def an_agent_of(cluster: RunningCluster, namespace: str, *files: str) -> Path:
    """The kubeconfig of an agent that may do in a namespace what these files of the examples allow."""
    for file in files or ("namespace.yaml", "service-mesh.yaml"):
        text = (EXAMPLES / "rbac" / file).read_text()
        (rules,) = (each["rules"] for each in yaml.safe_load_all(text) if "rules" in each)
        cluster.kubectl(
            "apply",
            "-f",
            "-",
            given=re.sub(r"namespace: fairway$", f"namespace: {namespace}", text, flags=re.M),
            namespace=namespace,
        )
    # What was allowed last is known last.
    cluster.wait_for_right(f"system:serviceaccount:{namespace}:fairway-agent", namespace, rules[0])
    return cluster.account(namespace, "fairway-agent")


def example(name: str) -> dict[str, str]:
    """The files of an example below a directory of its name; nobody waits ten seconds for a test."""
    folder = EXAMPLES / name
    return {
        f"{name}/{path.relative_to(folder).as_posix()}": quick(path.read_text())
        for path in folder.rglob("*")
        if path.is_file()
    }


def quick(text: str) -> str:
    """The same without its pauses."""
    return text.replace("duration: 10s", "duration: 10ms").replace("sleep 10\n", "sleep 0.01\n")


def objects(cluster: RunningCluster, namespace: str, of: str = _LISTED) -> list[dict[str, Any]]:
    """What is there in a namespace, but what the cluster itself puts there."""
    found = json.loads(cluster.kubectl("get", of, "-o", "json", namespace=namespace))["items"]
    return [each for each in found if each["metadata"]["name"] not in {"kube-root-ca.crt", "fairway-agent"}]


def images(cluster: RunningCluster, namespace: str) -> set[str]:
    """Of the pods that are there to stay."""
    pods = objects(cluster, namespace, "pods")
    staying = [each for each in pods if "deletionTimestamp" not in each["metadata"]]
    return {container["image"] for each in staying for container in each["spec"]["containers"]}


def variants(cluster: RunningCluster, namespace: str) -> set[str]:
    """What canary and baseline have left."""
    labels = {each["metadata"]["name"]: each["metadata"].get("labels", {}) for each in objects(cluster, namespace)}
    return {name for name, each in labels.items() if each.get("pipecd.dev/variant") in {"canary", "baseline"}}


def assert_no_variants(cluster: RunningCluster, namespace: str) -> None:
    """Nothing is left of canary and baseline, once the cluster has cleared away the pods of what was removed."""
    with suppress(AssertionError):
        until(lambda: not variants(cluster, namespace), pause=0.2)
    assert variants(cluster, namespace) == set()
