"""A picture of all objects of one kind that is kept up to date: listed once, then watched.

The picture holds what its owner makes of each object, not the object itself, so that ten thousand of them cost little.
When the cluster goes away the picture stays as it was and the watch goes on from there once the cluster is back; when
the cluster does not remember so long, or is another one by now, everything is listed again and only what differs counts
as changed.
"""

import asyncio
import sys
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

import msgspec
import structlog

from fairway.errors import FairwayError
from fairway.kube.calls import Patience, decoded
from fairway.kube.cluster import Cluster, Scope
from fairway.kube.errors import ClusterAway, Expired, NotThere
from fairway.kube.kinds import Kind
from fairway.kube.turns import SHORT_SECONDS, WATCH_PATIENCE

T = TypeVar("T")

_log = structlog.get_logger()


class _Identity(msgspec.Struct, frozen=True, rename="camel"):
    uid: str = ""
    resource_version: str = ""


class _Identified(msgspec.Struct, frozen=True):
    metadata: _Identity = _Identity()


class Held(msgspec.Struct, Generic[T], frozen=True, gc=False):
    """What is held of one object."""

    resource_version: str
    value: T


#: What is made of an object, as it came; None: nothing of it is of interest.
Keep = Callable[[bytes], T | None]
#: What is told of a change: the object's uid, what was held before and what is held now.
Changed = Callable[[str, T | None, T | None], None]


class Owner(msgspec.Struct, Generic[T], frozen=True):
    """Who wants a picture."""

    keep: Keep[T]
    changed: Changed[T]
    #: Told when there is another `problem`, or none any more.
    noted: Callable[["Reflector[T]"], None] = lambda _: None


class Reflector(Generic[T]):
    """The objects of one kind in one cluster or one of its namespaces. It belongs to one event loop."""

    def __init__(
        self, cluster: Cluster, kind: Kind, scope: Scope, owner: Owner[T], patience: Patience = WATCH_PATIENCE
    ) -> None:
        self.kind = kind
        self.scope = scope
        self._cluster = cluster
        self._owner = owner
        self._patience = patience
        self._held: dict[str, Held[T]] = {}
        self._since = ""
        #: Where that was.
        self._server = ""
        self._hurried = asyncio.Event()
        #: Those who hurry each other must come to rest where the cluster is not back after all.
        self._may_hurry = True
        #: In a row.
        self._failures = 0
        #: How often in a row the cluster did not remember what it had listed.
        self._forgotten = 0
        self._settled = asyncio.Event()
        #: Why the picture is not there, or may be old; None when it is as it should be.
        self.problem: FairwayError | None = None

    @property
    def listed(self) -> bool:
        """Whether there is a picture."""
        return bool(self._since)

    def values(self) -> Iterator[T]:
        """What is held of each object."""
        return (each.value for each in self._held.values())

    def __len__(self) -> int:
        return len(self._held)

    @property
    def is_settled(self) -> bool:
        """Whether there has been a picture, or a reason why there is none."""
        return self._settled.is_set()

    async def settled(self) -> None:
        """Wait until there is a picture, or a reason why there is none."""
        await self._settled.wait()

    def hurry(self) -> None:
        """The cluster is back, as somebody has seen: what is to be tried again later is tried at once, if only once."""
        if self._may_hurry:
            self._hurried.set()

    async def run(self) -> None:
        """Keep it up to date until cancelled."""
        while True:
            try:
                if not self._since:
                    await self._list()
                await self._watch()
            except Expired:
                self._since = ""
                # Mostly a long time has gone by. One that forgets what it has just said is not asked without a pause.
                if self._forgotten:
                    await self._pause(self._forgotten)
                self._forgotten += 1
            except FairwayError as error:
                self._failures += 1
                self._failed(error)
                await self._pause(self._failures)

    async def _pause(self, failures: int) -> None:
        self._hurried.clear()
        pause = asyncio.ensure_future(self._patience.sleep(self._patience.delay(failures)))
        waits: list[asyncio.Future[Any]] = [pause, asyncio.ensure_future(self._hurried.wait())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            self._may_hurry &= not self._hurried.is_set()
        finally:
            for each in waits:
                each.cancel()

    async def _list(self) -> None:
        seen: dict[str, Held[T]] = {}
        since, server = "", self._cluster.server
        async for page in self._cluster.pages(self.kind, self.scope, msgspec.Raw):
            since = page.metadata.resource_version or since
            for raw in page.items or ():
                self._take(bytes(raw), seen)
            # One page is some megabytes: the others get their turn in between.
            await asyncio.sleep(0)
        for uid, gone in [each for each in self._held.items() if each[0] not in seen]:
            del self._held[uid]
            self._owner.changed(uid, gone.value, None)
        for uid, now in seen.items():
            self._put(uid, now)
        self._since, self._server = since, server

    def _take(self, raw: bytes, into: dict[str, Held[T]]) -> None:
        identity = decoded(raw, _Identified, self._cluster.name).metadata
        # The owner's own indices know objects by the same texts.
        uid = sys.intern(identity.uid)
        known = self._held.get(uid)
        if known is not None and known.resource_version == identity.resource_version:
            into[uid] = known
        elif (value := self._owner.keep(raw)) is not None:
            into[uid] = Held(identity.resource_version, value)

    def _put(self, uid: str, now: Held[T]) -> None:
        before = self._held.get(uid)
        self._held[uid] = now
        if before is not now:
            self._owner.changed(uid, before.value if before else None, now.value)

    async def _watch(self) -> None:
        told, begun = False, asyncio.get_running_loop().time()
        async with self._cluster.following(self.kind, self.scope, self._since, msgspec.Raw) as changes:
            if self._cluster.server != self._server:
                raise Expired(f"The cluster {self._cluster.name} is another one than that which was listed")
            self._well()
            async for change in changes:
                told = True
                self._calm()
                raw = bytes(change.object)
                identity = decoded(raw, _Identified, self._cluster.name).metadata
                if change.type != "BOOKMARK":
                    self._apply(change.type, identity.uid, raw)
                self._since = identity.resource_version or self._since
        if not told and asyncio.get_running_loop().time() - begun < SHORT_SECONDS:
            raise ClusterAway(f"The cluster {self._cluster.name} hangs up as soon as it is to tell of changes")
        self._calm()

    def _apply(self, what: str, uid: str, raw: bytes) -> None:
        new: dict[str, Held[T]] = {}
        if what != "DELETED":
            self._take(raw, new)
        if uid in new:
            self._put(uid, new[uid])
        elif (gone := self._held.pop(uid, None)) is not None:
            self._owner.changed(uid, gone.value, None)

    def _calm(self) -> None:
        self._failures = self._forgotten = 0
        self._may_hurry = True

    def _well(self) -> None:
        known, self.problem = self.problem, None
        self._settled.set()
        if known is not None:
            _log.info("watching again", kind=self.kind.kind, cluster=self._cluster.name)
            self._owner.noted(self)

    def _failed(self, error: FairwayError) -> None:
        if self._since and self._failures == 1:
            return  # A line that broke is taken up again at once; nobody needs to know.
        if isinstance(error, NotThere):
            # The kind itself is not served any more, so far as the cluster's own list of kinds says the same.
            self._cluster.forget(self.kind)
        known, self.problem = self.problem, error
        self._settled.set()
        # Said once for each reason: it is tried again and again.
        if str(error) != str(known):
            _log.warning("cannot watch", kind=self.kind.kind, cluster=self._cluster.name, reason=str(error))
            self._owner.noted(self)
