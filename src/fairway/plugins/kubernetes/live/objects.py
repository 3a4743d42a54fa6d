"""What is remembered of an object in a cluster: little, because there may be tens of thousands.

Of an object that somebody deployed for an application everything is kept that a manifest decides, packed, to be
compared with Git, and a fingerprint of who manages what of it. Of one that belongs to another object only its name, its
owners and how it is are kept. Everything else is nothing to us.
"""

import hashlib
import sys
import zlib
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

import msgspec

from fairway.kube.cluster import FIELD_MANAGER
from fairway.kube.kinds import Kind
from fairway.model.live_state import Health
from fairway.plugins.kubernetes.drift.drift import manifest_part
from fairway.plugins.kubernetes.health.health import Healthiness, Standing, health_of
from fairway.plugins.kubernetes.marks import APPLICATION, belongs_to
from fairway.plugins.kubernetes.parts import part, without
from fairway.plugins.kubernetes.whose.sharing import sharers

#: Packing a short text makes it longer.
_PACKED_FROM = 200


class _Owner(msgspec.Struct, frozen=True):
    uid: str = ""


class _Meta(msgspec.Struct, frozen=True, rename="camel"):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    creation_timestamp: datetime | None = None
    annotations: dict[str, str] | None = None
    owner_references: tuple[_Owner, ...] | None = None


class _Shape(msgspec.Struct, frozen=True):
    metadata: _Meta = _Meta()


class Seen(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One object as it was last seen."""

    uid: str
    api_version: str
    kind: str
    namespace: str
    name: str
    created_at: datetime | None = None
    #: Uids of the objects that it belongs to.
    owners: tuple[str, ...] = ()
    #: For which application it was deployed; empty when it only belongs to another object, or to nobody of ours.
    application: str = ""
    #: Which others have a say in it.
    sharers: tuple[str, ...] = ()
    health: Health = Health.UNKNOWN
    reason: str = ""
    standing: Standing = Standing.DONE
    #: What a manifest decides of it, for one that was deployed for an application.
    packed: bytes = b""
    #: A fingerprint of who manages which fields of it but those of its status: what a sync takes away depends on that.
    managers: bytes = b""
    #: Whether we have ever written it; what somebody else has deployed until now may lack our marks.
    is_written: bool = False

    def body(self) -> dict[str, Any]:
        """The part of the object that a manifest decides."""
        text = zlib.decompress(self.packed[1:]) if self.packed[:1] == b"z" else self.packed[1:]
        body: dict[str, Any] = msgspec.json.decode(text)
        return body


def keeper(kind: Kind) -> Callable[[bytes], Seen | None]:
    """What is kept of the objects of a kind."""
    # Said once for all of them.
    api_version = kind.api_version

    def keep(raw: bytes) -> Seen | None:
        try:
            meta = msgspec.json.decode(raw, type=_Shape).metadata
        except msgspec.ValidationError:
            return None  # A date or a label that no API server would take: nobody of ours made it.
        claimed = (meta.annotations or {}).get(APPLICATION, "")
        if not claimed and not meta.owner_references:
            return None
        # The items of a list leave out what the list says once.
        body: dict[str, Any] = {"apiVersion": api_version, "kind": kind.kind, **msgspec.json.decode(raw)}
        deployed = bool(claimed) and belongs_to(body, claimed)
        if not deployed and not meta.owner_references:
            return None
        verdict = _health(body)
        return Seen(
            uid=sys.intern(meta.uid),
            api_version=api_version,
            kind=kind.kind,
            namespace=sys.intern(meta.namespace),
            name=meta.name,
            created_at=meta.creation_timestamp,
            owners=tuple(sys.intern(each.uid) for each in meta.owner_references or ()),
            application=sys.intern(claimed) if deployed else "",
            sharers=sharers(body) if deployed else (),
            health=verdict.health,
            # Thousands are well for the same reason.
            reason=sys.intern(verdict.reason),
            standing=verdict.standing,
            packed=_packed(manifest_part(body)) if deployed else b"",
            managers=_fingerprint(_entries(body)) if deployed else b"",
            is_written=deployed and is_written(body),
        )

    return keep


def _health(body: dict[str, Any]) -> Healthiness:
    try:
        return health_of(body)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        # A custom resource may be shaped in any way; one that cannot be read must not hide the others.
        return Healthiness(Health.UNKNOWN, f"Its status is not understood: {error!r}")


def is_written(body: Mapping[str, Any]) -> bool:
    """Whether we have ever written an object."""
    return any(each.get("manager") == FIELD_MANAGER for each in _entries(body))


def _entries(body: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """Who manages which fields, without those who only tell how the object is."""
    found = part(body, "metadata", "managedFields") or ()
    return tuple(each for each in found if each.get("subresource") != "status")


def _fingerprint(entries: Iterable[Mapping[str, Any]]) -> bytes:
    # Not when: who writes the same once more changes nothing, though it changes the order.
    told = sorted(
        msgspec.json.encode(
            [each.get("manager"), each.get("operation"), without(each.get("fieldsV1") or {}, ("f:status",))]
        )
        for each in entries
    )
    return hashlib.blake2b(b"".join(told), digest_size=8).digest()


def _packed(body: dict[str, Any]) -> bytes:
    text = msgspec.json.encode(body)
    return b"z" + zlib.compress(text, 1) if len(text) >= _PACKED_FROM else b"-" + text
