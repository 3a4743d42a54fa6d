"""One object of a log, and how several make one log."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.model.log_block import LogBlock, LogSeverity
from fairway.server.logs.objects import LogStorageError
from fairway.server.logs.part import (
    LAST_INDEX,
    MOST_WITH_ONE_INDEX,
    LogBlockError,
    Merge,
    Part,
    decode_part,
    encode_part,
    find_parts,
)
from tests.unit.server.logs.log_blocks import START, a_block, blocks

BLOCKS = st.builds(
    LogBlock,
    index=st.integers(0, 12) | st.integers(0, LAST_INDEX),
    log=st.text(st.characters(codec="utf-8")),
    created_at=st.integers(0, 3).map(lambda seconds: START + timedelta(seconds=seconds)),
    severity=st.sampled_from(LogSeverity),
)
PARTS = st.lists(st.lists(BLOCKS, min_size=1, max_size=6), max_size=6)


def merged(lists: list[list[LogBlock]]) -> list[LogBlock]:
    merge = Merge()
    for each in lists:
        merge.add(each)
    return merge.take_below(LAST_INDEX + 1)


@given(st.lists(BLOCKS, min_size=1))
def test_a_part_gives_back_its_blocks_in_order(written: list[LogBlock]) -> None:
    part, content = encode_part(written)

    assert decode_part(part, content) == merged([written])
    assert find_parts({f"d/s/0/{part.name}": len(content)}) == [part]


@given(st.lists(BLOCKS, min_size=1).flatmap(lambda made: st.tuples(st.just(made), st.permutations(made))))
def test_the_same_blocks_in_any_order_are_the_same_object(orders: tuple[list[LogBlock], list[LogBlock]]) -> None:
    one, other = orders

    assert encode_part(one) == encode_part(other + other)


@given(PARTS.flatmap(lambda made: st.tuples(st.just(made), st.permutations(made), st.integers(0, len(made)))))
def test_merging_gives_one_log_whatever_came_first(
    case: tuple[list[list[LogBlock]], list[list[LogBlock]], int],
) -> None:
    parts, shuffled, cut = case
    expected = merged(parts)

    assert merged(shuffled) == expected
    assert merged([merged(parts[:cut]), merged(parts[cut:])]) == expected
    assert [block.index for block in expected] == sorted(block.index for block in expected)
    assert {repr(block) for block in expected} == {repr(block) for part in parts for block in part}


def test_of_two_blocks_with_one_index_the_older_comes_first() -> None:
    first, second = a_block(1, "first", after=1), a_block(1, "second", after=2)

    assert merged([[second], [first], [second]]) == [first, second]


def test_an_index_that_is_used_again_and_again_keeps_its_oldest_blocks() -> None:
    repeated = [a_block(1, str(number), after=number) for number in range(MOST_WITH_ONE_INDEX + 5)]

    assert merged([repeated[::-1]]) == repeated[:MOST_WITH_ONE_INDEX]


def test_blocks_are_handed_out_once_they_cannot_change() -> None:
    merge = Merge()
    merge.add(blocks(3, 1, 2))

    assert merge.take_below(3) == blocks(1, 2)
    assert merge.take_below(LAST_INDEX + 1) == blocks(3)


def test_the_last_blocks_are_dropped_when_there_is_too_much_text() -> None:
    merge = Merge()
    merge.add([a_block(index, "four") for index in (7, 3, 5)])

    assert merge.drop_beyond(12) == LAST_INDEX + 1
    assert merge.drop_beyond(11) == 7
    assert merge.drop_beyond(0) == 5
    assert merge.take_below(LAST_INDEX + 1) == [a_block(3, "four")]


def test_blocks_that_were_taken_need_no_room() -> None:
    merge = Merge()
    merge.add([a_block(index, "four") for index in (3, 5, 7)])
    merge.take_below(4)

    assert merge.drop_beyond(8) == LAST_INDEX + 1


@pytest.mark.parametrize("index", [-1, LAST_INDEX + 1])
def test_an_index_that_the_wire_cannot_mean_is_refused(index: int) -> None:
    with pytest.raises(LogBlockError, match=f"has the index {index}; expected 0 to {LAST_INDEX}"):
        encode_part([*blocks(1), a_block(index)])


def test_a_part_cut_short_is_named_and_not_shown() -> None:
    part, content = encode_part(blocks(1, 2))

    with pytest.raises(LogStorageError, match=f"{part.name} is damaged"):
        decode_part(part, content[: len(content) // 2])


def test_other_files_are_no_parts() -> None:
    listing = {"d/s/0/completed": 0, "d/s/0/notes.jsonl": 3, f"d/s/0/{Part(1, 2, 'ab' * 16, 9).name}.bak": 9}

    assert find_parts(listing) == []
