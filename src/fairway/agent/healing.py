"""Deploys an application once more when what runs has drifted from Git, where its file asks for that.

The decision is `delivery.trigger`'s. It needs to know how the last deployment ended, when, and against which difference
it was made, which the server knows; what has ended does not change, so it is asked for once for each deployment.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

import msgspec
import structlog

from fairway.agent.applications import KnownApplication, Registered
from fairway.delivery.trigger import DRIFT_NOTE, Drift, LastDeployment, not_mended
from fairway.errors import FairwayError
from fairway.model.application import Application, SyncStatus
from fairway.model.deployment import Deployment

_log = structlog.get_logger()

#: Times on the wire are whole seconds. What was seen before the last deployment ended says nothing of what runs now.
_WIRE_SECOND = timedelta(seconds=1)


class HealingDesk(msgspec.Struct, frozen=True, kw_only=True):
    """What an application is deployed again with."""

    registered: Registered
    #: A deployment, as the server knows it.
    find: Callable[[str], Awaitable[Deployment]]
    #: Deploys an application that differs so, if its last deployment still is this one and that is decided.
    deploy: Callable[[str, Drift, "Before"], Awaitable[None]]


class Before(msgspec.Struct, frozen=True):
    """What was deployed last when a difference was seen."""

    last: LastDeployment | None
    #: Its id; empty where there was none.
    deployment_id: str


class Healing:
    """Belongs to one event loop."""

    def __init__(self, desk: HealingDesk) -> None:
        self._desk = desk
        #: Application id → its last deployment, where that has ended.
        self._ended: dict[str, tuple[str, LastDeployment]] = {}
        #: Application id → the last deployment after which it was seen to be as Git says.
        self._synced: dict[str, str] = {}

    def note_synced(self, known: KnownApplication) -> None:
        """What runs of an application is what Git says."""
        if heals(known):
            self._synced[known.application.id] = _last_id(self._application(known))

    async def remark(self, known: KnownApplication, drift: Drift) -> str:
        """What is to be said of an application that is not deployed again, because that would not mend it."""
        if not heals(known):
            return ""
        try:
            before = await self._before(known)
        except FairwayError:
            # It is found out at the next look.
            return ""
        return not_mended(self._as_seen(known, drift, before), before.last)

    async def heal(self, known: KnownApplication, drift: Drift, looked_at: datetime) -> None:
        """What ran of an application at that time differs from Git; said again for as long as it does."""
        if not heals(known):
            return
        try:
            before = await self._before(known)
            last = before.last
            if last is None or last.completed_at is None or last.completed_at + _WIRE_SECOND < looked_at:
                await self._desk.deploy(known.application.id, self._as_seen(known, drift, before), before)
        except FairwayError as error:
            # It is still so at the next look.
            _log.warning("what has drifted is not deployed", application=known.application.name, reason=str(error))

    def _application(self, known: KnownApplication) -> Application | None:
        return self._desk.registered.get(known.application.id)

    async def _before(self, known: KnownApplication) -> Before:
        last_id = _last_id(self._application(known))
        return Before(await self._last(known.application.id, last_id) if last_id else None, last_id)

    def _as_seen(self, known: KnownApplication, drift: Drift, before: Before) -> Drift:
        """With whether it was mended meanwhile: this agent has seen it, or the one before has told the server so."""
        application, ended_at = self._application(known), before.last.completed_at if before.last else None
        told = application.sync_state if application else None
        then = told is not None and told.status is SyncStatus.SYNCED and ended_at is not None and told.at > ended_at
        anew = then or self._synced.get(known.application.id) == before.deployment_id
        return msgspec.structs.replace(drift, anew=anew)

    async def _last(self, application_id: str, deployment_id: str) -> LastDeployment:
        ended_id, ended = self._ended.get(application_id, ("", None))
        if ended is not None and ended_id == deployment_id:
            return ended
        found = await self._desk.find(deployment_id)
        last = LastDeployment(
            commit_hash=found.trigger.commit.hash,
            status=found.status,
            completed_at=found.completed_at,
            drift=found.shared_metadata.get(DRIFT_NOTE, ""),
        )
        if found.status.is_terminal:
            self._ended[application_id] = (found.id, last)
        return last


def heals(known: KnownApplication) -> bool:
    """Whether an application's file asks for that."""
    return known.config is not None and not known.config.trigger.on_out_of_sync.disabled


def _last_id(application: Application | None) -> str:
    last = application.last_triggered if application else None
    return last.deployment_id if last else ""
