"""What an agent may do with the lease it has, as time goes by: decisions alone; `lease` asks for it.

While somebody else waits, an agent that cannot renew has ended what it runs before its time is over, so it begins to do
so well before. While nobody waits its time is long; when even that is over, nothing new is begun.
"""

import enum
from typing import NamedTuple

import msgspec

#: After which part of its time an agent renews, and steps down if it could not and somebody waits.
RENEW_AT, STEP_DOWN_AT = 1 / 3, 2 / 3
#: For which part of its time what runs is asked to end, before it is made to.
GRACE = 1 / 6
#: After which part of a long time nothing new is begun.
PAUSE_AT = 0.95
#: After which part of a long time what an agent that is gone has left is asked to end, and made to.
_LEFT_ASKED_AT, _LEFT_MADE_AT = 0.9, 0.95
#: What a living agent runs goes on even after that, while nobody waits; and for so long if it is killed or hangs then.
_ALIVE_SECONDS = 15.0
#: However long a lease holds, it is renewed as often.
CALM_SECONDS = 60.0
#: Between two questions of somebody who waits, or whom nobody answers.
WAITING_SECONDS = 1.0


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """A lease as the last answer said it."""

    token: int
    #: When it was asked for.
    sent_at: float
    seconds: float
    standby_waiting: bool


class Ends(NamedTuple):
    """Seconds until scripts of an agent that does not renew get SIGTERM (`asked`) and SIGKILL (`made`)."""

    asked: float
    made: float


class Standing(enum.Enum):
    """What an agent at work may do."""

    #: Everything.
    ACT = "act"
    #: What it has begun goes on; nothing is begun.
    PAUSE = "pause"
    #: Nothing: it must end what it runs.
    STEP_DOWN = "step down"


def decide_standing(held: Held | None, now: float) -> Standing:
    """What an agent may do with a lease; without one, because the server knows none, everything."""
    if held is None or now < decide_until(held):
        return Standing.ACT
    return Standing.STEP_DOWN if held.standby_waiting else Standing.PAUSE


def decide_until(held: Held) -> float:
    """Until when it may act, if it cannot renew."""
    return held.sent_at + held.seconds * (STEP_DOWN_AT if held.standby_waiting else PAUSE_AT)


def decide_left_alone(held: Held, now: float) -> Ends:
    """When what the agent runs is to end if nobody hears of it from now on: before another one may begin."""
    left = held.sent_at - now
    if held.standby_waiting:
        return Ends(left + held.seconds * STEP_DOWN_AT, left + held.seconds * (STEP_DOWN_AT + GRACE))
    # A living agent moves these on, so that what it runs goes on while the server is unreachable and no agent waits.
    return Ends(
        max(left + held.seconds * _LEFT_ASKED_AT, _ALIVE_SECONDS),
        max(left + held.seconds * _LEFT_MADE_AT, _ALIVE_SECONDS * (1 + GRACE)),
    )


def decide_renewal(held: Held) -> float:
    """How many seconds after the last request the next one is sent."""
    return min(held.seconds * RENEW_AT, CALM_SECONDS)
