"""Whether what seems to differ from Git does: the cluster is asked what it would make of Git's values.

An object that is the same as its manifest, word for word, costs no call. For any other the cluster is asked once, as a
trial that changes nothing, and its answer holds until the object or the manifest changes.
"""

import hashlib
from typing import Final

import msgspec

from fairway.errors import UserError
from fairway.kube.cluster import FIELD_MANAGER, Cluster
from fairway.kube.manifest import Body, Key, key_of
from fairway.plugins.kubernetes.adoption import is_by_hand
from fairway.plugins.kubernetes.difference import Change
from fairway.plugins.kubernetes.drift import (
    Changed,
    Drift,
    confirmed,
    ignored_fields,
    is_ignored,
    leftovers,
    may_be_gone,
    question,
    seeming_changes,
)
from fairway.plugins.kubernetes.live_objects import Seen
from fairway.plugins.kubernetes.parts import part
from fairway.plugins.kubernetes.placing import Placed

_REPLICAS: Final = ("spec", "replicas")


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """What is compared."""

    wanted: tuple[Placed, ...]
    #: The objects that were deployed for the application, without those that are there for a while only.
    live: tuple[Seen, ...]
    #: `driftDetection.ignoreFields`.
    ignore_fields: tuple[str, ...] = ()


class Judge:
    """Judges for one application at one cluster, and remembers what it found."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        #: Object → of which forms it was found what.
        self._found: dict[Key, tuple[str, tuple[Change, ...]]] = {}

    async def drift(self, compared: Compared) -> Drift:
        """All differences."""
        bodies = {key_of(body): body for body in (seen.body() for seen in compared.live)}
        missing: list[Key] = []
        changed: list[Changed] = []
        for placed in compared.wanted:
            live = bodies.get(placed.key)
            if is_ignored(placed.manifest.body, live or {}):
                continue
            if live is None:
                missing += [] if may_be_gone(placed.manifest.body) else [placed.key]
            elif changes := await self._changes(placed, live, compared.ignore_fields):
                changed.append(Changed(placed.key, changes))
        self._found = {key: found for key, found in self._found.items() if key in bodies}
        orphans = leftovers((each.manifest for each in compared.wanted), bodies.values())
        return Drift(missing=tuple(missing), orphans=orphans, changed=tuple(changed))

    async def _changes(self, placed: Placed, live: Body, ignore: tuple[str, ...]) -> tuple[Change, ...]:
        manifest = placed.manifest
        ignored = ignored_fields(ignore, manifest)
        digest = _digest(live, manifest.body, ignored)
        known = self._found.get(placed.key)
        if known is not None and known[0] == digest:
            return known[1]
        if live["apiVersion"] != manifest.api_version:
            # It is watched in another version than the one that Git has; both are the same object.
            live = await self._cluster.get(placed.kind, placed.namespace, manifest.name) or live
        changes = seeming_changes(live, manifest.body, ignored)
        if changes:
            changes = await self._judged(placed, live, changes)
        self._found[placed.key] = (digest, changes)
        return changes

    async def _judged(self, placed: Placed, live: Body, changes: tuple[Change, ...]) -> tuple[Change, ...]:
        patch = question(live, placed.manifest.body, changes)
        try:
            answer = await self._cluster.patch(placed.kind, placed.namespace, placed.manifest.name, patch, dry_run=True)
        except UserError:
            # It may not be asked, or does not take the values at all, as of a field that cannot be changed.
            return changes
        left = confirmed(changes, live, answer)
        if any(change.path == _REPLICAS for change in left):
            # Who manages the field is not kept with what is watched.
            whole = await self._cluster.get(placed.kind, placed.namespace, placed.manifest.name)
            if whole is not None and is_scaled_by_others(whole):
                left = tuple(change for change in left if change.path != _REPLICAS)
        return left


def is_scaled_by_others(live: Body) -> bool:
    """Whether the number of replicas is an autoscaler's: stages leave it alone then, and so it is no drift."""
    found = part(live, "metadata", "managedFields") or ()
    managers = {each.get("manager", "") for each in found if part(each, "fieldsV1", "f:spec", "f:replicas") is not None}
    return bool(managers) and not any(each == FIELD_MANAGER or is_by_hand(each) for each in managers)


def _digest(live: Body, wanted: Body, ignored: tuple[str, ...]) -> str:
    """What the answer depends on."""
    return hashlib.blake2b(msgspec.json.encode([live, wanted, ignored]), digest_size=16).hexdigest()
