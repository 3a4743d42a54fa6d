"""A few attempts are free, then waits double; nobody else is made to wait, and memory stays bounded."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.clock import FakeClock
from fairway.server.sign_in.attempts import Attempts, Limit, network_of, wait_after
from fairway.server.status_codes import TooManyRequests

LIMIT = Limit(free=3, longest=timedelta(seconds=10), forgiven_after=timedelta(minutes=1))


def refused_for(attempts: Attempts, who: str = "jo") -> int:
    with pytest.raises(TooManyRequests) as caught:
        attempts.begin(who)
    return caught.value.retry_after_seconds


@pytest.mark.parametrize(
    ("failures", "seconds"), [(0, 0), (2, 0), (3, 1), (4, 2), (5, 4), (6, 8), (7, 10), (10**9, 10)]
)
def test_waits_begin_after_the_free_ones_and_double_up_to_the_longest(failures: int, seconds: int) -> None:
    assert wait_after(failures, LIMIT) == timedelta(seconds=seconds)


def test_attempts_at_once_count_before_they_have_failed() -> None:
    attempts = Attempts(FakeClock(), LIMIT)

    counted = [attempts.begin("jo") for _ in range(3)]

    assert counted == [1, 2, 3]
    assert refused_for(attempts) == 1


def test_after_the_wait_one_more_attempt_is_allowed_and_the_next_wait_is_longer() -> None:
    clock = FakeClock()
    attempts = Attempts(clock, LIMIT)
    for _ in range(3):
        attempts.begin("jo")

    clock.advance(timedelta(seconds=1))
    attempts.begin("jo")

    assert refused_for(attempts) == 2
    clock.advance(timedelta(seconds=1.5))
    assert refused_for(attempts) == 1


def test_a_refused_attempt_does_not_lengthen_the_wait() -> None:
    clock = FakeClock()
    attempts = Attempts(clock, LIMIT)
    for _ in range(3):
        attempts.begin("jo")
    for _ in range(100):
        refused_for(attempts)

    clock.advance(timedelta(seconds=1))

    assert attempts.begin("jo") == 4


def test_somebody_else_does_not_wait() -> None:
    attempts = Attempts(FakeClock(), LIMIT)
    for _ in range(3):
        attempts.begin("jo")

    assert attempts.begin("al") == 1


def test_quiet_for_long_enough_all_is_forgiven() -> None:
    clock = FakeClock()
    attempts = Attempts(clock, LIMIT)
    for _ in range(3):
        attempts.begin("jo")

    clock.advance(timedelta(minutes=1))

    assert attempts.begin("jo") == 1


def test_what_is_taken_back_does_not_count_and_what_is_forgiven_is_gone() -> None:
    attempts = Attempts(FakeClock(), LIMIT)
    for _ in range(10):
        attempts.begin("jo")
        attempts.take_back("jo")
    for _ in range(3):
        attempts.begin("al")

    attempts.forgive("al")

    assert (attempts.begin("jo"), attempts.begin("al")) == (1, 1)


def test_only_so_many_are_remembered_and_the_least_recent_is_forgotten_first() -> None:
    attempts = Attempts(FakeClock(), LIMIT, most=2)
    for who in ("jo", "al", "jo", "mo"):
        attempts.begin(who)

    assert len(attempts._failures) == 2
    assert (attempts.begin("jo"), attempts.begin("al")) == (3, 1)


def test_failures_are_recorded_when_waits_begin_and_whenever_they_have_doubled() -> None:
    attempts = Attempts(FakeClock(), LIMIT)

    assert [number for number in range(50) if attempts.is_worth_a_record(number)] == [3, 6, 12, 24, 48]


@pytest.mark.parametrize(
    ("address", "network"),
    [
        pytest.param("192.0.2.7", "192.0.2.7", id="IPv4"),
        pytest.param("::ffff:192.0.2.7", "192.0.2.7", id="IPv4 on an IPv6 socket"),
        pytest.param("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64", id="IPv6"),
        pytest.param("", "", id="not known"),
        pytest.param("somewhere", "somewhere", id="no address"),
    ],
)
def test_what_counts_as_one_place(address: str, network: str) -> None:
    assert network_of(address) == network


@given(st.text())
def test_any_text_counts_as_some_place(address: str) -> None:
    assert isinstance(network_of(address), str)
