"""The end of a log that fits into an answer."""

from hypothesis import given
from hypothesis import strategies as st

from fairway.model.log_block import LogBlock
from fairway.server.user_service.deployments import Tail
from tests.unit.server.user.builders import NOW

#: What a block costs beside its text.
OVERHEAD = 32


def blocks(*texts: str) -> list[LogBlock]:
    return [LogBlock(index=100 + number, log=text, created_at=NOW) for number, text in enumerate(texts)]


def tail(limit: int, *texts: str) -> tuple[LogBlock, ...]:
    kept = Tail(limit)
    for block in blocks(*texts):
        kept.add(block)
    return kept.blocks()


def test_a_log_that_fits_is_whole() -> None:
    assert tail(1000, "one\n", "two\n") == tuple(blocks("one\n", "two\n"))


def test_the_beginning_of_a_larger_one_is_left_out_and_said_so() -> None:
    note, *kept = tail(2 * (OVERHEAD + 4), "one\n", "two\n", "six\n")

    assert kept == blocks("one\n", "two\n", "six\n")[1:]
    assert note == LogBlock(
        index=100,
        log="(1 earlier pieces of this log are left out: the answer would be too large)\n",
        created_at=NOW,
    )


def test_a_single_block_that_is_too_large_leaves_only_the_note() -> None:
    assert [block.index for block in tail(100, "x" * 1000)] == [99]


@given(st.lists(st.text(max_size=20)), st.integers(0, 300))
def test_what_is_kept_is_the_longest_end_that_fits(texts: list[str], limit: int) -> None:
    whole = tuple(blocks(*texts))
    ends = (whole[start:] for start in range(len(whole) + 1))
    longest = next(end for end in ends if sum(len(block.log.encode()) + OVERHEAD for block in end) <= limit)

    found = tail(limit, *texts)

    assert found[len(found) - len(longest) :] == longest
    assert len(found) == len(longest) + (longest != whole)
