import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.config.reader.plain_scalars import resolve_plain


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[pytest.param(word, True, id=word) for word in ("y", "Yes", "on", "TRUE", "true")],
        *[pytest.param(word, False, id=word) for word in ("n", "No", "off", "FALSE", "false")],
        *[pytest.param(word, None, id=word or "nothing") for word in ("", "~", "null", "NULL")],
        pytest.param("014", 12, id="octal as in C"),
        pytest.param("0o14", 12, id="octal as in Python"),
        pytest.param("0x1F", 31, id="hexadecimal"),
        pytest.param("0b101", 5, id="binary"),
        pytest.param("1_000", 1000, id="underscores"),
        pytest.param("-7", -7, id="negative"),
        pytest.param("1.50", 1.5, id="decimal"),
        pytest.param("1.5e+3", 1500.0, id="exponent with a sign"),
        pytest.param(".inf", math.inf, id="infinity"),
        pytest.param("1e3", 1000.0, id="an exponent needs no sign"),
        pytest.param("12:30:45", "12:30:45", id="times are text"),
        pytest.param("2026-11-15", "2026-11-15", id="dates are text"),
        pytest.param("1.2.3", "1.2.3", id="versions are text"),
        pytest.param("089", 89.0, id="no octal, so a number"),
        pytest.param("10%", "10%", id="percentages are text"),
        pytest.param("yEs", "yEs", id="odd case is text"),
    ],
)
def test_a_plain_scalar_means_what_go_takes_it_for(text: str, value: Any) -> None:
    found = resolve_plain(text)

    assert (found, type(found)) == (value, type(value))


@given(st.integers(min_value=-(10**18), max_value=10**18))
def test_whole_numbers_are_themselves(number: int) -> None:
    assert resolve_plain(str(number)) == number


@given(st.text(min_size=1))
def test_every_text_means_something(text: str) -> None:
    assert isinstance(resolve_plain(text), str | int | float | bool | None)
