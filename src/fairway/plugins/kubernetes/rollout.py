"""Waiting until what was applied is really there: by watching it, and saying what it waits for whenever that changes.

How an object is, and whether waiting can help, `health` says. Here is the patience: an object that gets nowhere for as
long as it allows itself is given up. Deployments say so themselves; for others, and for a controller that does not
look at all, somebody else has to.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from fairway.kube.cluster import Cluster, Scope
from fairway.kube.errors import ClusterAway, Expired, NotAllowed
from fairway.kube.kinds import Kind
from fairway.kube.manifest import Body, Key, key_of
from fairway.plugins.kubernetes.health import Healthiness, Standing, health_of
from fairway.plugins.kubernetes.marks import APPLICATION, WAIT, asks_for, mark, selector
from fairway.plugins.kubernetes.parts import part
from fairway.sdk import StageFailed
from fairway.sdk.stage_log import StageLog

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
#: Of so many workloads at once the pods are looked at.
_POD_WATCHES: Final = 12
#: How often in a row a watch may break before the cluster counts as away.
_BREAKS: Final = 3


class Waiting:
    """What is known of one object that is waited for. Pure: time is an argument."""

    def __init__(self, body: Body, now: float) -> None:
        self.body = body
        self._pods: dict[str, Body] = {}
        #: What health says of all that; None when something has changed since.
        self._health: Healthiness | None = None
        #: The verdict of a controller from before we applied, which need not hold any more.
        self._stale = None if _is_observed(body) else _progress(body)
        self._moved = _moves(body)
        self._since = now
        self._told = ""

    def see(self, body: Body, now: float) -> None:
        """The object as it is now."""
        self.body, self._health = body, None
        if _moves(body) != self._moved:
            self._moved, self._since = _moves(body), now

    def see_pod(self, pod: Body, *, gone: bool = False) -> None:
        """One of its pods as it is now."""
        self._health = None
        if gone:
            self._pods.pop(key_of(pod).name, None)
        else:
            self._pods[key_of(pod).name] = pod

    def verdict(self, now: float) -> Healthiness:
        """How it is; stuck when it has got nowhere for too long."""
        if self._health is None:
            self._health = health_of(self.body, tuple(self._pods.values()))
        found, patience = self._health, self.patience
        if found.standing is Standing.STUCK and self._stale is not None and _progress(self.body) == self._stale:
            found = msgspec.structs.replace(found, standing=Standing.WAITING)
        if found.standing is Standing.WAITING and patience is not None and now - self._since > patience:
            reason = f"nothing has changed for {patience:g} seconds: {found.reason}"
            return Healthiness(found.health, reason, Standing.STUCK)
        return found

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


def is_waited_for(body: Body) -> bool:
    """Whether a stage waits until an object is as it should be."""
    key = key_of(body)
    if asks_for(body, WAIT, "false") or part(body, "spec", "suspend"):
        return False
    return (key.group, key.kind) in _WAITED_FOR


class Rollout:
    """Waits for the objects of one stage in one cluster."""

    def __init__(self, cluster: Cluster, log: StageLog) -> None:
        self._cluster = cluster
        self._log = log
        self._waiting: dict[Key, Waiting] = {}
        self._changed = asyncio.Event()
        self._pod_watches = asyncio.Semaphore(_POD_WATCHES)

    async def wait(self, objects: Sequence[Body]) -> int:
        """Return how many were waited for once all are as they should be; StageFailed when one will not be."""
        now = asyncio.get_running_loop().time
        self._waiting = {key_of(each): Waiting(each, now()) for each in objects if is_waited_for(each)}
        if not self._waiting:
            return 0
        places = {(each["apiVersion"], each["kind"], key_of(each).namespace) for each in self._bodies()}
        application = mark(self._bodies()[0], APPLICATION)
        watches = [self._watch(version, kind, namespace, application) for version, kind, namespace in sorted(places)]
        watches += [
            self._watch_pods(each)
            for each in self._waiting.values()
            if part(each.body, "spec", "selector", "matchLabels")
        ]
        tasks = [asyncio.ensure_future(each) for each in watches]
        try:
            await self._until_done(now, tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        return len(self._waiting)

    async def _until_done(self, now: Callable[[], float], tasks: Sequence[asyncio.Future[None]]) -> None:
        while True:
            verdicts = {key: each.verdict(now()) for key, each in self._waiting.items()}
            for key, verdict in verdicts.items():
                if news := self._waiting[key].news(verdict):
                    self._log.info(f"{key}: {news}")
            stuck = {key: each for key, each in verdicts.items() if each.standing is Standing.STUCK}
            if stuck:
                raise StageFailed(
                    "; ".join(f"{key} did not become available: {each.reason}" for key, each in stuck.items())
                )
            if all(each.standing is Standing.DONE for each in verdicts.values()):
                return
            self._changed.clear()
            for task in tasks:
                if task.done():
                    task.result()
            unfinished = [key for key, each in verdicts.items() if each.standing is Standing.WAITING]
            left = min(self._waiting[key].left(now()) for key in unfinished)
            try:
                async with asyncio.timeout(left):
                    await self._changed.wait()
            except TimeoutError:
                continue

    def _bodies(self) -> list[Body]:
        return [each.body for each in self._waiting.values()]

    def _see(self, body: Body) -> None:
        waiting = self._waiting.get(key_of(body))
        if waiting is not None:
            waiting.see(body, asyncio.get_running_loop().time())
            self._changed.set()

    def _gone(self, body: Body) -> None:
        key = key_of(body)
        if key in self._waiting:
            raise StageFailed(f"{key} was deleted by somebody while it was waited for")

    async def _watch(self, api_version: str, kind_name: str, namespace: str, application: str) -> None:
        kind = await self._cluster.kind(api_version, kind_name)
        scope = Scope(namespace=namespace, labels=selector(application))
        try:
            await self._follow(kind, scope, self._see, self._gone)
        finally:
            self._changed.set()

    async def _watch_pods(self, waiting: Waiting) -> None:
        """Why pods are not ready; without permission to look at them, that is not told."""
        labels: Mapping[str, str] = part(waiting.body, "spec", "selector", "matchLabels")

        def see(pod: Body) -> None:
            waiting.see_pod(pod)
            self._changed.set()

        def forget(pod: Body) -> None:
            waiting.see_pod(pod, gone=True)
            self._changed.set()

        async with self._pod_watches:
            kind = await self._cluster.kind("v1", "Pod")
            scope = Scope(namespace=key_of(waiting.body).namespace, labels=labels)
            try:
                await self._follow(kind, scope, see, forget)
            except NotAllowed as error:
                self._log.info(f"Why pods are not ready cannot be told: {error}")
            finally:
                self._changed.set()

    async def _follow(
        self, kind: Kind, scope: Scope, see: Callable[[Body], None], gone: Callable[[Body], None]
    ) -> None:
        """Tell of all there is and of every change, for ever."""
        breaks = 0
        while True:
            try:
                found, version = await self._cluster.items(kind, scope, dict[str, Any])
                for each in found:
                    see({"apiVersion": kind.api_version, "kind": kind.kind, **each})
                breaks = 0
                await self._follow_from(kind, scope, version, see, gone)
            except Expired:
                continue
            except ClusterAway:
                breaks += 1
                if breaks >= _BREAKS:
                    raise

    async def _follow_from(
        self, kind: Kind, scope: Scope, version: str, see: Callable[[Body], None], gone: Callable[[Body], None]
    ) -> None:
        async for event in self._cluster.follow(kind, scope, version, dict[str, Any]):
            body = {"apiVersion": kind.api_version, "kind": kind.kind, **event.object}
            if event.type == "DELETED":
                gone(body)
            elif event.type != "BOOKMARK":
                see(body)


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
    counts = ("observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "numberReady")
    more = ("updatedNumberScheduled", "numberAvailable", "currentNumberScheduled", "phase", "currentRevision")
    return tuple(status.get(name) for name in (*counts, *more))
