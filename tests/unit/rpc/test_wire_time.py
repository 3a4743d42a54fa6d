"""Times are whole seconds on the wire, and zero is a time that has not come."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.rpc.convert.wire_enum import WireError
from fairway.rpc.convert.wire_time import (
    from_wire_duration,
    from_wire_time,
    from_wire_time_or_none,
    to_wire_duration,
    to_wire_time,
)

NINE = datetime(2026, 3, 1, 9, tzinfo=UTC)


@given(st.integers(0, 253_402_300_799))
def test_seconds_survive(seconds: int) -> None:
    assert to_wire_time(from_wire_time(seconds)) == seconds


@pytest.mark.parametrize(
    ("at", "seconds"),
    [
        pytest.param(None, 0, id="not yet"),
        pytest.param(NINE, 1772355600, id="a time in UTC"),
        pytest.param(NINE.astimezone(timezone(timedelta(hours=9))), 1772355600, id="the same moment in Tokyo"),
        pytest.param(NINE + timedelta(microseconds=999_999), 1772355600, id="fractions are cut off"),
    ],
)
def test_a_time_becomes_unix_seconds(at: datetime | None, seconds: int) -> None:
    assert to_wire_time(at) == seconds


def test_zero_is_a_time_that_has_not_come() -> None:
    assert (from_wire_time_or_none(0), from_wire_time_or_none(1772355600)) == (None, NINE)


def test_a_time_without_a_zone_is_a_mistake_of_ours() -> None:
    with pytest.raises(ValueError, match="has no time zone"):
        to_wire_time(datetime(2026, 3, 1))  # noqa: DTZ001  # what the test is about


@pytest.mark.parametrize(
    "seconds",
    [
        pytest.param(-1, id="before 1970"),
        pytest.param(253_402_300_800, id="after the year 9999"),
        pytest.param(1_772_355_600_000_000_000, id="nanoseconds"),
    ],
)
def test_a_number_that_is_no_time_is_refused(seconds: int) -> None:
    with pytest.raises(WireError, match=f"{seconds} is not a time in Unix seconds; expected 0 to 253402300799"):
        from_wire_time(seconds)


@pytest.mark.parametrize(
    ("duration", "seconds"),
    [
        pytest.param(None, 0, id="as the receiver likes"),
        pytest.param(timedelta(minutes=5), 300, id="whole seconds"),
        pytest.param(timedelta(milliseconds=1), 1, id="rounded up, so that it does not become zero"),
    ],
)
def test_a_duration_becomes_seconds(duration: timedelta | None, seconds: int) -> None:
    assert to_wire_duration(duration) == seconds


def test_seconds_become_a_duration() -> None:
    assert (from_wire_duration(0), from_wire_duration(300)) == (None, timedelta(minutes=5))


@pytest.mark.parametrize("seconds", [pytest.param(-1, id="negative"), pytest.param(2**63 - 1, id="endless")])
def test_a_number_that_is_no_duration_is_refused(seconds: int) -> None:
    with pytest.raises(WireError, match=f"{seconds} is not a duration in seconds; expected 0 to"):
        from_wire_duration(seconds)
