"""How a noun becomes one column: JSON text of the struct itself, read back into the same type.

The only module that knows it. Text and not a binary form, so that an operator can read a row; and since msgspec
escapes what SQL text cannot hold, any string of a noun survives. Times stand in columns as whole microseconds,
which both databases compare as numbers.
"""

import functools
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import msgspec
import sqlalchemy as sa

from fairway.server.store.errors import UnusableDatabase

T = TypeVar("T")

_decoder: Callable[[Any], msgspec.json.Decoder[Any]] = functools.cache(msgspec.json.Decoder)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def encode(noun: object) -> str:
    """The document of a noun."""
    return msgspec.json.encode(noun).decode()


def decode(document: str, type_: type[T]) -> T:
    """The noun of a document."""
    try:
        noun: T = _decoder(type_).decode(document)
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        raise UnusableDatabase(
            f"a stored {type_} cannot be read ({error}): it was damaged, or written by another version of "
            "Fairway; start that version, or restore a backup"
        ) from error
    return noun


def to_microseconds(at: datetime) -> int:
    """A time as it stands in a column."""
    return (at - _EPOCH) // _MICROSECOND


def in_span(column: sa.Column[int], since: datetime | None, until: datetime | None) -> Iterator[sa.ColumnElement[bool]]:
    """The conditions that a time lies at or after one moment and before another; `None` leaves an end open."""
    if since is not None:
        yield column >= to_microseconds(since)
    if until is not None:
        yield column < to_microseconds(until)


def from_microseconds(number: int) -> datetime:
    """A time out of a column."""
    return _EPOCH + number * _MICROSECOND
