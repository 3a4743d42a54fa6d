"""Which parts are rewritten together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.server.logs.compaction import PART_BYTES, plan_compaction
from fairway.server.logs.part import Part

LARGE = PART_BYTES // 2


def a_part(first: int, last: int, size: int = 10) -> Part:
    return Part(first, last, "ab" * 16, size)


@pytest.mark.parametrize(
    ("parts", "groups"),
    [
        pytest.param([], [], id="nothing"),
        pytest.param([a_part(1, 5)], [], id="one small part"),
        pytest.param([a_part(1, 5), a_part(6, 9)], [[a_part(1, 5), a_part(6, 9)]], id="small neighbours"),
        pytest.param([a_part(1, 5, LARGE), a_part(6, 9, LARGE)], [], id="large neighbours"),
        pytest.param(
            [a_part(1, 5, LARGE), a_part(5, 9, LARGE)],
            [[a_part(1, 5, LARGE), a_part(5, 9, LARGE)]],
            id="large parts that overlap",
        ),
        pytest.param([a_part(1, 5), a_part(6, 7, LARGE), a_part(8, 9)], [], id="small parts with a large one between"),
        pytest.param(
            [a_part(1, 9, LARGE), a_part(2, 3), a_part(8, 8), a_part(10, 12, LARGE), a_part(13, 14)],
            [[a_part(1, 9, LARGE), a_part(2, 3), a_part(8, 8)]],
            id="late lines inside the first of two large parts",
        ),
    ],
)
def test_only_small_and_overlapping_parts_are_rewritten(parts: list[Part], groups: list[list[Part]]) -> None:
    assert plan_compaction(parts) == groups


PARTS = st.builds(
    lambda first, more, size: a_part(first, first + more, size),
    st.integers(0, 30),
    st.integers(0, 9),
    st.sampled_from([1, LARGE]),
)


@given(st.lists(PARTS, unique=True))
def test_no_rewritten_part_overlaps_one_that_stays(parts: list[Part]) -> None:
    groups = plan_compaction(parts)

    for group in groups:
        outside = set(parts) - set(group)
        overlaps = [
            (one, other) for one in group for other in outside if one.first <= other.last and other.first <= one.last
        ]
        assert overlaps == []
