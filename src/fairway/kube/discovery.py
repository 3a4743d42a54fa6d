"""Which kinds a cluster serves: asked when needed, remembered, and asked again when something is not among them.

One version of one group is one small question. All kinds at once is what the newer API servers answer in two; older
ones are asked group by group.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple

import msgspec

from fairway.kube.calls import Call, decoded
from fairway.kube.errors import ClusterAway, NotThere
from fairway.kube.kinds import Kind, root_of, unknown_kind
from fairway.kube.statuses import Asked

_AGGREGATED = (
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"
)
_SIDE_BY_SIDE = 8


class _Resource(msgspec.Struct, frozen=True):
    name: str
    kind: str
    namespaced: bool = False
    verbs: tuple[str, ...] | None = ()
    group: str = ""
    version: str = ""


class _Resources(msgspec.Struct, frozen=True):
    resources: tuple[_Resource, ...] | None = ()


class _GroupVersion(msgspec.Struct, frozen=True, rename="camel"):
    group_version: str = ""


class _Group(msgspec.Struct, frozen=True, rename="camel"):
    name: str = ""
    preferred_version: _GroupVersion = _GroupVersion()
    versions: tuple[_GroupVersion, ...] = ()


class _ResponseKind(msgspec.Struct, frozen=True):
    kind: str = ""
    group: str = ""
    version: str = ""


class _AggregatedResource(msgspec.Struct, frozen=True, rename="camel"):
    resource: str
    response_kind: _ResponseKind | None = None
    scope: str = ""
    verbs: tuple[str, ...] | None = ()


class _AggregatedVersion(msgspec.Struct, frozen=True):
    version: str
    resources: tuple[_AggregatedResource, ...] | None = ()
    #: `Stale` where another server provides it that is away: what is listed is from before, or nothing is.
    freshness: str = ""


class _Named(msgspec.Struct, frozen=True):
    name: str = ""


class _AggregatedGroup(msgspec.Struct, frozen=True):
    metadata: _Named = _Named()
    versions: tuple[_AggregatedVersion, ...] | None = ()


class _Groups(msgspec.Struct, frozen=True):
    """Either form: `items` of the new one, `groups` or `versions` of the old."""

    kind: str = ""
    items: tuple[_AggregatedGroup, ...] = ()
    groups: tuple[_Group, ...] = ()
    versions: tuple[str, ...] = ()


class Served(NamedTuple):
    """What a cluster serves."""

    #: Each kind in the version that the cluster prefers.
    kinds: tuple[Kind, ...]
    #: Versions of groups that another server provides, which is away; of their kinds some may be known from before.
    away: tuple[str, ...] = ()


class Discovery:
    """What is known of one cluster's kinds. It belongs to one event loop."""

    def __init__(self, cluster: str, send: Callable[[Call], Awaitable[bytes]]) -> None:
        self._cluster = cluster
        self._send = send
        self._versions: dict[str, dict[str, Kind]] = {}
        self._turn = asyncio.Lock()

    def forget(self, api_version: str) -> None:
        """What was known of a version of a group did not hold."""
        self._versions.pop(api_version, None)

    async def kind(self, api_version: str, kind: str) -> Kind:
        """One kind; it is looked for anew where it is not known, since it may have been added."""
        if found := self._versions.get(api_version, {}).get(kind):
            return found
        async with self._turn:
            if found := self._versions.get(api_version, {}).get(kind):
                return found
            if found := (await self._looked_up(api_version)).get(kind):
                return found
        every = (await self.served()).kinds
        # A kind that is new may stand in one of the two lists before it stands in the other.
        for each in every:
            if (each.api_version, each.kind) == (api_version, kind):
                return each
        raise unknown_kind(api_version, kind, every, self._cluster)

    async def kinds(self, api_version: str) -> tuple[Kind, ...]:
        """The kinds of one version of a group, as they were when it was last looked up."""
        async with self._turn:
            known = self._versions.get(api_version) or await self._looked_up(api_version)
        return tuple(known.values())

    async def _looked_up(self, api_version: str) -> dict[str, Kind]:
        found = {each.kind: each for each in await self._version(api_version)}
        self._versions[api_version] = found
        return found

    async def served(self) -> Served:
        """All kinds, and what cannot be seen of them for now."""
        core, groups = await self._ask("/api"), await self._ask("/apis")
        if core.items or groups.items:
            every = [_of_group(group) for answer in (core, groups) for group in answer.items]
            away = [each for answer in (core, groups) for group in answer.items for each in _stale(group)]
        else:
            every, away = await self._group_by_group(core, groups)
        preferred: dict[tuple[str, str], Kind] = {}
        for kind in (kind for kinds in every for kind in kinds):
            preferred.setdefault((kind.group, kind.kind), kind)
        return Served(tuple(preferred.values()), tuple(away))

    async def _group_by_group(self, core: _Groups, groups: _Groups) -> tuple[list[tuple[Kind, ...]], list[str]]:
        away: list[str] = []
        names = list(core.versions)
        for group in groups.groups:
            chosen = group.preferred_version.group_version
            others = (each.group_version for each in group.versions if each.group_version != chosen)
            names += [each for each in (chosen, *others) if each]
        turns = asyncio.Semaphore(_SIDE_BY_SIDE)

        async def one(name: str) -> tuple[Kind, ...]:
            async with turns:
                try:
                    return await self._version(name)
                except ClusterAway:
                    away.append(name)
                    return ()  # An API that another server provides, and that is down, hides only itself.

        return await asyncio.gather(*map(one, names)), away

    async def _version(self, api_version: str) -> tuple[Kind, ...]:
        try:
            body = await self._send(Call(path=root_of(api_version), asked=self._asked(api_version)))
        except NotThere:
            return ()
        found = decoded(body, _Resources, self._cluster).resources or ()
        group, _, version = api_version.rpartition("/")
        return tuple(
            Kind(
                group=group,
                version=version,
                kind=each.kind,
                plural=each.name,
                namespaced=each.namespaced,
                verbs=frozenset(each.verbs or ()),
            )
            for each in found
            if "/" not in each.name
        )

    async def _ask(self, path: str) -> _Groups:
        body = await self._send(Call(path=path, accept=_AGGREGATED, asked=self._asked(path)))
        return decoded(body, _Groups, self._cluster)

    def _asked(self, what: str) -> Asked:
        return Asked(cluster=self._cluster, verb="get", resource=f"the kinds of {what}")


def _of_group(group: _AggregatedGroup) -> tuple[Kind, ...]:
    return tuple(
        Kind(
            group=group.metadata.name,
            version=version.version,
            kind=each.response_kind.kind,
            plural=each.resource,
            namespaced=each.scope == "Namespaced",
            verbs=frozenset(each.verbs or ()),
        )
        for version in group.versions or ()
        for each in version.resources or ()
        if each.response_kind is not None
    )


def _stale(group: _AggregatedGroup) -> list[str]:
    versions = (each.version for each in group.versions or () if each.freshness == "Stale")
    return [f"{group.metadata.name}/{each}" for each in versions]
