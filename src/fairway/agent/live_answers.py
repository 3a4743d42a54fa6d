"""One picture of an application from what several plugins say of it."""

import hashlib
from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec

from fairway.agent.applications import KnownApplication
from fairway.agent.masking import Opened
from fairway.agent.plugins.live_answer import LiveAnswer
from fairway.delivery.trigger import Drift
from fairway.model.application import SyncState, SyncStatus
from fairway.model.live_state import Health, Resource

#: Of several states the first of these is that of the whole; the wire's order of importance.
_IMPORTANCE = (
    SyncStatus.DEPLOYING,
    SyncStatus.INVALID_CONFIG,
    SyncStatus.OUT_OF_SYNC,
    SyncStatus.UNKNOWN,
    SyncStatus.SYNCED,
)


def masked_answer(answer: LiveAnswer, opened: Opened) -> LiveAnswer:
    """What a plugin says that has read the files, without secrets."""
    if opened.redactor.masks_nothing:
        return answer
    masked = opened.masked
    sync = msgspec.structs.replace(
        answer.sync, short_reason=masked(answer.sync.short_reason), reason=masked(answer.sync.reason)
    )
    resources = (
        msgspec.structs.replace(
            each,
            health_description=masked(each.health_description),
            metadata={key: masked(value) for key, value in each.metadata.items()},
        )
        for each in answer.resources
    )
    return msgspec.structs.replace(answer, resources=tuple(resources), sync=sync)


def merged_sync(states: Sequence[SyncState], now: datetime) -> SyncState:
    """The state of the whole: that of the part which needs a person's eye most, with everybody's reasons."""
    worst = min(states, key=lambda state: _IMPORTANCE.index(state.status))
    alike = [state for state in states if state.status is worst.status]
    reasons = [state.reason or state.short_reason for state in alike]
    return SyncState(
        status=worst.status,
        at=now,
        short_reason=worst.short_reason,
        reason="\n".join(reason for reason in reasons if reason),
    )


def drift_of(known: KnownApplication, sync: SyncState, answers: Sequence[LiveAnswer]) -> Drift | None:
    """How what runs differs from Git; None where it does not, or nobody can tell."""
    if sync.status is not SyncStatus.OUT_OF_SYNC:
        return None
    # Commits of other applications come and go; what this one's file says decides what a deployment would do.
    said = f"{sync.reason.replace(known.commit[:7], '')} {known.config!r}"
    return Drift(
        words=sync.short_reason,
        digest=hashlib.blake2b(said.encode(), digest_size=16).hexdigest(),
        mendable=any(each.mendable for each in answers if each.sync.status is SyncStatus.OUT_OF_SYNC),
    )


def health_of(answers: Sequence[LiveAnswer]) -> Health:
    """The health of all that plugins see; a plugin that sees nothing, and says why, leaves its part unknown."""
    blind = [each for each in answers if each.sync.status is SyncStatus.UNKNOWN and each.sync.short_reason]
    parts = [resource.health for answer in answers for resource in answer.resources]
    return merged_health([*parts, *(Health.UNKNOWN for each in blind if not each.resources)])


def merged_health(parts: Sequence[Health]) -> Health:
    """The health of the whole; nobody knows that of nothing."""
    if Health.UNHEALTHY in parts:
        return Health.UNHEALTHY
    return Health.UNKNOWN if not parts or Health.UNKNOWN in parts else Health.HEALTHY


def with_times(resources: Sequence[Resource], before: Iterable[Resource], now: datetime) -> tuple[Resource, ...]:
    """The resources with their times: where the plugin gives none, when each was first and when it last was otherwise.

    One that is as it was keeps its times, so that a plugin that has a new time in each answer does not make a change.
    """
    known = {(each.plugin_name, each.id): each for each in before}
    timed = []
    for resource in resources:
        old = known.get((resource.plugin_name, resource.id))
        if old is not None and _timeless(old) == _timeless(resource):
            timed.append(old)
            continue
        created = resource.created_at or (old.created_at if old else None) or now
        updated = resource.updated_at or now
        timed.append(msgspec.structs.replace(resource, created_at=created, updated_at=updated))
    return tuple(timed)


def _timeless(resource: Resource) -> Resource:
    return msgspec.structs.replace(resource, created_at=None, updated_at=None)
