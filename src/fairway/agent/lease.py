"""Whether this agent is at work: it asks the server for the lease of its id, and stands by while another one has it.

Time is counted from before a request was sent, by a clock that goes on while the machine sleeps. While somebody else
waits, an agent that cannot renew steps down well before its time is over: what it runs has ended then. While nobody
waits, its time is long; when even that is over it begins nothing new, and goes on when the server answers. A server
that knows no leases leaves its agents to themselves.

What an agent may do as time goes by is decided in `standing`; what it means to be at work, or to step down, is left to
`app`.
"""

import asyncio
import enum
import os
import platform
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol, Self
from uuid import uuid4

import msgspec
import structlog

from fairway.agent.control_plane import KeyRefused, LeasesUnknown, ServerAway, ServerRefused
from fairway.agent.left_alone import LeftAlone
from fairway.agent.own_data import Holders, read_holders, this_machine, write_holders
from fairway.agent.standing import (
    CALM_SECONDS,
    GRACE,
    WAITING_SECONDS,
    Held,
    Standing,
    decide_left_alone,
    decide_renewal,
    decide_standing,
    decide_until,
)
from fairway.errors import FairwayError
from fairway.rpc.agent_api import lease_messages

_log = structlog.get_logger()

_ANSWER_SECONDS = 5.0


class LeaseServer(Protocol):
    """Whoever gives leases."""

    async def hold(self, request: lease_messages.HoldRequest, seconds: float) -> lease_messages.HoldAnswer:
        """Ask; LeasesUnknown where there are none."""
        ...

    async def release(self, holder: str, seconds: float) -> None:
        """Let go."""
        ...

    def show(self, fencing_token: int) -> None:
        """Show this token with each call from now on; 0: none."""
        ...


class Role(enum.Enum):
    """How an agent stands to others with its id."""

    #: The server has not answered yet.
    WAITING = "waiting"
    #: Another one is at work.
    STANDBY = "standby"
    #: It is at work.
    ACTIVE = "active"
    #: It was, and is ending what it runs.
    STEPPING_DOWN = "stepping down"


class LeaseState(msgspec.Struct, frozen=True):
    """The same, in words too."""

    role: str = Role.ACTIVE.value
    reason: str = ""


class Lease:
    """The lease of one agent process. It belongs to one event loop."""

    def __init__(self, server: LeaseServer, data: Path, now: Callable[[], float]) -> None:
        self._server = server
        self._data = data
        self._now = now
        self._left_alone = LeftAlone(data)
        self._holders = read_holders(data)
        #: Whether the disk has them as they are.
        self._noted = True
        self._holder = ""
        self._held: Held | None = None
        self._woken = asyncio.Event()
        self._changed = asyncio.Condition()
        self.state = LeaseState(Role.WAITING.value, "the server has not answered yet")
        self._role = Role.WAITING
        self._answered = False
        #: Whether the last question found nobody; and who is told when the next one does.
        self._unheard = False
        self.heard_again: Callable[[], None] = lambda: None
        self._shut_out: KeyRefused | None = None
        #: Whether nobody else was at work since an agent with this data was.
        self.unbroken = True

    @classmethod
    @asynccontextmanager
    async def open(cls, server: LeaseServer, data: Path, now: Callable[[], float] | None = None) -> AsyncIterator[Self]:
        """A lease that is asked for while the block lasts."""
        lease = cls(server, data, now or _now)
        asking = asyncio.create_task(lease._ask_for_ever(), name="lease")
        try:
            yield lease
        finally:
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)

    async def reached(self, *roles: Role) -> Role:
        """The role, once it is one of these; KeyRefused when the server does not let this agent in from the start."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._role in roles or self._shut_out is not None)
            if self._shut_out is not None:
                raise self._shut_out
            return self._role

    async def may_begin(self) -> None:
        """Returns when something may be begun, at once while the lease allows it; never when it was lost."""
        if not self._may_begin():
            async with self._changed:
                await self._changed.wait_for(self._may_begin)

    def _may_begin(self) -> bool:
        return self._role is Role.ACTIVE and decide_standing(self._held, self._now()) is Standing.ACT

    async def at_work(self) -> None:
        """Returns while this agent is at work, whether it may begin something or not; never when it was replaced."""
        if self._role is not Role.ACTIVE:
            async with self._changed:
                await self._changed.wait_for(lambda: self._role is Role.ACTIVE)

    @property
    def role(self) -> Role:
        """How the agent stands to others with its id."""
        return self._role

    @property
    def grace_seconds(self) -> float:
        """How long what runs may take to end when the agent steps down."""
        return (self._held.seconds if self._held is not None and self._held.standby_waiting else 15.0) * GRACE

    def ask_soon(self) -> None:
        """Ask again: something may have changed."""
        self._woken.set()

    async def lose(self, reason: str) -> None:
        """Somebody else is at work."""
        if self._role is Role.ACTIVE:
            _log.error("this agent is not at work any more: it ends what it runs", reason=reason)
            await self._become(Role.STEPPING_DOWN, reason)

    async def stepped_down(self) -> None:
        """Nothing runs any more: from now on the agent waits like any other."""
        self._held, self._holder = None, ""
        await self._become(Role.WAITING, "it has stepped down")
        self._woken.set()

    async def release(self) -> None:
        """Let go, so that another one can be at work at once."""
        if self._holder:
            with suppress(FairwayError):
                await self._server.release(self._holder, _ANSWER_SECONDS)

    async def _ask_for_ever(self) -> None:
        while True:
            if self._role is Role.STEPPING_DOWN:
                await self.reached(Role.WAITING)
            pause = await self._ask()
            if self._role is Role.ACTIVE and decide_standing(self._held, self._now()) is Standing.STEP_DOWN:
                await self.lose("the server did not answer, and another agent stands by to take over")
                continue
            if not self._noted:
                pause = min(pause, WAITING_SECONDS)
            with suppress(TimeoutError):
                async with asyncio.timeout(max(0.0, self._within(pause))):
                    await self._woken.wait()
            self._woken.clear()

    async def _ask(self) -> float:
        """Ask once; how many seconds to wait before the next time."""
        request, sent_at = self._request(), self._now()
        try:
            # A second is enough for a last attempt; a time that is over is found out by the next look.
            answer = await self._server.hold(request, max(0.5, self._within(_ANSWER_SECONDS)))
        except LeasesUnknown as error:
            return await self._unknown(str(error))
        except (ServerAway, ServerRefused) as error:
            pause = await self._unanswered(error)
            self._unheard = True
            return pause
        self._answered = True
        if self._unheard:
            self._unheard = False
            if self._role is not Role.ACTIVE:
                _log.info("the server answers")
            self.heard_again()
        if self._role is Role.STEPPING_DOWN or request.holder != self._holder:
            # A report was refused meanwhile; what the server said before that counts no more.
            return 0.0
        return await (self._granted(answer, sent_at) if answer.granted else self._refused(answer))

    def _request(self) -> lease_messages.HoldRequest:
        if not self._holder:
            # Written down before the server hears of it: whoever comes next must know that it came after us.
            self._holder = uuid4().hex
            self._remember(self._holders.names, self._holders.fencing_token)
        elif not self._noted:
            self._note()
        return lease_messages.HoldRequest(
            holder=self._holder,
            description=f"host {platform.node()}, pid {os.getpid()}",
            predecessors=[each for each in self._holders.names if each != self._holder],
            fencing_token=self._holders.fencing_token,
            held_seconds=0.0 if self._held is None else self._held.seconds,
        )

    async def _granted(self, answer: lease_messages.HoldAnswer, sent_at: float) -> float:
        before, token = self._held, answer.fencing_token
        if self._role is Role.ACTIVE and before is not None and token > before.token + 1:
            # What this agent knows and runs is from before that one, and with the new token it would be believed. The
            # token is not kept, so that by the next one it is still seen that somebody was there.
            await self.lose("another agent was at work while the server did not answer this one")
            return 0.0
        if self._role is not Role.ACTIVE or before is None or before.token != token:
            self.unbroken = token <= self._holders.fencing_token + 1
            self._remember((), token)
            self._server.show(token)
            _log.info("this agent is at work", fencing_token=token)
        self._held = held = Held(
            token=token, sent_at=sent_at, seconds=answer.seconds, standby_waiting=answer.standby_waiting
        )
        # Before the server hears, by the next request, that a shorter time is known.
        self._left_alone.until(decide_left_alone(held, self._now()), token)
        waits = "; another agent stands by" if held.standby_waiting else ""
        await self._become(Role.ACTIVE, f"it holds the lease with fencing token {token}{waits}")
        # The server may rely on the shorter time only when it has heard that we know it.
        shortened = before is not None and held.seconds < before.seconds
        return 0.0 if shortened else decide_renewal(held) - (self._now() - sent_at)

    async def _refused(self, answer: lease_messages.HoldAnswer) -> float:
        since = datetime.fromtimestamp(answer.held_since, UTC)
        reason = f"another agent is active on {answer.held_by}, since {since:%Y-%m-%d %H:%M:%S} UTC"
        if self._role is Role.ACTIVE:
            await self.lose(reason)
            return 0.0
        after = f"this one takes over when nothing is heard of it for {answer.free_after_seconds:g} seconds"
        if self._role is not Role.STANDBY:
            _log.info("standing by", reason=reason, then=after)
        await self._become(Role.STANDBY, f"{reason}; {after}")
        return WAITING_SECONDS

    async def _unknown(self, reason: str) -> float:
        if self._role is not Role.ACTIVE or self._held is not None:
            _log.info("the agent works without a lease", reason=reason)
        self._held = None
        self._left_alone.for_ever()
        self._server.show(0)
        await self._become(Role.ACTIVE, reason)
        return CALM_SECONDS

    async def _unanswered(self, error: ServerAway | ServerRefused) -> float:
        reason = str(error)
        if isinstance(error, KeyRefused) and not self._answered:
            self._shut_out = error
        if self._role in (Role.WAITING, Role.STANDBY):
            if not self._unheard and self._shut_out is None:
                # Of an agent at work the reports say so, which are kept on disk meanwhile.
                _log.warning("the server does not answer; it is asked again and again", reason=reason)
            await self._become(self._role, f"it waits for the server: {reason}")
        elif self._held is not None and decide_standing(self._held, self._now()) is not Standing.STEP_DOWN:
            self._left_alone.until(decide_left_alone(self._held, self._now()), self._held.token)
            if decide_standing(self._held, self._now()) is Standing.PAUSE:
                await self._become(Role.ACTIVE, f"nothing new is begun until the server answers: {reason}")
        return WAITING_SECONDS

    def _within(self, seconds: float) -> float:
        """So many seconds, or less when the agent must step down before that."""
        if self._role is not Role.ACTIVE or self._held is None or not self._held.standby_waiting:
            return seconds
        return min(seconds, decide_until(self._held) - self._now())

    async def _become(self, role: Role, reason: str) -> None:
        async with self._changed:
            self._role, self.state = role, LeaseState(role.value, reason)
            self._changed.notify_all()

    def _remember(self, names: tuple[str, ...], token: int) -> None:
        self._holders = Holders(machine=this_machine(), names=(*names, self._holder), fencing_token=token)
        self._note()

    def _note(self) -> None:
        try:
            # A few bytes, once for each time that somebody else is at work.
            write_holders(self._data, self._holders)
            self._noted = True
        except OSError as error:
            # Tried again with each question. If this agent is killed before, it costs the next one some seconds; and
            # reports that are kept for the server, since the next one cannot know that they are its own.
            if self._noted:
                _log.warning("the agent cannot note under which name it works", reason=str(error))
            self._noted = False


def _now() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)
