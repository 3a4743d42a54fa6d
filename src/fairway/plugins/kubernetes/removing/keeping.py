"""What pruning leaves although it left Git: a namespace or a kind with which something of somebody else would go.

Deleting one object deletes all that is in a namespace, or of a kind, whoever has made it. So that goes last and only
when nothing else is lost: what this application removes as well, what belongs to that, and what Kubernetes puts into
each namespace. In doubt, and where one may not look, it stays, and the next time it is looked at again; what stays for
others is no longer the application's, because nothing that it could do would make it as Git says.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

import msgspec

from fairway.kube.cluster import Cluster, Scope
from fairway.kube.errors import Invalid, NotAllowed, NotThere, WebhookAway
from fairway.kube.kinds import Kind
from fairway.kube.manifest import Body, Key, key_of
from fairway.plugins.kubernetes.marks import APPLICATION
from fairway.plugins.kubernetes.parts import part
from fairway.plugins.kubernetes.removing.pruning import REMOVABLE, hidden
from fairway.plugins.kubernetes.whose.sharing import sharers
from fairway.sdk.side_by_side import all_ended

_NAMESPACE: Final = ("", "Namespace")
_DEFINITION: Final = ("apiextensions.k8s.io", "CustomResourceDefinition")
_ISSUED: Final = "kubernetes.io/service-account-token"
_OF_ACCOUNT: Final = "kubernetes.io/service-account.name"
#: What Kubernetes makes in each namespace.
_IN_EACH: Final = frozenset({("ConfigMap", "kube-root-ca.crt"), ("ServiceAccount", "default")})
_EVENT: Final = "Event"
_AT_ONCE: Final = 16


class Kept(NamedTuple):
    """Something that stays."""

    body: Body
    why: str
    #: Whether the next time will be no different.
    for_good: bool = False

    def __str__(self) -> str:
        given_up = "; it is no longer this application's" if self.for_good else ""
        return f"{key_of(self.body)}: kept, because {self.why}{given_up}"


class _Owner(msgspec.Struct, frozen=True):
    uid: str = ""


class _Meta(msgspec.Struct, frozen=True, rename="camel"):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    annotations: Mapping[str, str] | None = None
    owner_references: tuple[_Owner, ...] | None = None
    deletion_timestamp: str | None = None


class _Thing(msgspec.Struct, frozen=True):
    """As much of an object as tells whose it is."""

    metadata: _Meta = _Meta()
    type: Any = None


class _Found(NamedTuple):
    kind: Kind
    thing: _Thing

    @property
    def name(self) -> str:
        """What it is called inside its namespace."""
        return f"{self.kind.kind} {self.thing.metadata.name}"

    def is_of(self, application_id: str) -> bool:
        """Whether it says that it was deployed for the application."""
        return (self.thing.metadata.annotations or {}).get(APPLICATION) == application_id

    @property
    def full_name(self) -> str:
        meta = self.thing.metadata
        return str(Key(self.kind.group, self.kind.kind, meta.namespace, meta.name))


class _Unseen(Exception):
    """Something that cannot be looked at, and why."""


class Keeper:
    """Looks, before objects are removed from one cluster, what must stay."""

    def __init__(self, cluster: Cluster, application_id: str, removed: Sequence[Body], applied: Iterable[Body]) -> None:
        self._cluster = cluster
        self._application_id = application_id
        self._removed = removed
        self._applied = [key_of(each) for each in applied]
        self._uids = {str(part(each, "metadata", "uid")) for each in removed}
        self._turns = asyncio.Semaphore(_AT_ONCE)

    async def kept(self) -> list[Kept]:
        """Those of the objects that are to stay."""
        found = []
        for each in self._removed:
            key = key_of(each)
            reason = {_NAMESPACE: self._kept_namespace, _DEFINITION: self._kept_definition}.get((key.group, key.kind))
            if reason is not None:
                try:
                    kept = self._kept_shared(each) or await reason(each)
                except _Unseen as error:
                    kept = Kept(each, f"it cannot be seen whether anybody else uses it: {error}")
                found += [kept] if kept else []
        return found

    def _kept_shared(self, body: Body) -> Kept | None:
        others = [each for each in sharers(body) if each != self._application_id]
        return Kept(body, f"application {_some(others)} has it in Git as well", for_good=True) if others else None

    async def _kept_namespace(self, body: Body) -> Kept | None:
        namespace = key_of(body).name
        if wanted := [f"{each.kind} {each.name}" for each in self._applied if each.namespace == namespace]:
            return Kept(body, f"Git still has {_some(wanted)} in it", for_good=True)
        served = await self._cluster.served()
        kinds = [each for each in served.kinds if each.namespaced and each.verbs >= REMOVABLE and each.kind != _EVENT]
        if away := hidden(served, kinds):
            raise _Unseen(f"the server that provides {away[0]} is away")
        lists = await all_ended(self._of_kind(each, namespace) for each in kinds)
        # The same object may be served as one of several kinds.
        inside = {each.thing.metadata.uid: each for each in chain.from_iterable(lists)}
        others = self._of_others(inside.values())
        if foreign := [each.name for each in others if not each.is_of(self._application_id)]:
            why = f"{_some(foreign)} in it {'is' if len(foreign) == 1 else 'are'} not this application's"
            return Kept(body, why, for_good=True)
        # A canary, for one.
        own = [each.name for each in others]
        return Kept(body, f"{_some(own)} of this application stays in it") if own else None

    async def _kept_definition(self, body: Body) -> Kept | None:
        spec = body["spec"]
        version = next((each["name"] for each in spec["versions"] if each.get("served")), "")
        if not version:
            raise _Unseen("none of its versions is served")
        names = spec["names"]
        namespaced = spec.get("scope") == "Namespaced"
        kind = Kind(
            group=spec["group"], version=version, kind=names["kind"], plural=names["plural"], namespaced=namespaced
        )
        others = [each.full_name for each in self._of_others(await self._of_kind(kind, ""))]
        return Kept(body, f"{_some(others)} would go with it", for_good=True) if others else None

    async def _of_kind(self, kind: Kind, namespace: str) -> list[_Found]:
        try:
            async with self._turns:
                found, _ = await self._cluster.items(kind, Scope(namespace=namespace), _Thing)
        except NotThere:
            # The kind went away, and all its objects with it.
            return []
        except (NotAllowed, Invalid, WebhookAway) as error:
            raise _Unseen(str(error)) from error
        return [_Found(kind, each) for each in found]

    def _of_others(self, found: Collection[_Found]) -> list[_Found]:
        """What would go and is neither removed by itself, nor belongs to what is, nor comes with each namespace."""
        going = self._with_owned(found)
        others = {
            each.thing.metadata.uid: each
            for each in found
            if each.thing.metadata.uid not in going and not each.thing.metadata.deletion_timestamp
        }
        named = {(each.kind.kind, each.thing.metadata.name) for each in found}
        # What has an owner among them is counted with the owner.
        counted = [
            each
            for each in others.values()
            if not any(owner.uid in others for owner in each.thing.metadata.owner_references or ())
            and not _is_made_by_kubernetes(each, named)
        ]
        return sorted(counted, key=lambda each: each.full_name)

    def _with_owned(self, found: Collection[_Found]) -> set[str]:
        """The uids of what is removed, and of all that goes because each of its owners does."""
        going, before = set(self._uids), 0
        while len(going) > before:
            before = len(going)
            for each in found:
                owners = each.thing.metadata.owner_references
                if owners and all(owner.uid in going for owner in owners):
                    going.add(each.thing.metadata.uid)
        return going


def _is_made_by_kubernetes(found: _Found, beside: Collection[tuple[str, str]]) -> bool:
    """Whether an object comes with each namespace, or with an object beside it."""
    kind, meta = found.kind.kind, found.thing.metadata
    if found.kind.group:
        return False
    if kind == "Endpoints":
        return ("Service", meta.name) in beside
    if found.thing.type == _ISSUED:
        return ("ServiceAccount", (meta.annotations or {}).get(_OF_ACCOUNT, "")) in beside
    return (kind, meta.name) in _IN_EACH


def _some(names: Sequence[str]) -> str:
    """The first, and how many more there are."""
    return names[0] + (f" and {len(names) - 1} more" if len(names) > 1 else "")
