"""Time as it passes: a clock that is set changes nothing of how long something has taken."""

from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from fairway.agent.passing import PassingTime
from fairway.clock import Clock
from tests.unit.model.builders import NOW

HOURS = st.timedeltas(timedelta(hours=-48), timedelta(hours=48))


class SetClock(Clock):
    """A clock that people set."""

    def __init__(self) -> None:
        self.time = NOW

    def now(self) -> datetime:
        return self.time


@given(st.lists(st.tuples(HOURS, st.integers(0, 10_000))))
def test_what_has_passed_is_told_whatever_the_clock_is_set_to(steps: list[tuple[timedelta, int]]) -> None:
    clock, passed = SetClock(), [0.0]
    time = PassingTime(clock, lambda: passed[0])

    for set_by, seconds in steps:
        clock.time += set_by
        passed[0] += seconds

    assert time.now() == NOW + timedelta(seconds=sum(seconds for _, seconds in steps))


@given(HOURS)
def test_what_was_noted_before_is_not_later_than_when_it_was_taken_up(ahead: timedelta) -> None:
    time = PassingTime(SetClock(), lambda: 0.0)

    assert time.from_before(NOW + ahead) == min(NOW + ahead, NOW)
