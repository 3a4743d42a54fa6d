"""Where a client of the stream stands survives the way to it and back; anything else means nowhere."""

from hypothesis import given
from hypothesis import strategies as st

from fairway.server.feed import LogTopic
from fairway.server.http_api.stream_position import (
    MOST_RANGES,
    LogPosition,
    StreamPosition,
    read_position,
    written,
)

INDEXES = st.lists(st.integers(0, 40), max_size=30)
TOPICS = st.builds(LogTopic, st.text(max_size=5), st.text(max_size=5))
POSITIONS = st.builds(
    lambda run, indexes, completed: LogPosition(run).with_blocks(sorted(indexes), completed),
    st.integers(0, 9),
    INDEXES,
    st.booleans(),
)


@given(st.from_regex(r"[0-9a-f:.,]{1,40}", fullmatch=True), st.dictionaries(TOPICS, POSITIONS, max_size=5))
def test_a_position_survives_the_way_to_the_client_and_back(feed: str, logs: dict[LogTopic, LogPosition]) -> None:
    position = StreamPosition(feed, logs)

    assert read_position(written(position), logs) == position


@given(st.text(), st.lists(TOPICS, max_size=3, unique=True))
def test_whatever_a_client_sends_is_read_without_an_error(text: str, topics: list[LogTopic]) -> None:
    assert set(read_position(text, topics).logs) <= set(topics)


@given(POSITIONS)
def test_a_position_in_one_log_is_none_in_another(position: LogPosition) -> None:
    text = written(StreamPosition("1", {LogTopic("d", "s"): position}))

    assert read_position(text, [LogTopic("d", "t")]) == StreamPosition("1")


@given(st.lists(st.lists(st.integers(0, 90), max_size=40), max_size=6))
def test_a_client_has_nothing_that_it_was_not_given_and_with_few_gaps_all_of_that(batches: list[list[int]]) -> None:
    position, given_ = LogPosition(0), set[int]()
    for batch in batches:
        position = position.with_blocks(sorted(batch), False)
        given_ |= set(batch)

    assert len(position.ranges) <= MOST_RANGES
    assert not any(position.has(index) for index in set(range(92)) - given_)
    gaps = sum(index + 1 not in given_ for index in given_)
    if gaps <= MOST_RANGES:
        assert all(position.has(index) for index in given_)


@given(st.sets(st.integers(0, 90)), st.integers(1, 32))
def test_a_text_claims_nothing_that_the_client_does_not_have_however_many_logs_share_it(
    indexes: set[int], logs: int
) -> None:
    position = LogPosition(0).with_blocks(sorted(indexes), False)
    topics = [LogTopic("d", str(number)) for number in range(logs)]

    text = written(StreamPosition("1", dict.fromkeys(topics, position)))

    read = read_position(text, topics).logs
    assert len(text) < 8_000
    assert set(read) == set(topics)
    for each in read.values():
        assert not any(each.has(index) for index in set(range(92)) - indexes)
        assert each.next_index == position.next_index


def test_with_too_many_gaps_the_shortest_ranges_are_forgotten_and_never_the_last() -> None:
    lone = [4 * number for number in range(MOST_RANGES)]

    position = LogPosition(0).with_blocks([*lone, 1_000, 1_001, 2_000], False)

    assert [position.has(index) for index in (1_000, 2_000)] == [True, True]
    assert (len(position.ranges), position.next_index) == (MOST_RANGES, 2_001)


def test_the_next_index_is_behind_the_highest() -> None:
    position = LogPosition(0).with_blocks([3, 4, 9], False)

    assert (LogPosition(0).next_index, position.next_index) == (0, 10)
