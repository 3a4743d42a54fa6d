"""What an application has in a cluster and should not have: found by its labels, judged by all that it says of itself.

An object is only ever taken for the application's when its annotations and labels agree on that and nobody else has
made it, and never when it was just applied, whatever name it goes by.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Final, NamedTuple

from fairway.kube.cluster import Cluster
from fairway.kube.discovery import Served
from fairway.kube.errors import ClusterAway, NotAllowed, NotThere, UnknownKind, WebhookAway
from fairway.kube.kinds import Kind
from fairway.kube.manifest import Body, Key, key_of
from fairway.plugins.kubernetes.marks import belongs_to, selector
from fairway.plugins.kubernetes.parts import part
from fairway.plugins.kubernetes.removing.record import Where
from fairway.plugins.kubernetes.whose.sharing import is_shareable, sharing_label

_AT_ONCE: Final = 16
#: Kinds that the cluster itself makes, or that nobody deploys.
_NEVER: Final = frozenset(
    {"Event", "Endpoints", "EndpointSlice", "ControllerRevision", "Lease", "Node", "ComponentStatus", "PodMetrics"}
)
#: What can be done with all that anybody deploys.
REMOVABLE: Final = frozenset({"list", "delete"})
#: Groups to which nobody deploys anything; the server that provides them is away in many clusters, and for long.
_OF_METRICS: Final = frozenset({"metrics.k8s.io", "custom.metrics.k8s.io", "external.metrics.k8s.io"})
#: What may hold something that cannot be made again.
LASTING: Final = frozenset({"Namespace", "CustomResourceDefinition", "PersistentVolume", "PersistentVolumeClaim"})


class Everywhere(NamedTuple):
    """What was found by looking everywhere."""

    objects: list[dict[str, Any]]
    #: Of which kinds nothing could be seen for now, and why.
    unseen: tuple[WebhookAway | ClusterAway, ...]


class Search:
    """Looks for the objects of one application in one cluster."""

    def __init__(self, cluster: Cluster, application_id: str) -> None:
        self._cluster = cluster
        self._application_id = application_id
        self._turns = asyncio.Semaphore(_AT_ONCE)

    async def everywhere(self, namespaces: Iterable[str], *, only: bool = False) -> "Everywhere":
        """All objects of the application that may be looked at; in these namespaces where that is all one may, or
        where other namespaces may be those of another deploy target."""
        kinds, unseen = await self._kinds()
        names = sorted({each for each in namespaces if each})

        async def of_kind(kind: Kind) -> list[dict[str, Any]]:
            try:
                if not only:
                    return await self._list(kind, "", {})
            except NotAllowed:
                # Then perhaps in the namespaces, where there are any.
                pass
            if not kind.namespaced:
                return []
            found: list[dict[str, Any]] = []
            for namespace in names:
                try:
                    found += await self._list(kind, namespace, {})
                except NotAllowed:
                    # Where one may not look, this application has put nothing.
                    continue
            return found

        async def of_kind_that_can_be_read(kind: Kind) -> list[dict[str, Any]]:
            try:
                return await of_kind(kind)
            except WebhookAway as error:
                # Somebody else's, whose objects nobody can convert: that keeps no one from deploying anything else.
                unseen.append(error)
                return []

        found = self._own(await asyncio.gather(*map(of_kind_that_can_be_read, kinds)))
        return Everywhere(found, tuple(unseen))

    async def _kinds(self) -> tuple[list[Kind], list[WebhookAway | ClusterAway]]:
        """The kinds of which there may be objects, without those that cannot be seen for now; and why not."""
        served = await self._cluster.served()
        kinds = [each for each in served.kinds if each.verbs >= REMOVABLE and each.kind not in _NEVER]
        unseen = hidden(served, kinds)
        words = f"The cluster {self._cluster.name} does not reach the server that provides"
        seen = [each for each in kinds if each.api_version not in unseen]
        return seen, [ClusterAway(f"{words} {each}") for each in unseen]

    async def at(
        self,
        places: Iterable[Where],
        labels: dict[str, str] | None = None,
        *,
        perhaps: Iterable[Where] = (),
        suffixes: Collection[str] = (),
    ) -> list[dict[str, Any]]:
        """The objects of the application at these places, perhaps with these labels; and at those where there may be
        some, as far as one may look there. Of a variant, its `suffixes` tell PipeCD's copies from anybody else's."""
        certain = frozenset(places)

        async def of_place(where: Where) -> list[dict[str, Any]]:
            try:
                kind = await self._cluster.kind(where.api_version, where.kind)
            except UnknownKind:
                # Not served any more: neither are its objects.
                return []
            try:
                return await self._list(kind, where.namespace, labels or {})
            except NotAllowed:
                if where in certain:
                    raise
                # Where one may not look, this application has put nothing.
                return []

        return self._own(await asyncio.gather(*map(of_place, sorted(certain.union(perhaps)))), suffixes)

    async def shared(self, places: Iterable[Where]) -> list[dict[str, Any]]:
        """What the application shares with others that own it, as far as it was put at these places."""
        kinds = {(each.api_version, each.kind) for each in places if not each.namespace}
        found: list[dict[str, Any]] = []
        for api_version, name in sorted(kinds):
            if not is_shareable(Key(api_version.rpartition("/")[0], name, "", "")):
                continue
            kind = await self._cluster.kind(api_version, name)
            try:
                found += await self._cluster.list(kind, labels=sharing_label(self._application_id))
            except NotAllowed:
                # What is shared stays shared, which harms nobody.
                continue
        return found

    async def named(self, keys: Iterable[tuple[Kind, Key]]) -> list[dict[str, Any]]:
        """Those of these objects that are there and the application's."""

        async def one(kind: Kind, key: Key) -> list[dict[str, Any]]:
            async with self._turns:
                live = await self._cluster.get(kind, key.namespace, key.name)
            return [] if live is None else [live]

        return self._own(await asyncio.gather(*(one(kind, key) for kind, key in keys)))

    async def _list(self, kind: Kind, namespace: str, labels: dict[str, str]) -> list[dict[str, Any]]:
        async with self._turns:
            try:
                return await self._cluster.list(kind, namespace, selector(self._application_id, labels))
            except NotThere:
                # The kind went away with its definition, and all its objects with it.
                return []

    def _own(self, found: Iterable[Sequence[dict[str, Any]]], suffixes: Collection[str] = ()) -> list[dict[str, Any]]:
        """The application's own, each once although two kinds may show the same object."""
        by_uid = {
            str(part(each, "metadata", "uid")): each
            for some in found
            for each in some
            if belongs_to(each, self._application_id, suffixes) and not part(each, "metadata", "deletionTimestamp")
        }
        return list(by_uid.values())


def hidden(served: Served, kinds: Sequence[Kind]) -> list[str]:
    """Versions of groups in which something may be that cannot be seen for now: all but those of which it is known
    that they have nothing of the sort."""
    wanted = {each.api_version for each in kinds}
    known = {each.api_version for each in served.kinds}
    away = [each for each in served.away if each.partition("/")[0] not in _OF_METRICS]
    return [each for each in away if each in wanted or each not in known]


def surplus(
    found: Iterable[dict[str, Any]], applied: Iterable[Body], spare: Callable[[Body], bool] = lambda _: False
) -> list[dict[str, Any]]:
    """What was found and is neither among what was applied nor to be spared."""
    applied = tuple(applied)
    uids = {part(each, "metadata", "uid") for each in applied}
    keys = {key_of(each) for each in applied}
    return [
        each
        for each in found
        if part(each, "metadata", "uid") not in uids and key_of(each) not in keys and not spare(each)
    ]
