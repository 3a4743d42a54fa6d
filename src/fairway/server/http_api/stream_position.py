"""Where a client of the stream stands: what it says when it comes back as `Last-Event-ID`. Pure.

A place in the feed, and for each log that it reads which run of the stage and which indexes it has. Blocks of a log may
arrive late, behind others, so the last index would not be enough; indexes follow one another, so a few ranges are.
Where they are not, short ones are forgotten: what is forgotten is told again, and nothing is ever left out.
What a client sends may be anything: what is not understood means that it stands nowhere.
"""

import re
import zlib
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from fairway.server.feed import LogTopic

#: Of one log.
MOST_RANGES = 32
#: In one text, for all logs together: a text goes into one line of a request.
_MOST_WRITTEN = 128
_LONGEST = 12_000
_LOG = re.compile(r"([0-9]{1,9})([co])((?:[0-9]{1,19}-[0-9]{1,19})?(?:,[0-9]{1,19}-[0-9]{1,19}){0,31})")


class LogPosition(msgspec.Struct, frozen=True):
    """What a client has of a log."""

    #: How often the stage had been retried.
    run: int
    #: Whether it was told that no more is to come.
    completed: bool = False
    #: First and last index of each range, lowest first.
    ranges: tuple[tuple[int, int], ...] = ()

    def has(self, index: int) -> bool:
        """Whether the client has the block with this index."""
        return any(first <= index <= last for first, last in self.ranges)

    @property
    def next_index(self) -> int:
        """Behind the highest index that the client has."""
        return self.ranges[-1][1] + 1 if self.ranges else 0

    def with_blocks(self, indexes: Iterable[int], completed: bool) -> "LogPosition":
        """The position once the client has these too."""
        merged: list[tuple[int, int]] = []
        for first, last in sorted([*self.ranges, *_runs(indexes)]):
            if merged and first <= merged[-1][1] + 1:
                merged[-1] = merged[-1][0], max(last, merged[-1][1])
            else:
                merged.append((first, last))
        return LogPosition(self.run, completed, _longest(merged, MOST_RANGES))


class StreamPosition(msgspec.Struct, frozen=True):
    """What a client has of everything."""

    feed: str
    logs: Mapping[LogTopic, LogPosition] = {}


def written(position: StreamPosition) -> str:
    """The position as the client is told it."""
    if not position.logs:
        return position.feed
    topics = _in_order(position.logs)
    share = _MOST_WRITTEN // len(topics)
    return "~".join([position.feed, _mark(topics), *(_log_text(position.logs[topic], share) for topic in topics)])


def read_position(text: str, topics: Iterable[LogTopic]) -> StreamPosition:
    """The position of a text, for a client that wants these logs; a log of which nothing is known is left out."""
    feed, _, rest = text[:_LONGEST].partition("~")
    mark, *logs = rest.split("~")
    wanted = _in_order(topics)
    if mark != _mark(wanted) or len(logs) != len(wanted):
        return StreamPosition(feed)
    found = {topic: position for topic, log in zip(wanted, logs, strict=True) if (position := _log_position(log))}
    return StreamPosition(feed, found)


def _longest(ranges: Sequence[tuple[int, int]], count: int) -> tuple[tuple[int, int], ...]:
    """So many of the ranges: the last one, and the longest of the others."""
    if len(ranges) <= count:
        return tuple(ranges)
    kept = sorted(ranges[:-1], key=lambda each: each[0] - each[1])[: count - 1]
    return (*sorted(kept), ranges[-1])


def _runs(indexes: Iterable[int]) -> list[tuple[int, int]]:
    """The ranges of indexes that come in order."""
    found: list[tuple[int, int]] = []
    for index in indexes:
        if found and index <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(index, found[-1][1])
        else:
            found.append((index, index))
    return found


def _in_order(topics: Iterable[LogTopic]) -> list[LogTopic]:
    return sorted(topics, key=lambda topic: (topic.deployment_id, topic.stage_id))


def _mark(topics: list[LogTopic]) -> str:
    """Tells positions of other logs apart, should a client ask for others than before."""
    return f"{zlib.crc32(msgspec.json.encode(topics)):08x}"


def _log_text(position: LogPosition, most: int) -> str:
    ranges = ",".join(f"{first}-{last}" for first, last in _longest(position.ranges, most))
    return f"{position.run}{'c' if position.completed else 'o'}{ranges}"


def _log_position(text: str) -> LogPosition | None:
    found = _LOG.fullmatch(text)
    if found is None:
        return None
    pairs = [pair.split("-") for pair in found[3].split(",")] if found[3] else []
    ranges = [(int(first), int(last)) for first, last in pairs]
    bounds = [bound for pair in ranges for bound in pair]
    if bounds != sorted(bounds):
        return None
    return LogPosition(int(found[1]), found[2] == "c", tuple(ranges))
