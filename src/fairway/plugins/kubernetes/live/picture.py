"""One cluster as it is now, as far as applications of ours use it: by watching, and for all of them together.

Each kind is watched once, in the whole cluster where that is allowed and otherwise namespace by namespace, from the
moment that an application first uses it until none does. Whoever wants to know is told which applications a change
touches; that a kind cannot be watched, and that it can be again, is a change for all who use it.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import NamedTuple

from fairway.config.providers import AppStateInformer
from fairway.errors import FairwayError
from fairway.kube.calls import Patience
from fairway.kube.cluster import Cluster, Scope
from fairway.kube.errors import ClusterAway, NotAllowed, NotThere
from fairway.kube.kinds import Kind
from fairway.kube.reflector import Owner, Reflector
from fairway.kube.turns import WATCH_PATIENCE
from fairway.plugins.kubernetes.live.families import Families
from fairway.plugins.kubernetes.live.objects import Seen, keeper

#: How long somebody who asks waits for the first picture of a kind.
_FIRST_SECONDS = 60.0


class User(NamedTuple):
    """Who uses a picture: an application, at one deploy target of one plugin."""

    plugin: str
    application_id: str
    target: str


class _Place(NamedTuple):
    """What is watched. One version of each kind: all show the same."""

    group: str
    kind: str
    #: Empty: all of them.
    namespace: str


class _Watch(NamedTuple):
    reflector: Reflector[Seen]
    task: asyncio.Task[None]


class Picture:
    """What is seen of one cluster. It belongs to one event loop."""

    def __init__(
        self,
        cluster: Cluster,
        informer: AppStateInformer,
        touched: Callable[[str], None],
        patience: Patience = WATCH_PATIENCE,
    ) -> None:
        self.cluster = cluster
        self.families = Families()
        self._informer = informer
        self._touched = touched
        self._patience = patience
        self._watches: dict[_Place, _Watch] = {}
        #: Kinds that may only be watched namespace by namespace.
        self._narrow: set[tuple[str, str]] = set()
        self._uses: dict[User, set[_Place]] = {}
        self._ending: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        """Watch nothing any more."""
        self._uses.clear()
        self._end_unused()
        await asyncio.gather(*self._ending, return_exceptions=True)

    async def watch(self, user: User, kinds: Iterable[Kind], namespaces: frozenset[str]) -> dict[Kind, FairwayError]:
        """Watch these kinds, in these namespaces at least, and wait for their first picture.

        The answer says of which kinds there is none, or only an old one, and why. What the user does not use any more,
        and nobody else does, is not watched any more.
        """
        wanted = [kind for kind in kinds if self.is_wanted(kind)]
        try:
            async with asyncio.timeout(_FIRST_SECONDS):
                await asyncio.gather(*(self._ready(user, kind, namespaces) for kind in wanted))
        except TimeoutError:
            pass  # What is not there yet says so below.
        problems: dict[Kind, FairwayError] = {}
        places: set[_Place] = set()
        for kind in wanted:
            for place in self._places(kind, namespaces):
                places.add(place)
                reflector = self._reflector(user, kind, place)
                if reflector.problem is not None:
                    problems[kind] = reflector.problem
                elif not reflector.is_settled:
                    words = f"The cluster {self.cluster.name} is still being asked for {kind.resource}"
                    problems[kind] = ClusterAway(words)
        if self._uses.get(user, places) > places:
            self._uses[user] = places
            self._end_unused()
        return problems

    def leave(self, user: User) -> None:
        """The user is gone."""
        if self._uses.pop(user, None):
            self._end_unused()

    def is_wanted(self, kind: Kind) -> bool:
        """Whether the deploy target lets this kind be watched at all."""
        told = self._informer
        if any(_is(kind, each.api_version, each.kind) for each in told.exclude_resources):
            return False
        return kind.namespaced or not told.namespace

    async def _ready(self, user: User, kind: Kind, namespaces: frozenset[str]) -> None:
        for place in self._places(kind, namespaces):
            reflector = self._reflector(user, kind, place)
            await reflector.settled()
            if isinstance(reflector.problem, NotAllowed) and not reflector.listed and _may_narrow(reflector):
                self._narrow.add((kind.group, kind.kind))
                self._end([place])
                await self._ready(user, kind, namespaces)
                return

    def _places(self, kind: Kind, namespaces: frozenset[str]) -> list[_Place]:
        scopes: Iterable[str] = ("",)
        if kind.namespaced and self._informer.namespace:
            scopes = (self._informer.namespace,)
        elif kind.namespaced and (kind.group, kind.kind) in self._narrow:
            scopes = sorted(namespaces)
        return [_Place(kind.group, kind.kind, each) for each in scopes]

    def _reflector(self, user: User, kind: Kind, place: _Place) -> Reflector[Seen]:
        self._uses.setdefault(user, set()).add(place)
        watch = self._watches.get(place)
        if watch is not None and watch.reflector.kind != kind and isinstance(watch.reflector.problem, NotThere):
            # It was watched in a version that the cluster does not serve any more.
            self._end([place])
            watch = None
        if watch is None:
            owner = Owner(keeper(kind), self._change, self._note)
            reflector = Reflector(self.cluster, kind, Scope(namespace=place.namespace), owner, self._patience)
            task = asyncio.create_task(reflector.run(), name=f"watch {kind.kind}")
            watch = self._watches[place] = _Watch(reflector, task)
        return watch.reflector

    def _end_unused(self) -> None:
        self._end(self._watches.keys() - set[_Place]().union(*self._uses.values()))

    def _end(self, places: Iterable[_Place]) -> None:
        for watch in [self._watches.pop(place) for place in places if place in self._watches]:
            watch.task.cancel()
            self._ending.add(watch.task)
            watch.task.add_done_callback(self._ending.discard)
            for seen in watch.reflector.values():
                self.families.change(seen.uid, seen, None)

    def _change(self, uid: str, before: Seen | None, now: Seen | None) -> None:
        for application in self.families.change(uid, before, now):
            self._touched(application)

    def _note(self, reflector: Reflector[Seen]) -> None:
        """A kind cannot be watched, for another reason than before, or can be again."""
        kind = reflector.kind
        place = _Place(kind.group, kind.kind, reflector.scope.namespace)
        for user, places in self._uses.items():
            if place in places:
                self._touched(user.application_id)
        if reflector.problem is None:
            # Others need not wait until it is their turn to find out that the cluster is back.
            for watch in self._watches.values():
                watch.reflector.hurry()


def _may_narrow(reflector: Reflector[Seen]) -> bool:
    return reflector.kind.namespaced and not reflector.scope.namespace


def _is(kind: Kind, api_version: str, name: str) -> bool:
    """Whether a setting such as `excludeResources` means a kind; one without a kind means all of its version."""
    return api_version == kind.api_version and name in ("", kind.kind)
