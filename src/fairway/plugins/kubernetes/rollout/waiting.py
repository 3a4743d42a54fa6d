"""How long an object is waited for, and what is said meanwhile. Pure: time is an argument.

How an object is, and whether waiting can help, `health` says. Here is the patience: an object that gets nowhere for as
long as it allows itself is given up. Deployments say so themselves; for others, and for a controller that does not
look at all, somebody else has to.
"""

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from fairway.kube.cluster import FIELD_MANAGER as OURS
from fairway.kube.manifest import Body, key_of
from fairway.plugins.kubernetes.health.health import Healthiness, Standing, health_of
from fairway.plugins.kubernetes.marks import WAIT, asks_for
from fairway.plugins.kubernetes.parts import part, with_part, without
from fairway.plugins.kubernetes.rollout.meddling import Applied
from fairway.plugins.kubernetes.rollout.pausing import is_paused_by_git

#: Kinds that are waited for.
_WAITED_FOR: Final = frozenset(
    {
        ("apps", "Deployment"),
        ("apps", "StatefulSet"),
        ("apps", "DaemonSet"),
        ("apps", "ReplicaSet"),
        ("batch", "Job"),
        ("", "Pod"),
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
    }
)
_DEFAULT_PATIENCE: Final = 600.0
#: What a controller may be late with noticing by itself that a Deployment's time is over.
_SPARE_SECONDS: Final = 60.0
_REVISION: Final = "controller-revision-hash"
#: How much of a time is its date and time up to the second.
_SECOND: Final = len("2026-01-01T00:00:00")
#: How many pods there are, in which respect.
_COUNTS: Final = (
    *("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"),
    *("currentNumberScheduled", "updatedNumberScheduled", "numberReady", "numberAvailable"),
)
_COUNTS_OF_JOBS: Final = ("active", "succeeded")
#: With these reasons a container waits for something that will not come.
_HOPELESS: Final = frozenset({"InvalidImageName", "ErrImageNeverPull"})


class Waiting:
    """What is known of one object that is waited for."""

    def __init__(self, body: Body, now: float) -> None:
        self.body = body
        #: What somebody has made of it since it was applied, in words.
        self.meddling = ""
        self._applied = Applied(body)
        self._pods: dict[str, Body] = {}
        #: What health says of all that; None when something has changed since.
        self._health: Healthiness | None = None
        #: The verdict of a controller from before we looked. It need not hold any more, although nothing in the object
        #: has changed: somebody has made room elsewhere, and tries again.
        self._stale = _progress(body)
        self._moved = _moves(body)
        self._since = now
        self._warning = ""
        self._told = ""

    def see(self, body: Body, now: float) -> None:
        """The object as it is now."""
        if _has_more(self.body, body):
            # What kept it from getting anywhere does not any more, or is said again.
            self._warning = ""
        self.body, self._health = body, None
        self.meddling = self._applied.meddled_with(body)
        if _moves(body) != self._moved:
            self._moved, self._since = _moves(body), now

    def see_pod(self, pod: Body) -> None:
        """One of its pods as it is now."""
        self._pods[key_of(pod).name], self._health = pod, None

    def forget_pod(self, pod: Body) -> None:
        """One that is gone, or of which there is nothing to tell."""
        self._pods.pop(key_of(pod).name, None)
        self._health = None

    def see_warning(self, event: Body) -> None:
        """What its controller warns of; what it did before the object was last applied is no matter now."""
        applied = [each for each in part(self.body, "metadata", "managedFields") or () if each.get("manager") == OURS]
        since = max((str(each.get("time") or "") for each in applied), default="")
        if _happened(event)[:_SECOND] >= since[:_SECOND]:
            self._warning = ": ".join(str(event[name]) for name in ("reason", "message") if event.get(name))

    def verdict(self, now: float) -> Healthiness:
        """How it is; stuck when it has got nowhere for too long."""
        if self._health is None:
            self._health = health_of(self._seen(), tuple(self._pods.values()))
        found, patience = self._health, self.patience
        if found.standing is Standing.WAITING and (why := hopeless(self.body, self._pods.values())):
            return Healthiness(found.health, why, Standing.STUCK)
        if found.standing is Standing.WAITING and self._warning:
            found = msgspec.structs.replace(found, reason=f"{found.reason}; {self._warning}")
        if found.standing is Standing.WAITING and patience is not None and now - self._since > patience:
            reason = f"nothing has changed for {patience:g} seconds: {found.reason}"
            return Healthiness(found.health, reason, Standing.STUCK)
        return found

    def _seen(self) -> Body:
        """The object, without what does not count."""
        if self.has_ended:
            return without(self.body, ("metadata", "deletionTimestamp"))
        if self._stale is None or _progress(self.body) != self._stale:
            return self.body
        conditions = [each for each in self.body["status"]["conditions"] if each != self._stale]
        return with_part(self.body, ("status", "conditions"), conditions)

    @property
    def has_ended(self) -> bool:
        """Whether it is a Job that has come to its end: the cluster may remove it then, and how it ended holds."""
        ended = (each for each in part(self.body, "status", "conditions") or () if each.get("status") == "True")
        return self.body["kind"] == "Job" and any(each.get("type") in ("Complete", "Failed") for each in ended)

    def in_the_way(self) -> list[Body]:
        """Pods that keep a StatefulSet from being mended: of an earlier form, and unable to start.

        Its controller changes one pod after another and waits until each is ready, also for one that never will be;
        somebody has to take that one away.
        """
        spec, status = part(self.body, "spec") or {}, part(self.body, "status") or {}
        if self.body["kind"] != "StatefulSet" or not _is_observed(self.body) or not status.get("updateRevision"):
            return []
        if part(spec, "updateStrategy", "type") == "OnDelete":
            return []
        first = part(spec, "updateStrategy", "rollingUpdate", "partition") or 0
        return [
            pod
            for pod in self._pods.values()
            if part(pod, "metadata", "labels", _REVISION) not in (None, status["updateRevision"])
            and _ordinal(pod) >= first
            and not part(pod, "metadata", "deletionTimestamp")
            and _cannot_start(pod)
        ]

    @property
    def patience(self) -> float | None:
        """How long it may get nowhere; None where it may take as long as it takes."""
        if self.body["kind"] == "Job":
            return None
        allowed = part(self.body, "spec", "progressDeadlineSeconds")
        return (float(allowed) if isinstance(allowed, int) else _DEFAULT_PATIENCE) + _SPARE_SECONDS

    def left(self, now: float) -> float:
        """After how long somebody has to look again although nothing happened."""
        return _DEFAULT_PATIENCE if self.patience is None else max(0.0, self._since + self.patience - now) + 0.1

    def news(self, verdict: Healthiness) -> str:
        """What there is to say that was not said yet."""
        said = verdict.reason
        if said == self._told:
            return ""
        self._told = said
        return said


def hopeless(body: Body, pods: Iterable[Body]) -> str:
    """Why no pod of this form can ever run: the name of an image that none can have; empty where that is not so."""
    containers = part(body, "spec", "template", "spec", "containers") or ()
    wanted = {each.get("name"): each.get("image") for each in containers}
    for pod in pods:
        for status in part(pod, "status", "containerStatuses") or ():
            waiting = part(status, "state", "waiting") or {}
            # A pod that is left of an earlier form says nothing of this one.
            images = {each.get("name"): each.get("image") for each in part(pod, "spec", "containers") or ()}
            name = status.get("name")
            if waiting.get("reason") in _HOPELESS and name in wanted and images.get(name) == wanted[name]:
                said = ": ".join(str(each) for each in (waiting["reason"], waiting.get("message")) if each)
                return f"pod {key_of(pod).name}: {name}: {said}"
    return ""


def is_waited_for(body: Body) -> bool:
    """Whether a stage waits until an object is as it should be."""
    key = key_of(body)
    if asks_for(body, WAIT, "false") or part(body, "spec", "suspend") or is_paused_by_git(body):
        return False
    return (key.group, key.kind) in _WAITED_FOR


def _happened(event: Body) -> str:
    """When an event was last seen, as the cluster writes it."""
    series = part(event, "series", "lastObservedTime")
    return str(series or event.get("lastTimestamp") or event.get("eventTime") or "")


def _ordinal(pod: Body) -> int:
    _, _, number = key_of(pod).name.rpartition("-")
    return int(number) if number.isdecimal() else 0


def _cannot_start(pod: Body) -> bool:
    statuses = [
        *(part(pod, "status", "initContainerStatuses") or ()),
        *(part(pod, "status", "containerStatuses") or ()),
    ]
    reasons = (str(part(each, "state", "waiting", "reason") or "") for each in statuses)
    return any(each.startswith("Err") or each.endswith(("Error", "BackOff")) or each in _HOPELESS for each in reasons)


def _progress(body: Body) -> Any:
    """What a Deployment's controller said last about its progress, where it gave up."""
    for each in part(body, "status", "conditions") or ():
        if each.get("type") == "Progressing" and each.get("reason") == "ProgressDeadlineExceeded":
            return each
    return None


def _is_observed(body: Body) -> bool:
    return bool(part(body, "status", "observedGeneration") == part(body, "metadata", "generation"))


def _moves(body: Body) -> tuple[Any, ...]:
    """What changes when an object gets somewhere."""
    status = part(body, "status") or {}
    return tuple(status.get(name) for name in ("observedGeneration", *_COUNTS, "phase", "currentRevision"))


def _has_more(before: Body, now: Body) -> bool:
    """Whether there are more pods than before, in whatever respect. A controller that can make none says so at first by
    an event, and writes down only then that there are none, or fewer."""
    counts = [part(each, "status") or {} for each in (before, now)]
    return any((counts[1].get(name) or 0) > (counts[0].get(name) or 0) for name in (*_COUNTS, *_COUNTS_OF_JOBS))
