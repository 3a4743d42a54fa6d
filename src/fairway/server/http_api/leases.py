"""Which of several agents with one id is at work."""

from datetime import datetime, timedelta

import msgspec
from litestar import get
from litestar.params import FromPath

from fairway.server.actions import leases as actions
from fairway.server.http_api.desk import ApiRequest, desk_of
from fairway.server.http_api.errors import REFUSALS
from fairway.server.http_api.routes import action
from fairway.server.store.leases import Lease

#: Who has not asked for so long is gone.
_STANDS_BY_FOR = timedelta(minutes=1)


class ShownLease(msgspec.Struct, frozen=True, kw_only=True):
    """Who is at work as an agent, and who stands by."""

    #: Host and process; empty when nobody is, or when the agent asks for no lease, as PipeCD's agents do not.
    at_work: str
    #: Since when; null when nobody is.
    since: datetime | None
    #: It grows with each new holder; 0 before the first.
    fencing_token: int
    #: Host and process of who asked last to take over; empty when nobody did.
    standing_by: str


@get(
    "/agents/{agent_id:str}/lease",
    summary="Which of several agents with this id is at work.",
    tags=["agents"],
    responses=REFUSALS,
)
async def get_lease(request: ApiRequest, agent_id: FromPath[str]) -> ShownLease:
    """Who is at work, and who stands by."""
    desk = desk_of(request)
    return _shown(await actions.get_lease(desk.actions, request.auth, agent_id), desk.clock.now())


@action("/agents/{agent_id:str}/release", "Let an agent that stands by take over at once.")
async def release_lease(request: ApiRequest, agent_id: FromPath[str]) -> ShownLease:
    """Only for who knows that the one at work is gone; otherwise both would be, until it hears of it."""
    desk = desk_of(request)
    return _shown(await actions.release_lease(desk.actions, request.auth, agent_id), desk.clock.now())


def _shown(lease: Lease | None, now: datetime) -> ShownLease:
    standby = None if lease is None else lease.standby
    if standby is not None and abs(now - standby.asked_at) > _STANDS_BY_FOR:
        standby = None
    at_work = lease if lease is not None and not lease.released else None
    return ShownLease(
        at_work="" if at_work is None else at_work.description,
        since=None if at_work is None else at_work.held_since,
        fencing_token=0 if lease is None else lease.fencing_token,
        standing_by="" if standby is None else standby.description,
    )


ROUTES = (get_lease, release_lease)
