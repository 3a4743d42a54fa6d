"""How often something may happen, whatever becomes of the clock."""

from datetime import timedelta

from fairway.clock import FakeClock
from fairway.server.webhooks.rate import Rate
from tests.unit.model.builders import NOW


class SetClock(FakeClock):
    """A clock that somebody sets."""

    def set_back(self, by: timedelta) -> None:
        self._now -= by


def used_up(clock: FakeClock) -> Rate:
    rate = Rate(clock, at_once=2, per_second=0.5)
    rate.take("one")
    rate.take("one")
    return rate


def test_what_is_used_up_comes_back_with_time() -> None:
    clock = FakeClock(NOW)
    rate = used_up(clock)

    before = rate.wait_seconds("one")
    clock.advance(timedelta(seconds=2))

    assert (before, rate.wait_seconds("one"), rate.wait_seconds("another")) == (2.0, 0.0, 0.0)


def test_a_clock_that_is_set_back_keeps_nobody_waiting_for_the_time_that_has_passed_already() -> None:
    clock = SetClock(NOW)
    rate = used_up(clock)

    clock.set_back(timedelta(hours=3))

    assert rate.wait_seconds("one") == 0.0
    rate.take("one")
    rate.take("one")
    assert rate.wait_seconds("one") == 2.0
