import re
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.config.scalars import Duration, Percentage, Replicas


@pytest.mark.parametrize(
    ("written", "length"),
    [
        pytest.param("10s", timedelta(seconds=10), id="seconds"),
        pytest.param("1m30s", timedelta(seconds=90), id="several units"),
        pytest.param("1.5h", timedelta(minutes=90), id="a fraction"),
        pytest.param(".5s", timedelta(milliseconds=500), id="a fraction without a leading zero"),
        pytest.param("-0s", timedelta(0), id="a sign changes nothing of nothing"),
        pytest.param("250ms", timedelta(milliseconds=250), id="milliseconds"),
        pytest.param("7us", timedelta(microseconds=7), id="microseconds"),
        pytest.param("7µs", timedelta(microseconds=7), id="micro sign"),
        pytest.param("0", timedelta(0), id="zero needs no unit"),
        pytest.param(0, timedelta(0), id="the number zero"),
        pytest.param(60_000_000_000, timedelta(minutes=1), id="a number is nanoseconds"),
    ],
)
def test_a_duration_is_read_as_go_reads_it(written: Any, length: timedelta) -> None:
    assert Duration.parse(written) == length


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        pytest.param("5", 'has no unit; "5s" means seconds, "5m" minutes', id="no unit"),
        pytest.param("", "is empty", id="empty"),
        pytest.param("soon", "is not a duration", id="a word"),
        pytest.param("5 m", "is not a duration", id="a blank inside"),
        pytest.param("1d", "is not a duration", id="Go has no days"),
        pytest.param(True, "is not a duration", id="a boolean"),
        pytest.param([], "is not a duration", id="a list"),
        pytest.param(30, 'means 30 nanoseconds; write "30s" for seconds', id="a number nobody means"),
        pytest.param("-1m", "is negative", id="negative"),
        pytest.param(-60_000_000_000, "is negative", id="a negative number"),
        pytest.param("9999999h", "is longer than 292 years", id="more than Go can hold"),
    ],
)
def test_what_is_no_duration_says_why(written: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(reason)}$"):
        Duration.parse(written)


@given(st.integers(min_value=0, max_value=10**15))
def test_a_duration_reads_back_what_it_writes(microseconds: int) -> None:
    duration = Duration(microseconds=microseconds)

    assert Duration.parse(str(duration)) == duration


@pytest.mark.parametrize(
    ("written", "share"), [(25, 25), ("25", 25), ("25%", 25), ("12.5 %", 12.5), (0, 0), (100, 100)]
)
def test_a_percentage_is_a_number_with_or_without_its_sign(written: Any, share: float) -> None:
    assert Percentage.parse(written) == share


@pytest.mark.parametrize("written", [-1, 101, "101%", "many", "", None, True, "1e1"])
def test_what_is_no_percentage_is_refused(written: Any) -> None:
    with pytest.raises(ValueError, match=r"^is not"):
        Percentage.parse(written)


@pytest.mark.parametrize(
    ("written", "primary", "copies"),
    [
        pytest.param(3, 10, 3, id="a number"),
        pytest.param("3", 10, 3, id="a number in quotes"),
        pytest.param("10%", 10, 1, id="a share"),
        pytest.param("10%", 11, 2, id="a share is rounded up"),
        pytest.param("100%", 7, 7, id="all"),
    ],
)
def test_replicas_are_a_number_or_a_share_of_the_primary(written: Any, primary: int, copies: int) -> None:
    assert Replicas.parse(written).of(primary) == copies


@pytest.mark.parametrize("written", [-1, "ten", 1.5, "5 %%", None, True])
def test_what_is_no_number_of_replicas_is_refused(written: Any) -> None:
    with pytest.raises(ValueError, match=r"^is not a number of replicas$"):
        Replicas.parse(written)
