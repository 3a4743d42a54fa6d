"""How often somebody may try to sign in: a few times freely, then with waits that double.

Counted by person, so that one name is not tried out from everywhere, and by network address, so that one place does not
try out every name. An attempt counts when it begins, since many may be under way before the first has failed; one that
succeeds is taken back. Kept in memory, and of a bounded number: who comes least recently is forgotten first. Replicas
count for themselves, so with three of them an attacker has three times a small number.
"""

import ipaddress
import math
from collections import OrderedDict
from datetime import datetime, timedelta

import msgspec

from fairway.clock import Clock
from fairway.server.status_codes import TooManyRequests


class Limit(msgspec.Struct, frozen=True, kw_only=True):
    """How much is allowed."""

    #: Failures without a wait.
    free: int
    #: The wait after all others.
    longest: timedelta
    #: Quiet for so long, everything is forgiven.
    forgiven_after: timedelta = timedelta(minutes=30)


#: Nobody is kept out for more than a minute by somebody else who tries their name.
BY_USER = Limit(free=5, longest=timedelta(minutes=1))
#: Many people may share an address.
BY_ADDRESS = Limit(free=20, longest=timedelta(minutes=15))
#: How many people or addresses are remembered.
MOST = 10_000


def wait_after(failures: int, limit: Limit) -> timedelta:
    """How long to wait after so many failures: 1 s, 2 s, 4 s … once the free ones are used up."""
    beyond = failures - limit.free
    # The exponent is cut off because two to the millionth is a number that takes a while.
    return min(timedelta(seconds=2 ** min(beyond, 30)), limit.longest) if beyond >= 0 else timedelta(0)


class Attempts:
    """Counts failures by whatever text stands for somebody."""

    def __init__(self, clock: Clock, limit: Limit, most: int = MOST) -> None:
        self._clock = clock
        self._limit = limit
        self._most = most
        self._failures: OrderedDict[str, tuple[int, datetime]] = OrderedDict()

    def begin(self, who: str) -> int:
        """Count an attempt, which is then the so many-th; TooManyRequests when it comes too early."""
        now = self._clock.now()
        failures, last = self._failures.get(who, (0, now))
        if now - last >= self._limit.forgiven_after:
            failures = 0
        wait = last + wait_after(failures, self._limit) - now
        if failures and wait > timedelta(0):
            seconds = math.ceil(wait.total_seconds())
            raise TooManyRequests(f"too many attempts to sign in; try again in {_in_words(seconds)}", seconds)
        self._failures[who] = (failures + 1, now)
        self._failures.move_to_end(who)
        while len(self._failures) > self._most:
            self._failures.popitem(last=False)
        return failures + 1

    def take_back(self, who: str) -> None:
        """One attempt was none of those that count."""
        failures, last = self._failures.get(who, (0, self._clock.now()))
        if failures > 1:
            self._failures[who] = (failures - 1, last)
        else:
            self.forgive(who)

    def forgive(self, who: str) -> None:
        """Forget all attempts of somebody."""
        self._failures.pop(who, None)

    def is_worth_a_record(self, attempt: int) -> bool:
        """Whether the so many-th failure is written down: where waits begin, and whenever there are twice as many."""
        times, rest = divmod(attempt, self._limit.free)
        return rest == 0 and times > 0 and times & (times - 1) == 0


def _in_words(seconds: int) -> str:
    return "1 second" if seconds == 1 else f"{seconds} seconds"


def network_of(address: str) -> str:
    """What counts as one place: an IPv4 address, or the 64 bits of an IPv6 one that a household has to itself."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.ipv4_mapped is None:
        return str(ipaddress.ip_network((int(parsed) >> 64 << 64, 64)))
    return str(getattr(parsed, "ipv4_mapped", None) or parsed)
