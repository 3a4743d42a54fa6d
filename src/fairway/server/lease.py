"""Whether an agent that asks for the lease gets it: decisions alone; `lease_service` asks and stores.

Never two may believe that they hold it. A holder counts from before it sent its request, so it stops believing before
the time has passed here. How much time has passed is not read from anybody's calendar: a replica takes a lease for run
out when it has itself watched it for the whole time without seeing it renewed, by a clock that only goes forward. So a
server that was away, or whose clock was set, gives away nothing that a living holder could not renew meanwhile.

While nobody else waits a lease holds for long, so that an agent works on when the server is away for minutes. It is
made short only when its holder has said, in the next request, that it knows: the answer that says so may get lost.
"""

from datetime import datetime, timedelta

import msgspec

from fairway.server.store.leases import Lease, Standby

#: How long a lease holds while somebody else waits.
SECONDS = 15.0
#: So many times longer it holds while nobody does.
ALONE_TIMES = 20


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody asks for the lease of an agent."""

    agent_id: str
    holder: str
    description: str
    #: Holders that do nothing any more, as the caller knows for certain.
    predecessors: tuple[str, ...] = ()
    #: The highest token that the caller was ever given.
    fencing_token: int = 0
    #: How long it may believe that it holds the lease, from when it was last renewed.
    held_seconds: float = 0.0
    #: The name of this very request.
    beat: str


class HoldDecision(msgspec.Struct, frozen=True):
    """What somebody who asked is told, and the lease as it is from then on."""

    granted: bool
    lease: Lease
    #: What the caller is told; the lease may hold longer, for an answer that it has not seen.
    seconds: float
    standby_waiting: bool


class Times(msgspec.Struct, frozen=True):
    """How long leases hold."""

    seconds: float = SECONDS

    @property
    def alone(self) -> float:
        """While nobody else waits."""
        return self.seconds * ALONE_TIMES

    @property
    def standby_forgotten(self) -> timedelta:
        """Who has not asked for so long does not wait any more."""
        return timedelta(seconds=2 * self.seconds)

    @property
    def standby_noted(self) -> timedelta:
        """That somebody still waits is noted anew after so long."""
        return timedelta(seconds=self.seconds / 2)


def decide_hold(lease: Lease | None, asking: Asking, quiet_seconds: float, times: Times, now: datetime) -> HoldDecision:
    """Whether the caller holds the lease from now on, of which nothing was heard for so long."""
    if lease is None:
        return _granted(_taken(None, asking, now), None, 0.0, times)
    waiting = _waiting(lease.standby, asking, times, now)
    if lease.holder == asking.holder and not lease.released:
        return _granted(msgspec.structs.replace(lease, beat=asking.beat), waiting, asking.held_seconds, times)
    if lease.released or lease.holder in asking.predecessors or quiet_seconds >= lease.seconds:
        return _granted(_taken(lease, asking, now), waiting, 0.0, times)
    return HoldDecision(False, _waited_for(lease, asking, times, now), 0.0, False)


def decide_release(lease: Lease | None, holder: str) -> Lease | None:
    """The lease when a caller has let go of it, or of waiting for it; the same object when it had neither."""
    if lease is None:
        return None
    if lease.holder == holder and not lease.released:
        return msgspec.structs.replace(lease, released=True)
    if lease.standby is not None and lease.standby.holder == holder:
        return msgspec.structs.replace(lease, standby=None)
    return lease


def _granted(lease: Lease, waiting: Standby | None, held_seconds: float, times: Times) -> HoldDecision:
    told = times.alone if waiting is None else times.seconds
    # Until the caller says that it has seen this answer, it may go by the one before.
    held = msgspec.structs.replace(lease, seconds=max(told, held_seconds), standby=waiting)
    return HoldDecision(True, held, told, waiting is not None)


def _taken(lease: Lease | None, asking: Asking, now: datetime) -> Lease:
    # A database that was restored from a backup may know less than the caller.
    last = max(asking.fencing_token, 0 if lease is None else lease.fencing_token)
    return Lease(
        id=asking.agent_id,
        fencing_token=last + 1,
        holder=asking.holder,
        description=asking.description,
        held_since=now,
        seconds=0.0,
        beat=asking.beat,
    )


def _waiting(standby: Standby | None, asking: Asking, times: Times, now: datetime) -> Standby | None:
    """Who waits beside the caller."""
    if standby is None or standby.holder in (asking.holder, *asking.predecessors):
        return None
    return standby if abs(now - standby.asked_at) <= times.standby_forgotten else None


def _waited_for(lease: Lease, asking: Asking, times: Times, now: datetime) -> Lease:
    """The lease with a note that the caller waits; the same object where that is noted and not long ago."""
    noted = lease.standby
    if noted is not None and noted.holder == asking.holder and abs(now - noted.asked_at) < times.standby_noted:
        return lease
    standby = Standby(holder=asking.holder, description=asking.description, asked_at=now)
    return msgspec.structs.replace(lease, standby=standby)
