"""How workloads are: whether the newest form of each is what runs, as far as it wants to, and nothing else does."""

from collections.abc import Callable, Sequence

from fairway.kube.manifest import Body
from fairway.plugins.kubernetes.health.pods import pod_troubles
from fairway.plugins.kubernetes.health.verdict import (
    Healthiness,
    conditions,
    counted,
    healthy,
    is_true,
    not_observed,
    number,
    on_its_way,
    said,
    section,
    stuck,
)
from fairway.plugins.kubernetes.rollout.pausing import is_paused_by_git, paused_words

_UNSEEN = "Its newest form has not been seen by its controller yet"
#: A controller writes this when `progressDeadlineSeconds` have gone by.
_TOO_LATE = "ProgressDeadlineExceeded"

WorkloadHealth = Callable[[Body, Sequence[Body]], Healthiness]


def deployment_health(body: Body, pods: Sequence[Body] = ()) -> Healthiness:
    """Everything updated, nothing old left, all of it available."""
    spec, status = section(body, "spec"), section(body, "status")
    if spec.get("paused"):
        return (stuck if is_paused_by_git(body) else on_its_way)(paused_words(body))
    if not_observed(body):
        return on_its_way(_UNSEEN)
    wanted = number(spec, "replicas", 1)
    reason = _behind(
        wanted=wanted,
        updated=number(status, "updatedReplicas"),
        total=number(status, "replicas"),
        available=number(status, "availableReplicas"),
    )
    failure = conditions(body).get("ReplicaFailure")
    if reason and is_true(failure) and failure is not None:
        reason = f"{reason}; {said(failure)}"
    progress = conditions(body).get("Progressing")
    if progress is not None and progress.get("reason") == _TOO_LATE:
        limit = number(spec, "progressDeadlineSeconds", 600)
        return stuck(_with_pods(f"It made no progress for {limit} seconds: {reason or said(progress)}", pods))
    return on_its_way(_with_pods(reason, pods)) if reason else healthy(_all_available(wanted))


def stateful_set_health(body: Body, pods: Sequence[Body] = ()) -> Healthiness:
    """Ready, and updated down to its partition; one that is updated by hand is not waited for."""
    spec, status = section(body, "spec"), section(body, "status")
    if not_observed(body):
        return on_its_way(_UNSEEN)
    wanted = number(spec, "replicas", 1)
    ready = number(status, "readyReplicas")
    strategy = section(spec, "updateStrategy")
    reason = ""
    if strategy.get("type") != "OnDelete":
        to_update = max(0, wanted - number(section(strategy, "rollingUpdate"), "partition"))
        updated = number(status, "updatedReplicas")
        # Without an update under way the current revision is the newest, and the count of updated ones may lag.
        if status.get("updateRevision") != status.get("currentRevision") and updated < to_update:
            reason = f"{updated} of {to_update} replicas are updated"
    if not reason and ready != wanted:
        reason = f"{ready} of {wanted} replicas are ready"
    return on_its_way(_with_pods(reason, pods)) if reason else healthy(f"{ready} of {wanted} replicas are ready")


def daemon_set_health(body: Body, pods: Sequence[Body] = ()) -> Healthiness:
    """On every node where it belongs, updated and available."""
    status = section(body, "status")
    if not_observed(body):
        return on_its_way(_UNSEEN)
    wanted = number(status, "desiredNumberScheduled")
    updated, available = number(status, "updatedNumberScheduled"), number(status, "numberAvailable")
    by_hand = section(section(body, "spec"), "updateStrategy").get("type") == "OnDelete"
    if not by_hand and updated < wanted:
        return on_its_way(_with_pods(f"{updated} of {wanted} nodes have the newest form", pods))
    if available < wanted:
        return on_its_way(_with_pods(f"It is available on {available} of {wanted} nodes", pods))
    if wrong := number(status, "numberMisscheduled"):
        return on_its_way(f"It runs on {counted(wrong, 'node')} where it should not")
    return healthy(f"It is available on {available} of {wanted} nodes")


def replica_set_health(body: Body, pods: Sequence[Body] = ()) -> Healthiness:
    """As many as wanted, all available; an old one has none and is well."""
    status = section(body, "status")
    if not_observed(body):
        return on_its_way(_UNSEEN)
    failure = conditions(body).get("ReplicaFailure")
    if failure is not None and is_true(failure):
        return on_its_way(said(failure))
    wanted, available = number(section(body, "spec"), "replicas", 1), number(status, "availableReplicas")
    if available < wanted:
        return on_its_way(_with_pods(_available(available, wanted), pods))
    if (total := number(status, "replicas")) > wanted:
        return on_its_way(_still_to_go(total - wanted, "replica"))
    return healthy(_all_available(wanted))


def job_health(body: Body, pods: Sequence[Body] = ()) -> Healthiness:
    """Done, failed, or at work, which is nothing to worry about though somebody may wait for its end."""
    found, status = conditions(body), section(body, "status")
    for name in ("Failed", "FailureTarget"):
        if is_true(found.get(name)):
            return stuck(_with_pods(f"It has failed: {said(found[name])}", pods))
    if is_true(found.get("Complete")):
        return healthy("It is complete")
    if section(body, "spec").get("suspend"):
        return healthy("It is suspended")
    wanted = number(section(body, "spec"), "completions", 1)
    at_work = counted(number(status, "active"), "pod")
    counts = f"{number(status, 'succeeded')} of {wanted} completions, {at_work} at work"
    verdict = on_its_way(_with_pods(counts, pods))
    return verdict if pod_troubles(pods) else Healthiness(healthy().health, counts, verdict.standing)


def _behind(*, wanted: int, updated: int, total: int, available: int) -> str:
    """What a Deployment still lacks; empty when nothing."""
    if updated < wanted:
        return f"{updated} of {wanted} replicas are updated, {available} available"
    if total > updated:
        return _still_to_go(total - updated, "old replica")
    return _available(available, wanted) if available < wanted else ""


def _still_to_go(count: int, what: str) -> str:
    return f"{counted(count, what)} {'is' if count == 1 else 'are'} still to go"


def _available(available: int, wanted: int) -> str:
    return f"{available} of {wanted} replicas are available"


def _all_available(wanted: int) -> str:
    return _available(wanted, wanted) if wanted else "It is scaled to zero"


def _with_pods(reason: str, pods: Sequence[Body]) -> str:
    troubles = pod_troubles(pods)
    return f"{reason}; {troubles}" if troubles else reason
