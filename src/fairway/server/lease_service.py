"""Leases on the wire: agents of one id ask for theirs here, and any replica answers.

What is remembered between two requests is only how long each lease has been seen unrenewed; a replica that has just
started has seen nothing, and so gives away no lease that it has not watched. Decisions are made in `lease`, under the
lock of the row. Most requests of somebody who waits change nothing, and then nothing is written.
"""

import math
from collections.abc import Awaitable, Callable
from uuid import uuid4

import msgspec
from sqlalchemy import Connection

from fairway.clock import Clock
from fairway.rpc.agent_api import LeaseServicer, lease_messages
from fairway.rpc.context import CallContext
from fairway.server.hints import HintBoard, HintTopic
from fairway.server.lease import Asking, HoldDecision, Times, decide_hold, decide_release
from fairway.server.status_codes import InvalidRequest, abort_for
from fairway.server.store.errors import AlreadyExists
from fairway.server.store.leases import Lease, change_lease, find_lease
from fairway.server.store.store import Store

#: Returns the id of the calling agent, or ends the call with an error.
Authenticate = Callable[[CallContext], Awaitable[str]]

_LONGEST_TEXT = 200
_MOST_NAMES = 50
#: What nobody reaches by counting; a database counts a little further.
_HIGHEST_TOKEN = 2**53
_LONGEST_HOLD_SECONDS = 7 * 24 * 3600.0


class LeaseDesk(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of the server that leases are given from."""

    store: Store
    hints: HintBoard
    clock: Clock
    #: Seconds by a clock that only goes forward.
    forward: Callable[[], float]
    times: Times = Times()


class LeaseService(LeaseServicer):
    """Gives leases to agents."""

    def __init__(self, desk: LeaseDesk, authenticate: Authenticate) -> None:
        self._desk = desk
        self._authenticate = authenticate
        #: Agent → the beat of its lease that was seen last, and when that was first seen.
        self._seen: dict[str, tuple[str, float]] = {}

    async def Hold(self, request: lease_messages.HoldRequest, context: CallContext) -> lease_messages.HoldAnswer:
        agent_id = await self._authenticate(context)
        try:
            return _answer(await self._hold(_asking(agent_id, request)))
        except Exception as error:
            await abort_for(error, context)

    async def Release(
        self, request: lease_messages.ReleaseRequest, context: CallContext
    ) -> lease_messages.ReleaseAnswer:
        agent_id = await self._authenticate(context)
        try:
            await self._desk.store.write(
                lambda connection: change_lease(
                    connection, agent_id, lambda lease: decide_release(lease, request.holder)
                )
            )
        except Exception as error:
            await abort_for(error, context)
        self._desk.hints.publish(agent_id, HintTopic.LEASE)
        return lease_messages.ReleaseAnswer()

    async def _hold(self, asking: Asking) -> HoldDecision:
        found = await self._desk.store.read(lambda connection: find_lease(connection, asking.agent_id))
        decision = self._decide(found, asking)
        if decision.lease is found:
            return decision

        def record(connection: Connection) -> HoldDecision:
            decided: list[HoldDecision] = []

            def change(lease: Lease | None) -> Lease:
                decided.append(self._decide(lease, asking))
                return decided[-1].lease

            change_lease(connection, asking.agent_id, change)
            return decided[-1]

        try:
            decision = await self._desk.store.write(record)
        except AlreadyExists:
            # Somebody else was the first to ask, at the same moment; now there is a lease to look at.
            decision = await self._desk.store.write(record)
        self._quiet_seconds(decision.lease)
        if not decision.granted and _waiters(decision.lease) != _waiters(found):
            # So that whoever is at work learns of it before its next renewal, which may be a minute away.
            self._desk.hints.publish(asking.agent_id, HintTopic.LEASE)
        return decision

    def _decide(self, lease: Lease | None, asking: Asking) -> HoldDecision:
        quiet = 0.0 if lease is None else self._quiet_seconds(lease)
        return decide_hold(lease, asking, quiet, self._desk.times, self._desk.clock.now())

    def _quiet_seconds(self, lease: Lease) -> float:
        """For how long this process has seen the lease as it is; 0 when it is new to it."""
        now = self._desk.forward()
        beat, since = self._seen.get(lease.id, ("", now))
        if beat != lease.beat:
            self._seen[lease.id] = (lease.beat, now)
            return 0.0
        return now - since


def _waiters(lease: Lease | None) -> str:
    return "" if lease is None or lease.standby is None else lease.standby.holder


def _asking(agent_id: str, request: lease_messages.HoldRequest) -> Asking:
    names = (request.holder, *request.predecessors)
    if not all(names) or max(map(len, names)) > _LONGEST_TEXT or len(names) > _MOST_NAMES:
        raise InvalidRequest(
            f"holder or predecessors are empty, too long or too many; expected at most {_MOST_NAMES} names of "
            f"{_LONGEST_TEXT} characters"
        )
    if not 0 <= request.fencing_token <= _HIGHEST_TOKEN or not 0.0 <= request.held_seconds <= _LONGEST_HOLD_SECONDS:
        raise InvalidRequest("fencing_token or held_seconds is out of range; send what the last answer said, or 0")
    return Asking(
        agent_id=agent_id,
        holder=request.holder,
        description=request.description[:_LONGEST_TEXT],
        predecessors=tuple(request.predecessors),
        fencing_token=request.fencing_token,
        held_seconds=request.held_seconds,
        beat=uuid4().hex,
    )


def _answer(decision: HoldDecision) -> lease_messages.HoldAnswer:
    lease = decision.lease
    return lease_messages.HoldAnswer(
        granted=decision.granted,
        fencing_token=lease.fencing_token if decision.granted else 0,
        seconds=decision.seconds,
        standby_waiting=decision.standby_waiting,
        held_by=lease.description,
        held_since=math.floor(lease.held_since.timestamp()),
        free_after_seconds=0.0 if decision.granted else lease.seconds,
    )
