"""Times and durations: whole seconds on the wire; datetimes in UTC and timedeltas in our model.

Zero on the wire means "not yet", or "as you like". Fractions of a second do not survive: a time is cut off,
so that it never moves into the future; a duration is rounded up, so that it never becomes zero.
"""

from datetime import UTC, datetime, timedelta

from fairway.rpc.convert.wire_enum import WireError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND = timedelta(seconds=1)
_LONGEST = timedelta.max // _SECOND
_LAST_SECOND = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _SECOND


def to_wire_time(at: datetime | None) -> int:
    """Unix seconds; 0 for a time that has not come."""
    if at is None:
        return 0
    if at.tzinfo is None:
        raise ValueError(f"{at!r} has no time zone, so it names no moment")
    return (at - _EPOCH) // _SECOND


def from_wire_time(seconds: int) -> datetime:
    """The time that a message must carry; rules see to it that it is not 0."""
    if not 0 <= seconds <= _LAST_SECOND:
        raise WireError(f"{seconds} is not a time in Unix seconds; expected 0 to {_LAST_SECOND}")
    return datetime.fromtimestamp(seconds, tz=UTC)


def from_wire_time_or_none(seconds: int) -> datetime | None:
    """The time, or `None` when it has not come."""
    return from_wire_time(seconds) if seconds else None


def to_wire_duration(duration: timedelta | None) -> int:
    """Seconds; 0 leaves the choice to the receiver."""
    return 0 if duration is None else -(-duration // _SECOND)


def from_wire_duration(seconds: int) -> timedelta | None:
    """The duration, or `None` when the choice is ours."""
    if not 0 <= seconds <= _LONGEST:
        raise WireError(f"{seconds} is not a duration in seconds; expected 0 to {_LONGEST}")
    return timedelta(seconds=seconds) if seconds else None
