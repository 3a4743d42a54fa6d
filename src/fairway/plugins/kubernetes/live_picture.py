"""One cluster as it is now, as far as applications of ours use it: by watching, and for all of them together.

Each kind is watched once, in the whole cluster where that is allowed and otherwise namespace by namespace, from the
moment that an application first uses it. Whoever wants to know is told which applications a change touches.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable

from fairway.config.providers import AppStateInformer
from fairway.errors import FairwayError
from fairway.kube.cluster import Cluster, Scope
from fairway.kube.errors import NotAllowed
from fairway.kube.kinds import Kind
from fairway.kube.reflector import Reflector
from fairway.plugins.kubernetes.live_objects import Seen, keeper

#: How long somebody who asks waits for the first picture of a kind.
_FIRST_SECONDS = 60.0
#: An object is not looked for among the owners of its owners for longer than this: nothing is nested so deep.
_DEEPEST = 16


class Picture:
    """What is seen of one cluster. It belongs to one event loop."""

    def __init__(self, cluster: Cluster, informer: AppStateInformer, touched: Callable[[str], None]) -> None:
        self._cluster = cluster
        self._informer = informer
        self._touched = touched
        #: Group and kind and namespace (empty: all) → who watches it. One version of each kind: all show the same.
        self._watches: dict[tuple[str, str, str], Reflector[Seen]] = {}
        self._tasks: dict[tuple[str, str, str], asyncio.Task[None]] = {}
        #: Kinds that may only be watched namespace by namespace.
        self._narrow: set[tuple[str, str]] = set()
        self._objects: dict[str, Seen] = {}
        self._children: defaultdict[str, set[str]] = defaultdict(set)
        self._roots: defaultdict[str, set[str]] = defaultdict(set)
        self._revisions: defaultdict[str, int] = defaultdict(int)

    async def close(self) -> None:
        """Watch nothing any more."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def watch(self, kinds: Iterable[Kind], namespaces: frozenset[str]) -> dict[Kind, FairwayError]:
        """Watch these kinds, in these namespaces at least, and wait for their first picture.

        The answer says of which kinds there is none, or only an old one, and why.
        """
        wanted = [kind for kind in kinds if self.is_wanted(kind)]
        try:
            async with asyncio.timeout(_FIRST_SECONDS):
                await asyncio.gather(*(self._ready(kind, namespaces) for kind in wanted))
        except TimeoutError:
            pass  # What is not there yet says so below.
        problems: dict[Kind, FairwayError] = {}
        for kind in wanted:
            for reflector in self._watching(kind, namespaces):
                if reflector.problem is not None:
                    problems[kind] = reflector.problem
        return problems

    def revision(self, application_id: str) -> int:
        """A number that grows with each change that touches an application."""
        return self._revisions[application_id]

    def roots(self, application_id: str) -> list[Seen]:
        """The objects that were deployed for an application."""
        return [self._objects[uid] for uid in self._roots.get(application_id, ())]

    def family(self, application_id: str) -> list[Seen]:
        """These, and everything that belongs to them, through any number of owners."""
        found: dict[str, Seen] = {}
        waiting = sorted(self._roots.get(application_id, ()))
        while waiting:
            uid = waiting.pop()
            if uid in found or uid not in self._objects:
                continue
            found[uid] = self._objects[uid]
            waiting.extend(self._children.get(uid, ()))
        return list(found.values())

    def is_wanted(self, kind: Kind) -> bool:
        """Whether the deploy target lets this kind be watched at all."""
        told = self._informer
        if any(_is(kind, each.api_version, each.kind) for each in told.exclude_resources):
            return False
        return kind.namespaced or not told.namespace

    async def _ready(self, kind: Kind, namespaces: frozenset[str]) -> None:
        for reflector in self._watching(kind, namespaces):
            await reflector.settled()
            if isinstance(reflector.problem, NotAllowed) and not reflector.listed and self._may_narrow(reflector):
                await self._make_narrow(kind)
                await self._ready(kind, namespaces)
                return

    def _may_narrow(self, reflector: Reflector[Seen]) -> bool:
        return reflector.kind.namespaced and not reflector.scope.namespace

    async def _make_narrow(self, kind: Kind) -> None:
        self._narrow.add((kind.group, kind.kind))
        task = self._tasks.pop((kind.group, kind.kind, ""), None)
        self._watches.pop((kind.group, kind.kind, ""), None)
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def _watching(self, kind: Kind, namespaces: frozenset[str]) -> list[Reflector[Seen]]:
        if not kind.namespaced:
            scopes: Iterable[str] = ("",)
        elif self._informer.namespace:
            scopes = (self._informer.namespace,)
        elif (kind.group, kind.kind) in self._narrow:
            scopes = sorted(namespaces)
        else:
            scopes = ("",)
        return [self._reflector(kind, scope) for scope in scopes]

    def _reflector(self, kind: Kind, namespace: str) -> Reflector[Seen]:
        key = (kind.group, kind.kind, namespace)
        if key not in self._watches:
            scope = Scope(namespace=namespace)
            self._watches[key] = Reflector(self._cluster, kind, scope, keeper(kind), self._change)
            self._tasks[key] = asyncio.create_task(self._watches[key].run())
        return self._watches[key]

    def _change(self, uid: str, before: Seen | None, now: Seen | None) -> None:
        touched = {self._application(before), self._application(now)}
        if before is not None:
            self._forget(before)
        if now is not None:
            self._objects[uid] = now
            for owner in now.owners:
                self._children[owner].add(uid)
            if now.application:
                self._roots[now.application].add(uid)
        for application in touched - {""}:
            self._revisions[application] += 1
            self._touched(application)

    def _forget(self, gone: Seen) -> None:
        self._objects.pop(gone.uid, None)
        for owner in gone.owners:
            _discard(self._children, owner, gone.uid)
        if gone.application:
            _discard(self._roots, gone.application, gone.uid)

    def _application(self, seen: Seen | None) -> str:
        """The application that an object is part of, through its owners; empty where there is none."""
        for _ in range(_DEEPEST):
            if seen is None or seen.application:
                break
            seen = next((self._objects[each] for each in seen.owners if each in self._objects), None)
        return seen.application if seen is not None else ""


def _discard(index: defaultdict[str, set[str]], key: str, uid: str) -> None:
    index[key].discard(uid)
    if not index[key]:
        del index[key]


def _is(kind: Kind, api_version: str, name: str) -> bool:
    """Whether a setting such as `excludeResources` means a kind; one without a kind means all of its version."""
    return api_version == kind.api_version and name in ("", kind.kind)
