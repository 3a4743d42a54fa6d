"""An agent or a plugin that is killed in the middle of a stage: another goes on with it, and nothing is left behind."""

import os
import signal
from collections.abc import Mapping
from pathlib import Path

import pytest

from fairway.model.deployment import DeploymentStatus
from fairway.model.stage import StageStatus
from tests.acceptance.agent.sites import kill, plugin_hosts, until
from tests.acceptance.kubernetes.doors import a_door
from tests.acceptance.kubernetes.gates import GATE_PATH, behind, hold, let_go, open_gate, shut_gate
from tests.acceptance.kubernetes.pipelines import NEW, OLD, Change, an_application, manifests
from tests.acceptance.kubernetes.sites import ClusterSite, a_cluster_site, an_agent_of, objects
from tests.clusters.running import RunningCluster

Place = Mapping[str, object]
#: Application → the stage in which it waits for the kill. Canaries and baselines of the first three cannot go, which is
#: waited for for a minute only; the next four have pods that cannot run yet, and what the last one sends does not get
#: through.
WAITS_IN = {
    "compared": "K8S_BASELINE_CLEAN",
    "clean": "K8S_CANARY_CLEAN",
    "undone": "K8S_ROLLBACK",
    "first": "K8S_SYNC",
    "canary": "K8S_CANARY_ROLLOUT",
    "primary": "K8S_PRIMARY_ROLLOUT",
    "baseline": "K8S_BASELINE_ROLLOUT",
    "routed": "K8S_TRAFFIC_ROUTING",
}
#: What cannot go.
HELD = {"clean": "canary", "compared": "baseline", "undone": "canary"}
#: How applications of either generation are registered. What is told of their deployments takes other ways.
_FIRST: Place = {"kind": "kubernetes", "platform_provider": "here"}
_SECOND: Place = {"deploy_targets_by_plugin": {"kubernetes": ["here"]}}


@pytest.mark.parametrize(
    ("who", "place"),
    [
        pytest.param("agent", _FIRST, id="agent, first generation"),
        pytest.param("agent", _SECOND, id="agent, second generation"),
        pytest.param("plugin", _SECOND, id="plugin"),
    ],
)
def test_every_stage_goes_on_after_a_kill(
    cluster: RunningCluster, namespace: str, tmp_path: Path, who: str, place: Place
) -> None:
    changes, earlier = _changes(cluster, namespace), [name for name in WAITS_IN if name != "first"]
    later = {f"{name}/app.pipecd.yaml": an_application(name, tmp_path, changes.get(name)) for name in WAITS_IN}
    old = {path: text for path, text in later.items() if not path.startswith("first/")}
    old |= {f"{name}/manifests.yaml": _manifests(name, OLD, namespace) for name in earlier}
    later |= {f"{name}/manifests.yaml": _manifests(name, NEW, namespace) for name in WAITS_IN}
    for gate in ("open", "old"):
        open_gate(cluster, f"{namespace}-{gate}")

    with a_door(cluster) as door:
        kubeconfig = door.kubeconfig(an_agent_of(cluster, namespace))
        with a_cluster_site(tmp_path, old, {"here": kubeconfig}) as site:
            site.register(*earlier, **place)
            assert {site.ended_of(name).status for name in earlier} == {DeploymentStatus.SUCCEEDED}
            shut_gate(cluster, f"{namespace}-old")
            door.holds = _routes
            site.origin.commit(later)
            site.register("first", **place)
            _until_all_have_got_there(site)
            until(lambda: (_waiting(cluster, namespace), door.held > 0) == (7, True), pause=0.2)

            _kill(site, who)
            door.let_go()
            _let_all_go(cluster, namespace)

            ended = {name: site.ended_of(name) for name in WAITS_IN}
    expected = dict.fromkeys(WAITS_IN, DeploymentStatus.SUCCEEDED) | {"undone": DeploymentStatus.FAILED}
    reasons = {name: each.status_reason for name, each in ended.items()}
    assert {name: each.status for name, each in ended.items()} == expected, reasons
    assert _deployed(cluster, namespace) == dict.fromkeys(WAITS_IN, NEW) | {"undone": OLD}
    assert _undone(tmp_path) == {"undone": "35"}


def _undone(folder: Path) -> dict[str, str]:
    """Application → the numbers of the stages whose scripts were undone."""
    return {name: (folder / name).read_text() for name in WAITS_IN if (folder / name).is_file()}


def _until_all_have_got_there(site: ClusterSite) -> None:
    """Looked at together: the first may go on before the last has got there, and one by one would be missed."""
    seen: set[str] = set()

    def look() -> bool:
        found = {each: site.deployment_of(each) for each in WAITS_IN if each not in seen}
        for name, each in found.items():
            stages = each.stages if each is not None else ()
            if any((one.name, one.status) == (WAITS_IN[name], StageStatus.RUNNING) for one in stages):
                seen.add(name)
            else:
                assert each is None or not each.status.is_terminal, each.status_reason
        return len(seen) == len(WAITS_IN)

    until(look, pause=0.1)


def _manifests(name: str, image: str, namespace: str) -> str:
    """Which gate pods wait at depends on where the application is to wait."""
    if name == "routed":
        return _with_service(manifests(name, image))
    gates = {("baseline", OLD): "old", ("first", NEW): "shut", ("canary", NEW): "shut", ("primary", NEW): "shut"}
    gate = gates.get((name, image))
    return manifests(name, image, behind(f"{namespace}-{gate}") if gate else {})


def _with_service(text: str) -> str:
    """With a Service by whose selector traffic is shared out."""
    selected = '"app": "routed", "pipecd.dev/variant": "primary"'
    spec = f'{{"selector": {{{selected}}}, "ports": [{{"port": 80}}]}}'
    service = f'{{"apiVersion": "v1", "kind": "Service", "metadata": {{"name": "routed"}}, "spec": {spec}}}'
    return "\n---\n".join((text.replace('"app": "routed"', selected), service))


def _routes(method: str, path: str) -> bool:
    """Whether a request shares out traffic, and not only asks what would be."""
    return method == "PATCH" and "/services/routed" in path and "dryRun" not in path


def _let_all_go(cluster: RunningCluster, namespace: str) -> None:
    open_gate(cluster, f"{namespace}-shut")
    open_gate(cluster, f"{namespace}-old", f"{namespace}-new")
    for name, variant in HELD.items():
        let_go(cluster, namespace, name, variant)


_BASELINE: Change = {"name": "K8S_BASELINE_ROLLOUT"}
_BASELINE_CLEAN: Change = {"name": "K8S_BASELINE_CLEAN"}


def _to(variant: str) -> Change:
    return {"name": "K8S_TRAFFIC_ROUTING", "with": {"all": variant}}


def _changes(cluster: RunningCluster, namespace: str) -> dict[str, dict[int, Change]]:
    """Application → how its pipeline differs from the usual one."""
    op = {"path": GATE_PATH, "value": f"{namespace}-open"}
    elsewhere = {"patches": [{"target": {"kind": "Deployment", "name": "primary"}, "ops": [op]}]}
    holding = {name: hold(cluster, namespace, name, variant) for name, variant in HELD.items()}
    return {
        "primary": {1: {"with": elsewhere}},
        "baseline": {2: _BASELINE, 5: _BASELINE_CLEAN},
        "compared": {2: _BASELINE, 3: {"with": {"run": holding["compared"]}}, 5: _BASELINE_CLEAN},
        "routed": {2: _to("canary"), 5: _to("primary")},
        "clean": {5: {"with": {"run": holding["clean"]}}},
        "undone": {5: {"with": {"run": f"{holding['undone']} && exit 1"}}},
    }


def _waiting(cluster: RunningCluster, namespace: str) -> int:
    """How many stages have got as far as they can: pods that wait for a node, canaries that are to go."""
    found = objects(cluster, namespace, "pods,deployments")
    pods = [each for each in found if each["status"].get("phase") == "Pending"]
    going = [each for each in found if each["kind"] == "Deployment" and "deletionTimestamp" in each["metadata"]]
    return len(pods) + len(going)


def _deployed(cluster: RunningCluster, namespace: str) -> dict[str, str]:
    """Name → image of every Deployment."""
    found = objects(cluster, namespace, "deployments")
    return {each["metadata"]["name"]: each["spec"]["template"]["spec"]["containers"][0]["image"] for each in found}


def _kill(site: ClusterSite, who: str) -> None:
    if who == "plugin":
        for each in plugin_hosts(site.agent_proper):
            os.kill(each, signal.SIGKILL)
        return
    kill(site.agent)
    site.start_agent()
