"""The end of a log that fits into an answer."""

import msgspec
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
        index=99,
        log="(the beginning of this log is left out: the answer would be too large)\n",
        created_at=NOW,
    )


def test_a_single_line_that_is_too_large_leaves_only_the_note() -> None:
    assert [block.index for block in tail(100, "x" * 1000)] == [99]


def test_the_last_lines_of_a_large_block_are_kept() -> None:
    output = "\n".join(map(str, range(1_000)))

    note, end, last = tail(2 * OVERHEAD + len("998\n999") + len("ended"), output, "ended")

    assert (note.index, end.index, end.log, last.log) == (99, 100, "998\n999", "ended")


@given(st.lists(st.text("ä\n", max_size=20)), st.integers(0, 300))
def test_what_is_kept_is_the_longest_end_of_whole_lines_that_fits(texts: list[str], limit: int) -> None:
    whole = tuple(blocks(*texts))

    found = tail(limit, *texts)

    ends = [whole[start:] for start in range(len(whole) + 1)]
    longest = next(end for end in ends if cost(end) <= limit)
    if longest == whole:
        assert found == whole
        return
    first = whole[len(whole) - len(longest) - 1]
    lines = first.log.split("\n")
    parts = [msgspec.structs.replace(first, log="\n".join(lines[start:])) for start in range(1, len(lines))]
    part = next(((each,) for each in parts if each.log and cost((each, *longest)) <= limit), ())
    assert found[1:] == (*part, *longest)


def cost(kept: tuple[LogBlock, ...]) -> int:
    """The bytes of blocks in an answer."""
    return sum(len(block.log.encode()) + OVERHEAD for block in kept)
