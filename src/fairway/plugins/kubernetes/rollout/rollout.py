"""Waiting until what was applied is really there: by watching it, and saying what it waits for whenever that changes.

How an object is, and how long that may take, `waiting` decides; here are the watches that tell it.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Final

from fairway.kube.calls import Patience
from fairway.kube.cluster import Cluster, Scope
from fairway.kube.errors import ClusterAway, Expired, NotAllowed
from fairway.kube.kinds import Kind
from fairway.kube.manifest import Body, Key, key_of
from fairway.kube.turns import WATCH_PATIENCE, Turns
from fairway.plugins.kubernetes.health.health import Healthiness, Standing
from fairway.plugins.kubernetes.marks import APPLICATION, mark, selector
from fairway.plugins.kubernetes.parts import part
from fairway.plugins.kubernetes.rollout.pausing import is_paused_by_git, paused_words
from fairway.plugins.kubernetes.rollout.reasons import Reasons
from fairway.plugins.kubernetes.rollout.waiting import Waiting, is_waited_for
from fairway.sdk import StageFailed
from fairway.sdk.stage_log import StageLog

#: How often in a row a watch may break before the cluster counts as away.
_BREAKS: Final = 3


#: How many objects are named that keep a stage; the others are counted.
_NAMED: Final = 3


class Rollout:
    """Waits for the objects of one stage in one cluster."""

    def __init__(
        self,
        cluster: Cluster,
        log: StageLog,
        patience: Patience = WATCH_PATIENCE,
        waits_for: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._cluster = cluster
        self._log = log
        self._patience = patience
        #: Is told what keeps the stage at the moment.
        self._waits_for = waits_for
        self._waiting: dict[Key, Waiting] = {}
        self._changed = asyncio.Event()
        #: What was waited for before, and was as it should be: how it was when it was applied is no news any more.
        self._done: set[Key] = set()
        #: The uids of pods that were in the way.
        self._taken_away: set[str] = set()

    async def wait(self, objects: Sequence[Body]) -> int:
        """Return how many were waited for once all are as they should be; StageFailed when one will not be."""
        now = asyncio.get_running_loop().time
        waited_for = [each for each in objects if is_waited_for(each) and key_of(each) not in self._done]
        self._waiting = {key_of(each): Waiting(each, now()) for each in waited_for}
        for each in filter(is_paused_by_git, objects):
            self._log.info(f"{key_of(each)}: {paused_words(each)}; it is not waited for")
        if not self._waiting:
            return 0
        # What is shared is another application's.
        places = {
            (str(each["apiVersion"]), str(each["kind"]), key_of(each).namespace, mark(each, APPLICATION))
            for each in self._bodies()
        }
        watches = [self._watch(*place) for place in sorted(places)]
        watches += Reasons(self._cluster, self._log, self._waiting, self._patience).watches(self._changed.set)
        tasks = [asyncio.ensure_future(each) for each in watches]
        try:
            await self._until_done(now, tasks)
        finally:
            self._waits_for("")
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        self._done |= self._waiting.keys()
        return len(self._waiting)

    async def _until_done(self, now: Callable[[], float], tasks: Sequence[asyncio.Future[None]]) -> None:
        while True:
            # Before anything else: what others have made of an object may be well, too.
            if meddling := [each.meddling for each in self._waiting.values() if each.meddling]:
                raise StageFailed("; ".join(meddling))
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
            unfinished = {key: each for key, each in verdicts.items() if each.standing is Standing.WAITING}
            self._waits_for(in_words(unfinished))
            self._changed.clear()
            for waiting in self._waiting.values():
                await self._make_way(waiting)
            for task in tasks:
                if task.done():
                    task.result()
            left = min(self._waiting[key].left(now()) for key in unfinished)
            try:
                async with asyncio.timeout(left):
                    await self._changed.wait()
            except TimeoutError:
                continue

    async def _make_way(self, waiting: Waiting) -> None:
        """Take pods away that keep their workload from being mended, each once."""
        for pod in waiting.in_the_way():
            uid = str(part(pod, "metadata", "uid"))
            if uid in self._taken_away:
                continue
            self._taken_away.add(uid)
            key = key_of(pod)
            try:
                await self._cluster.delete(await self._cluster.kind("v1", "Pod"), key.namespace, key.name, uid=uid)
            except NotAllowed as error:
                self._log.error(f"{key} is of an earlier version, cannot start and keeps the next from coming: {error}")
            else:
                self._log.info(
                    f"{key} is of an earlier version and cannot start; it was removed to let the next one come"
                )

    def _bodies(self) -> list[Body]:
        return [each.body for each in self._waiting.values()]

    def _see(self, body: Body) -> None:
        waiting = self._waiting.get(key_of(body))
        if waiting is not None:
            waiting.see(body, asyncio.get_running_loop().time())
            self._changed.set()

    async def _lost(self, kind: Kind, keys: Iterable[Key]) -> None:
        """Objects that are not among the application's any more: StageFailed says what became of them."""
        for key in keys:
            if key not in self._waiting or self._waiting[key].has_ended:
                continue
            live = await self._cluster.get(kind, key.namespace, key.name)
            if live is None:
                await self._gone(kind, key)
            elif (owner := mark(live, APPLICATION)) != mark(self._waiting[key].body, APPLICATION):
                whose = f"application {owner}" if owner else "somebody"
                raise StageFailed(
                    f"{key} was taken over by {whose} while it was waited for; only one application can have an "
                    "object: take it out of the manifests of the other, or give it another name there"
                )

    async def _gone(self, kind: Kind, key: Key) -> None:
        """One that is not there any more: StageFailed, unless it is a Job that had come to its end before."""
        waiting = self._waiting[key]
        if (key.group, key.kind) == ("batch", "Job"):
            # The cluster removes it soon, perhaps before anybody has looked; what became of it is in its history.
            scope = Scope(namespace=key.namespace, name=key.name)
            since = str(part(waiting.body, "metadata", "resourceVersion") or "")
            try:
                async with aclosing(self._cluster.follow(kind, scope, since, dict[str, Any])) as changes:
                    async for change in changes:
                        if change.type != "BOOKMARK":
                            self._see({"apiVersion": kind.api_version, "kind": kind.kind, **change.object})
                        if change.type == "DELETED":
                            break
            except Expired as error:
                raise StageFailed(
                    f"{key} is gone, and the cluster does not remember how it ended; a longer ttlSecondsAfterFinished "
                    "leaves more time to look"
                ) from error
        if not waiting.has_ended:
            raise StageFailed(f"{key} was deleted by somebody while it was waited for")

    async def _watch(self, api_version: str, kind_name: str, namespace: str, application: str) -> None:
        """Be told of all objects of a kind that the application has in a namespace, and of every change, for ever."""
        kind = await self._cluster.kind(api_version, kind_name)
        scope = Scope(namespace=namespace, labels=selector(application))
        breaks, turns = 0, Turns(self._patience)
        try:
            while True:
                try:
                    version = await self._list(kind, scope)
                    breaks = 0
                    await self._follow(kind, scope, version)
                except Expired:
                    pass  # What it does not remember is listed again.
                except ClusterAway:
                    breaks += 1
                    if breaks >= _BREAKS:
                        raise
                await turns.over()
        finally:
            self._changed.set()

    async def _list(self, kind: Kind, scope: Scope) -> str:
        found, version = await self._cluster.items(kind, scope, dict[str, Any])
        bodies = [{"apiVersion": kind.api_version, "kind": kind.kind, **each} for each in found]
        for each in bodies:
            self._see(each)
        there = {key_of(each) for each in bodies}
        alike = [key for key in self._waiting if (key.kind, key.namespace) == (kind.kind, scope.namespace)]
        await self._lost(kind, [key for key in alike if key.group == kind.group and key not in there])
        return version

    async def _follow(self, kind: Kind, scope: Scope, version: str) -> None:
        async with aclosing(self._cluster.follow(kind, scope, version, dict[str, Any])) as changes:
            async for change in changes:
                body = {"apiVersion": kind.api_version, "kind": kind.kind, **change.object}
                if change.type == "DELETED":
                    await self._lost(kind, [key_of(body)])
                elif change.type != "BOOKMARK":
                    self._see(body)


def in_words(unfinished: Mapping[Key, Healthiness]) -> str:
    """What a stage waits for, in no more words than somebody reads beside it; the log has all of them."""
    said = [f"{key}: {each.reason}" for key, each in unfinished.items()]
    more = [f"{len(said) - _NAMED} more"] if len(said) > _NAMED else []
    return "; ".join([*said[:_NAMED], *more])
