"""Deploys an application once more when what runs has drifted from Git, where its file asks for that.

The decision is `delivery.trigger`'s. It needs to know how the last deployment ended and when, which the server knows;
what has ended does not change, so it is asked for once for each deployment.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

import msgspec
import structlog

from fairway.agent.applications import KnownApplication, Registered
from fairway.delivery.trigger import LastDeployment
from fairway.errors import FairwayError
from fairway.model.deployment import Deployment

_log = structlog.get_logger()

#: Times on the wire are whole seconds. What was seen before the last deployment ended says nothing of what runs now.
_WIRE_SECOND = timedelta(seconds=1)


class HealingDesk(msgspec.Struct, frozen=True, kw_only=True):
    """What an application is deployed again with."""

    registered: Registered
    #: A deployment, as the server knows it.
    find: Callable[[str], Awaitable[Deployment]]
    #: Deploys an application whose last deployment was this one, of that id, if it still is and that is decided.
    deploy: Callable[[str, LastDeployment | None, str], Awaitable[None]]


class Healing:
    """Belongs to one event loop."""

    def __init__(self, desk: HealingDesk) -> None:
        self._desk = desk
        #: Application id → its last deployment, where that has ended.
        self._ended: dict[str, tuple[str, LastDeployment]] = {}

    async def heal(self, known: KnownApplication, looked_at: datetime) -> None:
        """What ran of an application at that time differs from Git; said again for as long as it does."""
        if not heals(known):
            return
        try:
            application = self._desk.registered.get(known.application.id)
            reference = application.last_triggered if application else None
            last = None if reference is None else await self._last(known.application.id, reference.deployment_id)
            if last is None or last.completed_at is None or last.completed_at + _WIRE_SECOND < looked_at:
                after = reference.deployment_id if reference else ""
                await self._desk.deploy(known.application.id, last, after)
        except FairwayError as error:
            # It is still so at the next look.
            _log.warning("what has drifted is not deployed", application=known.application.name, reason=str(error))

    async def _last(self, application_id: str, deployment_id: str) -> LastDeployment:
        ended_id, ended = self._ended.get(application_id, ("", None))
        if ended is not None and ended_id == deployment_id:
            return ended
        found = await self._desk.find(deployment_id)
        last = LastDeployment(
            commit_hash=found.trigger.commit.hash, status=found.status, completed_at=found.completed_at
        )
        if found.status.is_terminal:
            self._ended[application_id] = (found.id, last)
        return last


def heals(known: KnownApplication) -> bool:
    """Whether an application's file asks for that."""
    return known.config is not None and not known.config.trigger.on_out_of_sync.disabled
