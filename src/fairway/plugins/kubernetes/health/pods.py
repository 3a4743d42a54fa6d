"""How a pod is, and what keeps the pods of a workload from being ready."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fairway.kube.manifest import Body
from fairway.plugins.kubernetes.health.verdict import (
    Healthiness,
    Standing,
    conditions,
    counted,
    healthy,
    is_false,
    is_true,
    number,
    on_its_way,
    said,
    section,
    stuck,
)

#: Reasons with which a container waits that are part of every start.
_STARTING = frozenset({"", "ContainerCreating", "PodInitializing"})
#: How many pods of a workload are told about.
_SHOWN_PODS = 3
_SHOWN_CHARACTERS = 300


def pod_health(body: Body) -> Healthiness:
    """A pod: what its containers wait for comes before what its phase says."""
    status = section(body, "status")
    phase = status.get("phase", "Pending")
    if phase == "Succeeded":
        return healthy("It has done its work")
    if phase == "Failed":
        return stuck(_failed(body))
    if trouble := "; ".join(_troubles(status)):
        return on_its_way(trouble)
    found = conditions(body)
    if is_false(found.get("PodScheduled")):
        return on_its_way(f"No node takes it: {said(found['PodScheduled'])}")
    if phase != "Running":
        return on_its_way("It is starting" if phase == "Pending" else f"It is {phase}")
    if is_true(found.get("Ready")) or section(body, "spec").get("restartPolicy", "Always") != "Always":
        return healthy()
    waiting = [str(each.get("name")) for each in _containers(status) if not each.get("ready")]
    return on_its_way(f"Not ready: {', '.join(waiting)}" if waiting else "It is not ready")


def pod_troubles(pods: Iterable[Body]) -> str:
    """What keeps pods from being ready, pod by pod; a pod that only starts is no trouble."""
    told = []
    for pod in sorted(pods, key=lambda each: str(section(each, "metadata").get("name"))):
        verdict = pod_health(pod)
        reason = "; ".join(_troubles(section(pod, "status"))) or verdict.reason
        if verdict.standing is Standing.DONE or reason == "It is starting":
            continue
        told.append(f"pod {section(pod, 'metadata').get('name')}: {reason}")
    more = f"; {counted(len(told) - _SHOWN_PODS, 'more pod')}" if len(told) > _SHOWN_PODS else ""
    return "; ".join(told[:_SHOWN_PODS]) + more


def _containers(status: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]


def _troubles(status: Mapping[str, Any]) -> Iterator[str]:
    """Containers that wait for more than their start; one that crashed says how it ended."""
    for each in _containers(status):
        waiting = section(section(each, "state"), "waiting")
        reason = str(waiting.get("reason") or "")
        if reason in _STARTING:
            continue
        parts = [f"{each.get('name')}: {reason}", _shortened(str(waiting.get("message") or ""))]
        ended = section(section(each, "lastState"), "terminated")
        if ended:
            parts.append(f"it ended with {ended.get('reason', 'Error')}, exit status {number(ended, 'exitCode')}")
        yield ": ".join(part for part in parts if part)


def _failed(body: Body) -> str:
    status = section(body, "status")
    parts = [str(status.get("reason") or ""), _shortened(str(status.get("message") or ""))]
    if not any(parts):
        ended = ((each.get("name"), section(section(each, "state"), "terminated")) for each in _containers(status))
        parts = [
            f"{name} ended with exit status {number(end, 'exitCode')}" for name, end in ended if end.get("exitCode")
        ]
    return ": ".join(part for part in parts if part) or "It has failed"


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN_CHARACTERS else line[:_SHOWN_CHARACTERS] + "…"
