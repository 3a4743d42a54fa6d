"""Whether an object differs from Git: the cluster is asked what it would change when Git's values are written.

It is asked as a stage would write them, as a trial that changes nothing; so a sync mends what is drift, and what a sync
would leave as it is, is none. The answer holds as long as nothing but the object's status changes. Only an object that
has what is written and nothing else costs no call at all.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from typing import Final

import msgspec

from fairway.errors import UserError
from fairway.kube.cluster import FIELD_MANAGER, Cluster
from fairway.kube.errors import NotAllowed
from fairway.kube.manifest import Body, Key, key_of
from fairway.plugins.kubernetes.applying.adoption import is_by_hand
from fairway.plugins.kubernetes.applying.placing import Placed
from fairway.plugins.kubernetes.drift.adopted import removal, takes_over
from fairway.plugins.kubernetes.drift.drift import (
    Changed,
    Drift,
    Foreign,
    changes_by,
    counting,
    ignored_fields,
    is_ignored,
    is_the_same,
    leftovers,
    may_be_gone,
    seeming_changes,
)
from fairway.plugins.kubernetes.drift.written import as_written
from fairway.plugins.kubernetes.live.objects import Seen, is_written
from fairway.plugins.kubernetes.marks import APPLICATION, Owner, belongs_to, mark
from fairway.plugins.kubernetes.parts import part
from fairway.plugins.kubernetes.planning.difference import Change, Path
from fairway.plugins.kubernetes.whose.sharing import is_shareable, is_shared_with, shared_body, sharers, sharing_manager
from fairway.sdk.side_by_side import all_ended

_REPLICAS: Final[Path] = ("spec", "replicas")
#: Questions side by side; nobody waits for drift as for a deployment.
_AT_ONCE: Final = 4
#: How often an object is looked at that changes between the question and the look.
_LOOKS: Final = 3


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """What is compared."""

    wanted: tuple[Placed, ...]
    #: Those among them that are not watched, and so not compared.
    unwatched: frozenset[Key] = frozenset()
    #: The objects that were deployed for the application, without those that are there for a while only.
    live: tuple[Seen, ...]
    #: For whom a sync would write them.
    owner: Owner
    #: `driftDetection.ignoreFields`.
    ignore_fields: tuple[str, ...] = ()


class Judge:
    """Judges for one application at one cluster, and remembers what it found."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._places = asyncio.Semaphore(_AT_ONCE)
        #: Object → of which forms it was found what.
        self._found: dict[Key, tuple[str, tuple[Change, ...]]] = {}

    async def drift(self, compared: Compared) -> Drift:
        """All differences."""
        live = {key_of(body): (seen, body) for seen, body in ((seen, seen.body()) for seen in compared.live)}
        ours = {key: body for key, (seen, body) in live.items() if seen.is_written}
        written = [
            each
            for each in as_written(compared.wanted, ours, compared.owner)
            if each.key not in compared.unwatched and not is_ignored(each.manifest.body)
        ]
        there = [each for each in written if each.key in live]
        changes = await all_ended(self._changes(each, *live[each.key], compared.ignore_fields) for each in there)
        self._found = {key: found for key, found in self._found.items() if key in live}
        shared = await self._shared([each for each in written if each.key not in live], compared)
        absent = [each for each in written if each.key not in live and each.key not in shared]
        foreign = {each.key: each for each in await all_ended(map(self._foreign, absent)) if each is not None}
        missing = (each for each in absent if each.key not in foreign and not may_be_gone(each.manifest.body))
        return Drift(
            missing=tuple(each.key for each in missing),
            foreign=tuple(foreign.values()),
            orphans=leftovers((each.manifest for each in compared.wanted), (body for _, body in live.values())),
            changed=(
                *(Changed(each.key, found) for each, found in zip(there, changes, strict=True) if found),
                *(Changed(key, found) for key, found in shared.items() if found),
            ),
        )

    async def _foreign(self, placed: Placed) -> Foreign | None:
        """The object of a manifest that is not among those of this application; None where there is none."""
        try:
            async with self._places:
                live = await self._cluster.get(placed.kind, placed.namespace, placed.key.name)
        except NotAllowed:
            return None
        if live is None or part(live, "metadata", "deletionTimestamp"):
            return None
        other = mark(live, APPLICATION)
        return Foreign(
            key=placed.key,
            api_version=placed.kind.api_version,
            uid=str(part(live, "metadata", "uid")),
            application=other if other and belongs_to(live, other) else "",
        )

    async def _shared(self, absent: Sequence[Placed], compared: Compared) -> dict[Key, tuple[Change, ...]]:
        """Of what is not this application's, what another one owns and this one shares, and how it differs."""
        found = {}
        for each in absent:
            if is_shareable(each.key):
                live = await self._cluster.get(each.kind, each.namespace, each.key.name)
                if live is not None and is_shared_with(live, compared.owner.application_id):
                    changes = await self._changes_of_shared(each, live, compared.owner)
                    found[each.key] = counting(changes, ignored_fields(compared.ignore_fields, each.manifest))
        return found

    async def _changes_of_shared(self, placed: Placed, live: Body, owner: Owner) -> tuple[Change, ...]:
        application_id = owner.application_id
        written = shared_body(placed.manifest.body, owner) if application_id in sharers(live) else placed.manifest.body
        try:
            answer = await self._cluster.apply(
                written, dry_run=True, force=True, manager=sharing_manager(application_id)
            )
        except UserError:
            return seeming_changes(live, written)
        return changes_by(live, answer, written)

    async def _changes(self, placed: Placed, seen: Seen, live: Body, ignore: tuple[str, ...]) -> tuple[Change, ...]:
        ignored = ignored_fields(ignore, placed.manifest)
        digest = _digest(seen, placed.manifest.body, ignored)
        known = self._found.get(placed.key)
        if known is not None and known[0] == digest:
            return known[1]
        if is_the_same(live, placed.manifest.body):
            changes: tuple[Change, ...] = ()
        else:
            async with self._places:
                changes = counting(await self.changes(placed, live), ignored)
        self._found[placed.key] = (digest, changes)
        return changes

    async def changes(self, placed: Placed, live: Body) -> tuple[Change, ...]:
        """What a sync would change of an object that is there."""
        written = placed.manifest.body
        try:
            answer = await self._asked(written)
            if not changes_by(live, answer, written) and not takes_over(answer, written):
                return ()
            whole, answer = await self._looked_at(placed, answer)
        except UserError:
            # It may not be asked, or does not take the values at all, as of a field that cannot be changed.
            return seeming_changes(live, written)
        changes = {each.path: each for each in await self._taken_away(placed, whole)}
        changes |= {each.path: each for each in changes_by(whole, answer, written)}
        if is_scaled_by_others(whole):
            changes.pop(_REPLICAS, None)
        return tuple(changes.values())

    async def _taken_away(self, placed: Placed, whole: Body) -> tuple[Change, ...]:
        """What goes when a sync takes over from kubectl.

        Of an object that we have never written all is kubectl's; it differs once it is ours.
        """
        written = placed.manifest.body
        patch = removal(whole, written) if is_written(whole) and takes_over(whole, written) else {}
        if not patch:
            return ()
        try:
            answer = await self._cluster.patch(placed.kind, placed.namespace, placed.key.name, patch, dry_run=True)
        except UserError:
            # What cannot be done without stays, whoever manages it.
            return ()
        return changes_by(whole, answer, written)

    async def _asked(self, written: Body) -> Body:
        # With force: whose a field is does not tell whether it is as Git says.
        return await self._cluster.apply(written, dry_run=True, force=True)

    async def _looked_at(self, placed: Placed, answer: Body) -> tuple[Body, Body]:
        """The object just as it was when it was asked about, and the answer.

        What is watched may be older, or in another version of the API, and does not tell who manages what.
        """
        whole = await self._cluster.get(placed.kind, placed.namespace, placed.key.name)
        for _ in range(_LOOKS):
            if whole is None or _version(whole) == _version(answer):
                break
            answer = await self._asked(placed.manifest.body)
            whole = await self._cluster.get(placed.kind, placed.namespace, placed.key.name)
        # One that has gone meanwhile is soon seen to be missing.
        return (answer if whole is None else whole), answer


def is_scaled_by_others(live: Body) -> bool:
    """Whether the number of replicas is an autoscaler's: stages leave it alone then, and so it is no drift."""
    found = part(live, "metadata", "managedFields") or ()
    managers = {each.get("manager", "") for each in found if part(each, "fieldsV1", "f:spec", "f:replicas") is not None}
    return bool(managers) and not any(each == FIELD_MANAGER or is_by_hand(each) for each in managers)


def _version(body: Body) -> str:
    return str(part(body, "metadata", "resourceVersion") or "")


def _digest(seen: Seen, written: Body, ignored: tuple[str, ...]) -> str:
    """What the answer depends on."""
    found = hashlib.blake2b(msgspec.json.encode([written, ignored]), digest_size=16)
    found.update(seen.managers)
    found.update(seen.packed)
    return found.hexdigest()
