"""How often something may happen: a bucket for each key that fills with time and is emptied by use.

Bounded in memory: the key that was used longest ago is forgotten, which is to say its bucket is full again.
"""

from collections import OrderedDict

from fairway.clock import Clock

REMEMBERED_KEYS = 10_000


class Rate:
    """So many at once, and so many a second after that, for each key."""

    def __init__(self, clock: Clock, at_once: int, per_second: float) -> None:
        self._clock = clock
        self._at_once = at_once
        self._per_second = per_second
        #: Key → what is left, and when that was so; the one used last comes last.
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_seconds(self, key: str) -> float:
        """How long until there is one; 0 when there is one now."""
        return max(0.0, (1.0 - self._left(key)) / self._per_second)

    def take(self, key: str) -> None:
        """Use one."""
        left = self._left(key) - 1.0
        self._buckets[key] = (left, self._clock.now().timestamp())
        self._buckets.move_to_end(key)
        if len(self._buckets) > REMEMBERED_KEYS:
            self._buckets.popitem(last=False)

    def _left(self, key: str) -> float:
        left, at = self._buckets.get(key, (float(self._at_once), 0.0))
        passed = self._clock.now().timestamp() - at
        if passed < 0:
            # Somebody has set the clock back: how much time has passed nobody knows.
            return float(self._at_once)
        return min(float(self._at_once), left + passed * self._per_second)
