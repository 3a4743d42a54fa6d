"""Scalars that are written in more than one way: durations, percentages and replica counts.

Each type knows how to read itself from what YAML gives (`parse`), and says in words what it expected. Durations
follow Go's syntax because the files do; a bare number is nanoseconds, again as in Go.
"""

import math
import re
from datetime import timedelta
from typing import Any, Self

_UNIT_IN_MICROSECONDS = {
    "ns": 0.001,
    "us": 1.0,
    "µs": 1.0,  # U+00B5, micro sign
    "μs": 1.0,  # U+03BC, Greek letter mu
    "ms": 1_000.0,
    "s": 1_000_000.0,
    "m": 60_000_000.0,
    "h": 3_600_000_000.0,
}
_PART = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%?", re.ASCII)
#: A bare number counts nanoseconds; nobody who writes 30 means them.
_SMALLEST_NUMBER = 1_000_000
#: Go keeps durations in a signed 64-bit number of nanoseconds: about 292 years.
_LONGEST_MICROSECONDS = (2**63 - 1) / 1000


class Duration(timedelta):
    """A length of time: "10s", "1m30s", "6h", or a number of nanoseconds."""

    expected = 'a duration such as "30s", "5m" or "1h30m"'

    @classmethod
    def parse(cls, value: Any) -> Self:
        """Read a duration; ValueError says what is wrong with it."""
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError("is not a duration")
        if not isinstance(value, str) and 0 < abs(value) < _SMALLEST_NUMBER:
            raise ValueError(f'means {value} nanoseconds; write "{value}s" for seconds')
        microseconds = _microseconds(value.strip()) if isinstance(value, str) else value / 1000
        if microseconds < 0:
            raise ValueError("is negative")
        if not microseconds <= _LONGEST_MICROSECONDS:
            raise ValueError("is longer than 292 years")
        return cls(microseconds=microseconds)

    @classmethod
    def of(cls, length: timedelta) -> Self:
        """The same length as a Duration."""
        return cls(microseconds=length / timedelta(microseconds=1))

    def __str__(self) -> str:
        """Go's way of writing it: 1h30m0s becomes 1h30m."""
        total = round(self / timedelta(microseconds=1))
        sign, total = ("-", -total) if total < 0 else ("", total)
        if total < 1_000_000:
            return f"{sign}{total // 1000}ms" if total % 1000 == 0 and total else f"{sign}{total}µs" if total else "0s"
        hours, rest = divmod(total, 3_600_000_000)
        minutes, rest = divmod(rest, 60_000_000)
        seconds = f"{rest / 1_000_000:.6f}".rstrip("0").rstrip(".")
        parts = [
            f"{hours}h" if hours else "",
            f"{minutes}m" if minutes else "",
            f"{seconds}s" if rest else "",
        ]
        return sign + "".join(parts)


def _microseconds(text: str) -> float:
    sign = -1.0 if text.startswith("-") else 1.0
    body = text[1:] if text[:1] in {"+", "-"} else text
    if body == "0":
        return 0.0
    if not body:
        raise ValueError("is empty")
    total, position = 0.0, 0
    while position < len(body):
        part = _PART.match(body, position)
        if part is None:
            if len(body) < 20 and body.replace(".", "", 1).isdigit():
                raise ValueError(f'has no unit; "{text}s" means seconds, "{text}m" minutes')
            raise ValueError("is not a duration")
        total += float(part[1]) * _UNIT_IN_MICROSECONDS[part[2]]
        position = part.end()
    return sign * total


class Percentage(float):
    """A share of a hundred: 25, "25" or "25%"."""

    expected = 'a percentage such as 25 or "25%"'

    @classmethod
    def parse(cls, value: Any) -> Self:
        """Read a percentage; ValueError says what is wrong with it."""
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError("is not a percentage")
        if isinstance(value, str):
            match = _PERCENT.fullmatch(value.strip())
            if match is None:
                raise ValueError("is not a percentage")
            value = float(match[1])
        if not 0 <= value <= 100:
            raise ValueError("is not between 0 and 100")
        return cls(value)


class Replicas:
    """How many copies: a number, or a share of the primary's ("10%", rounded up)."""

    __slots__ = ("is_percentage", "number")
    expected = 'a number of replicas such as 2, or a share such as "10%"'

    def __init__(self, number: int, *, is_percentage: bool = False) -> None:
        self.number = number
        self.is_percentage = is_percentage

    @classmethod
    def parse(cls, value: Any) -> Self:
        """Read replicas; ValueError says what is wrong with them."""
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError("is not a number of replicas")
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        text = str(value).strip()
        share = text.endswith("%")
        digits = text.removesuffix("%").strip()
        if not (digits.isascii() and digits.isdigit() and len(digits) < 10):
            raise ValueError("is not a number of replicas")
        return cls(int(digits), is_percentage=share)

    def of(self, primary: int) -> int:
        """How many copies this means beside `primary` copies."""
        return math.ceil(primary * self.number / 100) if self.is_percentage else self.number

    def __bool__(self) -> bool:
        return self.number != 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Replicas):
            return NotImplemented
        return (self.number, self.is_percentage) == (other.number, other.is_percentage)

    def __hash__(self) -> int:
        return hash((self.number, self.is_percentage))

    def __repr__(self) -> str:
        return f"Replicas({self})"

    def __str__(self) -> str:
        return f"{self.number}%" if self.is_percentage else str(self.number)
