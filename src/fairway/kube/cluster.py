"""The API of one cluster, as everything in Fairway uses it: find, read, apply, delete, watch.

One `Cluster` for each deploy target, shared by everything in the process, so that connections, credentials and what is
known of its kinds are shared too. Objects go in and come out as plain mappings; `items` and `follow` decode into a
smaller shape where there are many of them and most of each is not needed.
"""

from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Final, Generic, TypeVar

import msgspec

from fairway.kube.access import Access
from fairway.kube.calls import Call, Calls, Patience, decoded
from fairway.kube.discovery import Discovery, Served
from fairway.kube.errors import Conflict, Expired, Invalid, NotThere
from fairway.kube.kinds import Kind
from fairway.kube.manifest import Body
from fairway.kube.statuses import Asked, Status, error_of

T = TypeVar("T")
Objects = list[dict[str, Any]]

#: How the cluster knows which fields are ours.
FIELD_MANAGER: Final = "fairway"
JSON_PATCH: Final = "application/json-patch+json"
MERGE_PATCH: Final = "application/merge-patch+json"
STRATEGIC_PATCH: Final = "application/strategic-merge-patch+json"
_APPLY: Final = "application/apply-patch+yaml"
#: What is only tried is judged by everybody who has a say in it, and not kept.
_DRY: Final = "All"
_PAGE = 500
#: How often a list is begun again whose pages went out of date while they were read.
_LISTS = 3
#: The server ends a watch after this time, and it is begun again; a connection that hangs is noticed soon after.
WATCH_SECONDS = 300
_SPARE_SECONDS = 30.0


class _ListMeta(msgspec.Struct, frozen=True, rename="camel"):
    resource_version: str = ""
    next: str = msgspec.field(name="continue", default="")


class Page(msgspec.Struct, Generic[T], frozen=True):
    """Some of the objects of a list."""

    metadata: _ListMeta = _ListMeta()
    items: list[T] | None = None


class Event(msgspec.Struct, frozen=True):
    """One change that a watch tells of."""

    #: ADDED, MODIFIED, DELETED, or BOOKMARK: nothing has changed up to the `resourceVersion` of the object.
    type: str
    object: dict[str, Any]


class Change(msgspec.Struct, Generic[T], frozen=True):
    """The same, in another shape than a mapping."""

    type: str
    object: T


class _RawEvent(msgspec.Struct, frozen=True):
    type: str
    object: msgspec.Raw


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """Which objects of a kind: of one namespace or all, with these labels, with these fields, of this name."""

    namespace: str = ""
    labels: Mapping[str, str] = {}
    #: Labels of which each may have any of several values.
    any_of: Mapping[str, Sequence[str]] = {}
    #: Of some kinds the server knows some fields to select by.
    fields: Mapping[str, str] = {}
    name: str = ""

    @property
    def query(self) -> dict[str, str]:
        fields = {**self.fields, **({"metadata.name": self.name} if self.name else {})}
        labels = {**{key: (value,) for key, value in self.labels.items()}, **self.any_of}
        query = {"labelSelector": _label_selector(labels), "fieldSelector": _selector(fields)}
        return {key: value for key, value in query.items() if value}


def _label_selector(wanted: Mapping[str, Sequence[str]]) -> str:
    # One value is written like this also because an empty one cannot be in a list of its own.
    one_by_one = (
        f"{key}={values[0]}" if len(values) == 1 else f"{key} in ({','.join(values)})"
        for key, values in sorted(wanted.items())
    )
    return ",".join(one_by_one)


def _selector(wanted: Mapping[str, str]) -> str:
    return ",".join(f"{key}={value}" for key, value in sorted(wanted.items()))


def _writing(*, dry_run: bool) -> dict[str, str]:
    """How whole objects are written."""
    return {"fieldManager": FIELD_MANAGER, "fieldValidation": "Strict"} | ({"dryRun": _DRY} if dry_run else {})


class Cluster:
    """One cluster. It belongs to one event loop."""

    def __init__(self, name: str, access: Access, patience: Patience | None = None) -> None:
        self.name = name
        self._access = access
        self._calls = Calls(access, patience)
        self._discovery = Discovery(name, self._calls.send)

    @property
    def default_namespace(self) -> str:
        """Where objects go that name none."""
        return self._access.namespace

    @property
    def server(self) -> str:
        """Its address, which is another one when the kubeconfig has come to say so."""
        return self._access.server

    async def __aenter__(self) -> "Cluster":
        return self

    async def __aexit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        await self.close()

    async def close(self) -> None:
        """Hang up."""
        await self._calls.close()

    async def kind(self, api_version: str, kind: str) -> Kind:
        """A kind by the two names that manifests give; UnknownKind says which one may be meant."""
        return await self._discovery.kind(api_version, kind)

    async def kinds(self, api_version: str) -> tuple[Kind, ...]:
        """The kinds of one version of a group; none where it is not served."""
        return await self._discovery.kinds(api_version)

    async def served(self) -> Served:
        """All kinds, and what cannot be seen of them for now."""
        return await self._discovery.served()

    def forget(self, kind: Kind) -> None:
        """What is known of a kind did not hold: it may have gone, or have moved between namespaces and the cluster."""
        self._discovery.forget(kind.api_version)

    async def version(self) -> str:
        """The version of the cluster, such as v1.34.4."""
        call = Call(path="/version", asked=Asked(cluster=self.name, verb="get", resource="version"))
        return str(decoded(await self._calls.send(call), dict[str, Any], self.name).get("gitVersion", ""))

    async def get(self, kind: Kind, namespace: str, name: str) -> dict[str, Any] | None:
        """One object; None where it is not there."""
        call = Call(path=kind.path(self._place(kind, namespace), name), asked=self._asked("get", kind, namespace, name))
        try:
            return await self._object(call)
        except NotThere:
            return None

    async def list(self, kind: Kind, namespace: str = "", labels: Mapping[str, str] = {}) -> Objects:
        """All objects of a kind, in one namespace or in all, with these labels."""
        found, _ = await self.items(kind, Scope(namespace=namespace, labels=labels), dict[str, Any])
        for each in found:
            # The items of a list leave out what the list says once.
            each.setdefault("apiVersion", kind.api_version)
            each.setdefault("kind", kind.kind)
        return [*found]

    async def items(self, kind: Kind, scope: Scope, shape: type[T]) -> tuple[Sequence[T], str]:
        """The objects in another shape, and the `resourceVersion` at which a watch can go on."""
        for attempt in range(1, _LISTS + 1):
            pages: deque[Page[T]] = deque()
            try:
                async for page in self.pages(kind, scope, shape, limit=_PAGE if attempt < _LISTS else 0):
                    pages.append(page)
            except Expired:
                if attempt < _LISTS:
                    continue
                raise
            return tuple(each for page in pages for each in page.items or ()), pages[-1].metadata.resource_version
        raise AssertionError("the last attempt returns or raises")

    async def pages(self, kind: Kind, scope: Scope, shape: type[T], limit: int = _PAGE) -> AsyncIterator[Page[T]]:
        """The same, page by page; Expired where it took so long that the server does not remember where it was."""
        query = scope.query | ({"limit": str(limit)} if limit else {})
        asked = self._asked("list", kind, scope.namespace)
        while True:
            call = Call(path=kind.path(scope.namespace), query=query, asked=asked, seconds=60.0)
            page = decoded(await self._calls.send(call), Page[shape], self.name)  # type: ignore[valid-type]  # at run time
            yield page
            if not page.metadata.next:
                return
            query["continue"] = page.metadata.next

    async def apply(
        self, body: Body, *, dry_run: bool = False, force: bool = False, manager: str = FIELD_MANAGER
    ) -> dict[str, Any]:
        """Make an object be as this says, as far as this says it; what others say of other fields stays."""
        kind, namespace, name = await self._which(body)
        call = Call(
            method="PATCH",
            path=kind.path(namespace, name),
            query=_writing(dry_run=dry_run) | {"force": "true" if force else "false", "fieldManager": manager},
            body=self._encoded(body, namespace),
            content_type=_APPLY,
            asked=self._asked("patch", kind, namespace, name),
        )
        return await self._object(call, kind)

    async def create(self, body: Body, *, dry_run: bool = False) -> dict[str, Any]:
        """Make an object that is not there; AlreadyThere when it is."""
        kind, namespace, name = await self._which(body)
        call = Call(
            method="POST",
            path=kind.path(namespace),
            query=_writing(dry_run=dry_run),
            body=self._encoded(body, namespace),
            asked=self._asked("create", kind, namespace, name),
            repeatable=dry_run,
        )
        return await self._object(call, kind)

    async def replace(self, body: Body, *, dry_run: bool = False) -> dict[str, Any]:
        """Make an object that is there be exactly this; NotThere when it is not."""
        kind, namespace, name = await self._which(body)
        call = Call(
            method="PUT",
            path=kind.path(namespace, name),
            query=_writing(dry_run=dry_run),
            body=self._encoded(body, namespace),
            asked=self._asked("update", kind, namespace, name),
        )
        return await self._object(call, kind)

    async def patch(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        patch: Any,
        content_type: str = MERGE_PATCH,
        *,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Change parts of an object that is there; the object as it is, or would be, then."""
        place = self._place(kind, namespace)
        call = Call(
            method="PATCH",
            path=kind.path(place, name),
            query={"fieldManager": FIELD_MANAGER} | ({"dryRun": _DRY} if dry_run else {}),
            body=msgspec.json.encode(patch),
            content_type=content_type,
            asked=self._asked("patch", kind, place, name),
            # Merging twice is merging once; the steps of a JSON patch are not so.
            repeatable=content_type != JSON_PATCH,
        )
        return await self._object(call, kind)

    async def delete(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        *,
        uid: str = "",
        version: str = "",
        propagation: str = "Background",
        dry_run: bool = False,
    ) -> bool:
        """Ask for an object to go; False where it was not there, or was another one than that with the uid. Conflict
        where it is not in that version any more."""
        place = self._place(kind, namespace)
        options: dict[str, Any] = {"propagationPolicy": propagation}
        if dry_run:
            options["dryRun"] = [_DRY]
        if uid:
            options["preconditions"] = {"uid": uid} | ({"resourceVersion": version} if version else {})
        call = Call(
            method="DELETE",
            path=kind.path(place, name),
            body=msgspec.json.encode(options),
            asked=self._asked("delete", kind, place, name),
        )
        try:
            await self._calls.send(call)
        except NotThere:
            return False
        except Conflict:
            if uid and not version:
                return False
            raise
        return True

    async def watch(
        self, kind: Kind, namespace: str = "", labels: Mapping[str, str] = {}, since: str = "", *, name: str = ""
    ) -> AsyncGenerator[Event]:
        """Changes after a `resourceVersion`, or, without one, first all there is; ends when the server ends it.

        Expired where the server does not remember so long: list again.
        """
        scope = Scope(namespace=namespace, labels=labels, name=name)
        async for each in self.follow(kind, scope, since, dict[str, Any]):
            yield Event(each.type, each.object)

    async def follow(self, kind: Kind, scope: Scope, since: str, shape: type[T]) -> AsyncGenerator[Change[T]]:
        """The same, in another shape."""
        async with self.following(kind, scope, since, shape) as changes:
            async for each in changes:
                yield each

    @asynccontextmanager
    async def following(
        self, kind: Kind, scope: Scope, since: str, shape: type[T]
    ) -> AsyncIterator[AsyncIterator[Change[T]]]:
        """The same; inside the block the server has agreed to tell."""
        query = scope.query | {"watch": "true", "allowWatchBookmarks": "true", "timeoutSeconds": str(WATCH_SECONDS)}
        if since:
            query["resourceVersion"] = since
        asked = self._asked("watch", kind, scope.namespace)
        call = Call(path=kind.path(scope.namespace), query=query, asked=asked, seconds=WATCH_SECONDS + _SPARE_SECONDS)

        async def changes(lines: AsyncIterator[bytes]) -> AsyncIterator[Change[T]]:
            async for line in lines:
                event = decoded(line, _RawEvent, self.name)
                if event.type == "ERROR":
                    raise error_of(decoded(bytes(event.object), Status, self.name), asked)
                yield Change(event.type, decoded(bytes(event.object), shape, self.name))

        async with self._calls.lines(call) as lines:
            yield changes(lines)

    async def _which(self, body: Body) -> tuple[Kind, str, str]:
        metadata = body.get("metadata") or {}
        kind = await self.kind(str(body.get("apiVersion", "")), str(body.get("kind", "")))
        name = str(metadata.get("name", ""))
        if not name:
            raise Invalid(f"A {kind.kind} without metadata.name cannot be sent to the cluster {self.name}")
        return kind, self._place(kind, str(metadata.get("namespace") or "")), name

    def _place(self, kind: Kind, namespace: str) -> str:
        return (namespace or self.default_namespace) if kind.namespaced else ""

    def _encoded(self, body: Body, namespace: str) -> bytes:
        """The body with the namespace that it goes to, and none where it belongs to none."""
        metadata = {key: value for key, value in body["metadata"].items() if key != "namespace"}
        if namespace:
            metadata["namespace"] = namespace
        return msgspec.json.encode({**body, "metadata": metadata})

    async def _object(self, call: Call, kind: Kind | None = None) -> dict[str, Any]:
        try:
            return decoded(await self._calls.send(call), dict[str, Any], self.name)
        except NotThere:
            if kind is not None:
                self.forget(kind)
            raise

    def _asked(self, verb: str, kind: Kind, namespace: str = "", name: str = "") -> Asked:
        return Asked(cluster=self.name, verb=verb, resource=kind.resource, namespace=namespace, name=name)
