"""Rollouts that wait until a test lets them go on: their pods ask for a node that is not there yet."""

from typing import Any

from tests.clusters.running import RunningCluster

_LABEL = "example.com/gate"
_ROOM = {"cpu": "1k", "memory": "1Ti", "pods": "1k"}
#: Where a canary's manifest says which gate it waits at.
GATE_PATH = f"$.spec.template.spec.nodeSelector.'{_LABEL}'"


def behind(gate: str) -> dict[str, Any]:
    """For the spec of pods that wait at a gate."""
    return {"nodeSelector": {_LABEL: gate}}


def open_gate(cluster: RunningCluster, gate: str) -> None:
    """Let those pods run."""
    node = {
        "metadata": {"name": gate, "labels": {_LABEL: gate}, "annotations": {"kwok.x-k8s.io/node": "fake"}},
        "status": {"allocatable": _ROOM, "capacity": _ROOM},
    }
    cluster.api.create("/api/v1/nodes", node)
