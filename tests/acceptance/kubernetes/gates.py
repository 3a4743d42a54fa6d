"""Stages that wait until a test lets them go on: pods that ask for a node that is not there, objects that cannot go."""

from typing import Any

from tests.clusters.programs import program
from tests.clusters.running import RunningCluster

_LABEL = "example.com/gate"
_ROOM = {"cpu": "1k", "memory": "1Ti", "pods": "1k"}
#: Where a canary's manifest says which gate it waits at.
GATE_PATH = f"$.spec.template.spec.nodeSelector.'{_LABEL}'"
_HELD = '{"metadata": {"finalizers": ["example.com/hold"]}}'
_FREE = '{"metadata": {"finalizers": null}}'


def behind(gate: str) -> dict[str, Any]:
    """For the spec of pods that wait at a gate."""
    return {"nodeSelector": {_LABEL: gate}}


def open_gate(cluster: RunningCluster, gate: str, node: str = "") -> None:
    """Let those pods run, on a node of that name or the gate's."""
    made = {
        "metadata": {"name": node or gate, "labels": {_LABEL: gate}, "annotations": {"kwok.x-k8s.io/node": "fake"}},
        "status": {"allocatable": _ROOM, "capacity": _ROOM},
    }
    cluster.api.create("/api/v1/nodes", made)


def shut_gate(cluster: RunningCluster, gate: str) -> None:
    """Let no more of them run on the gate's own node; those that do go on."""
    cluster.api.merge(f"/api/v1/nodes/{gate}", {"spec": {"unschedulable": True}})


def hold(cluster: RunningCluster, namespace: str, name: str, variant: str = "canary") -> str:
    """A script that keeps an application's canary, or its baseline, from going when it is deleted."""
    kubectl = f"{program('kubectl')} --kubeconfig={cluster.kubeconfig} --namespace={namespace}"
    return f"{kubectl} patch deployment {name}-{variant} --type=merge --patch='{_HELD}'"


def let_go(cluster: RunningCluster, namespace: str, name: str, variant: str = "canary") -> None:
    """Let it go."""
    cluster.kubectl("patch", "deployment", f"{name}-{variant}", "--type=merge", "-p", _FREE, namespace=namespace)
