"""How an object in a cluster is, by its own status: healthy, on its way, or stuck, and why, in words.

Pure: an object in, a verdict out. `rollout` waits by it and the live state shows it. A kind that says nothing of its
health is well when it is there; custom resources are read by the conditions and phases that most of them share.
"""

from collections.abc import Callable, Mapping, Sequence

from fairway.kube.manifest import Body, key_of
from fairway.model.live_state import Health
from fairway.plugins.kubernetes.health.pods import pod_health
from fairway.plugins.kubernetes.health.verdict import (
    Healthiness,
    Standing,
    conditions,
    counted,
    healthy,
    is_false,
    is_true,
    not_observed,
    on_its_way,
    said,
    section,
    stuck,
)
from fairway.plugins.kubernetes.health.workloads import (
    WorkloadHealth,
    daemon_set_health,
    deployment_health,
    job_health,
    replica_set_health,
    stateful_set_health,
)

__all__ = ["Healthiness", "Standing", "health_of"]


def health_of(body: Body, pods: Sequence[Body] = ()) -> Healthiness:
    """How an object is; with its pods, what keeps them from being ready is part of the reason."""
    if section(body, "metadata").get("deletionTimestamp"):
        waiting = section(body, "metadata").get("finalizers") or ()
        reason = f"; it waits for {', '.join(map(str, waiting))}" if waiting else ""
        return on_its_way(f"It is being removed{reason}")
    key = key_of(body)
    which = (_OLD_GROUPS.get(key.group, key.group), key.kind)
    if workload := _WORKLOADS.get(which):
        return workload(body, pods)
    return _OTHERS.get(which, _by_its_own_words)(body)


def _service(body: Body) -> Healthiness:
    if section(body, "spec").get("type") != "LoadBalancer":
        return healthy()
    return _with_address(body)


def _with_address(body: Body) -> Healthiness:
    given = section(section(body, "status"), "loadBalancer").get("ingress") or ()
    addresses = [str(each.get("ip") or each.get("hostname")) for each in given if isinstance(each, Mapping)]
    return healthy(f"Reached at {', '.join(addresses)}") if addresses else on_its_way("It has no address yet")


def _volume_claim(body: Body) -> Healthiness:
    phase = section(body, "status").get("phase", "Pending")
    if phase == "Bound":
        return healthy()
    return stuck("The volume that it had is lost") if phase == "Lost" else on_its_way("No volume is bound to it yet")


def _volume(body: Body) -> Healthiness:
    status = section(body, "status")
    phase = str(status.get("phase", "Pending"))
    if phase in {"Bound", "Available"}:
        return healthy()
    words = f"It is {phase}" + (f": {status['message']}" if status.get("message") else "")
    return stuck(words) if phase == "Failed" else on_its_way(words)


def _autoscaler(body: Body) -> Healthiness:
    found = conditions(body)
    for name in ("AbleToScale", "ScalingActive"):
        condition = found.get(name)
        # What is scaled to zero is not scaled by it, which is how one turns it off.
        if condition is not None and is_false(condition) and condition.get("reason") != "ScalingDisabled":
            return on_its_way(said(condition))
    return healthy()


def _namespace(body: Body) -> Healthiness:
    phase = section(body, "status").get("phase", "Active")
    return healthy() if phase == "Active" else on_its_way(f"It is {phase}")


def _definition(body: Body) -> Healthiness:
    found = conditions(body)
    if is_false(found.get("NamesAccepted")):
        return stuck(said(found["NamesAccepted"]))
    if is_true(found.get("Established")):
        return healthy()
    return on_its_way("The cluster does not serve it yet")


def _api_service(body: Body) -> Healthiness:
    available = conditions(body).get("Available")
    if is_true(available):
        return healthy()
    return on_its_way(said(available) if available else "Nobody knows yet whether it answers")


def _cron_job(body: Body) -> Healthiness:
    if section(body, "spec").get("suspend"):
        return healthy("It is suspended")
    active = section(body, "status").get("active") or ()
    return healthy(f"{counted(len(active), 'job')} at work" if active else "")


def _without_status(_: Body) -> Healthiness:
    return healthy()


#: Conditions of custom resources: bad when they hold, and good when they do, the most telling first.
_BAD = ("Stalled", "Failed", "Degraded")
_GOOD = ("Ready", "Healthy", "Available", "Established", "Succeeded", "Complete", "Completed", "Programmed", "Accepted")
_GOOD_PHASES = frozenset(
    {"active", "available", "bound", "complete", "completed", "deployed", "healthy", "ready", "running", "succeeded"}
)
_BAD_PHASES = frozenset({"degraded", "error", "errored", "failed", "failure", "lost"})


def _by_its_own_words(body: Body) -> Healthiness:
    """A kind that nobody here knows: by its phase, which says it best where there is one, or its conditions."""
    status = section(body, "status")
    if "observedGeneration" in status and not_observed(body):
        return on_its_way("Its newest form has not been seen by its controller yet")
    phase = status.get("phase")
    if isinstance(phase, str) and phase:
        message = f"{phase}: {status['message']}" if isinstance(status.get("message"), str) else phase
        if phase.lower() in _GOOD_PHASES:
            return healthy()
        return stuck(message) if phase.lower() in _BAD_PHASES else on_its_way(message)
    found = conditions(body)
    for name in _BAD:
        if is_true(found.get(name)):
            return stuck(said(found[name]))
    for name in _GOOD:
        if name in found:
            return healthy() if is_true(found[name]) else on_its_way(said(found[name]))
    return Healthiness(Health.UNKNOWN, "Its conditions are not understood") if found else healthy()


#: Groups that have moved.
_OLD_GROUPS = {"extensions": "apps"}
_WORKLOADS: Mapping[tuple[str, str], WorkloadHealth] = {
    ("apps", "Deployment"): deployment_health,
    ("apps", "StatefulSet"): stateful_set_health,
    ("apps", "DaemonSet"): daemon_set_health,
    ("apps", "ReplicaSet"): replica_set_health,
    ("", "ReplicationController"): replica_set_health,
    ("batch", "Job"): job_health,
}
_OTHERS: Mapping[tuple[str, str], Callable[[Body], Healthiness]] = {
    ("", "Pod"): pod_health,
    ("", "Service"): _service,
    ("", "PersistentVolumeClaim"): _volume_claim,
    ("", "PersistentVolume"): _volume,
    ("", "Namespace"): _namespace,
    ("apps", "Ingress"): _with_address,
    ("networking.k8s.io", "Ingress"): _with_address,
    ("autoscaling", "HorizontalPodAutoscaler"): _autoscaler,
    ("batch", "CronJob"): _cron_job,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _definition,
    ("apiregistration.k8s.io", "APIService"): _api_service,
    # Their conditions tell of something else than their health.
    ("policy", "PodDisruptionBudget"): _without_status,
    ("", "ResourceQuota"): _without_status,
    ("networking.k8s.io", "NetworkPolicy"): _without_status,
}
