"""Notes within limits: new ones are refused, stored ones are left out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.model.limits import (
    DEPLOYMENT_NOTES_BYTES,
    NOTE_BYTES,
    REASON,
    SHOWN_TEXT,
    SPARE_NOTES_BYTES,
    STAGE_NOTES_BYTES,
    TooLarge,
    cut,
)
from fairway.model.notes import LEFT_OUT, checked_notes, refuse_too_many_notes, thinned
from fairway.model.stage import DISPLAY
from tests.unit.model.builders import a_commit, a_deployment, a_stage, a_trigger

_MIB = 1024 * 1024


def test_a_note_that_is_too_large_is_refused_with_its_size_and_the_limit() -> None:
    with pytest.raises(TooLarge) as refused:
        checked_notes({"big": "x" * 4_000_000})
    assert str(refused.value) == f"the note 'big' has 4000003 bytes; a note has at most {NOTE_BYTES} bytes"


def test_a_text_for_people_is_cut_and_not_refused() -> None:
    assert checked_notes({DISPLAY: "x" * 4_000_000, "a": "b"}) == {DISPLAY: cut("x" * 4_000_000, SHOWN_TEXT), "a": "b"}


def test_the_notes_of_a_stage_are_limited_together() -> None:
    notes = {str(each): "x" * (NOTE_BYTES - 1) for each in range(3)}
    with pytest.raises(TooLarge, match=f"stage s .WAIT. would have 1572864 bytes; .*{STAGE_NOTES_BYTES}"):
        refuse_too_many_notes(a_deployment(stages=(a_stage("s", metadata=notes),)))


def test_the_notes_of_a_deployment_are_limited_with_those_of_its_stages() -> None:
    stages = tuple(a_stage(str(each), metadata={"a": "x" * (NOTE_BYTES - 1)}) for each in range(4))
    full = a_deployment(stages=stages)
    refuse_too_many_notes(full)
    more = a_deployment(stages=stages, shared_metadata={"b": "c"})
    with pytest.raises(TooLarge, match=f"deployment d-1 would have 2097154 bytes; .*{DEPLOYMENT_NOTES_BYTES}"):
        refuse_too_many_notes(more)
    refuse_too_many_notes(more, SPARE_NOTES_BYTES)


def test_a_deployment_within_the_limits_is_not_thinned() -> None:
    stages = tuple(a_stage(str(each), metadata={"a": "x" * (NOTE_BYTES - 1)}) for each in range(4))
    full = a_deployment(stages=stages, plugin_metadata={"greet": {"started-0": "_"}})
    assert thinned(full) is full


def test_large_notes_of_a_stored_deployment_are_left_out_and_small_ones_stay() -> None:
    stored = a_deployment(
        stages=(a_stage("s", metadata={"big": "x" * 4 * _MIB, "small": "y"}), a_stage("t", metadata={"z": "z"})),
        plugin_metadata={"greet": {"started-0": "_", "big": "x" * 4 * _MIB}},
        metadata={"big": "x" * 4 * _MIB, "older": "a"},
        shared_metadata={"big": "x" * 4 * _MIB, "newer": "b"},
    )
    assert thinned(stored) == a_deployment(
        stages=(a_stage("s", metadata={"small": "y"}), a_stage("t", metadata={"z": "z"})),
        plugin_metadata={"greet": {"started-0": "_"}},
        metadata={"older": "a"},
        shared_metadata={
            "newer": "b",
            LEFT_OUT: f"4 notes with {4 * (4 * _MIB + 3)} bytes were left out: they exceed the limits",
        },
    )


def test_long_texts_of_a_stored_deployment_are_cut() -> None:
    long = "x" * 3_000_000
    stored = a_deployment(
        status_reason=long,
        summary=long,
        trigger=a_trigger(commit=a_commit(message=long)),
        stages=(a_stage("s", status_reason=long, desc=long), a_stage("t")),
    )
    assert thinned(stored) == a_deployment(
        status_reason=cut(long, REASON),
        summary=cut(long, REASON),
        trigger=a_trigger(commit=a_commit(message=cut(long, SHOWN_TEXT))),
        stages=(a_stage("s", status_reason=cut(long, REASON), desc=cut(long, SHOWN_TEXT)), a_stage("t")),
    )


@given(
    st.lists(st.lists(st.integers(min_value=0, max_value=900), max_size=6), max_size=6),
    st.lists(st.integers(min_value=0, max_value=900), max_size=6),
)
def test_a_thinned_deployment_is_within_the_limits(stages: list[list[int]], own: list[int]) -> None:
    def notes(sizes: list[int]) -> dict[str, str]:
        return {str(number): "x" * size * 1024 for number, size in enumerate(sizes)}

    stored = a_deployment(
        stages=tuple(a_stage(str(number), metadata=notes(sizes)) for number, sizes in enumerate(stages)),
        plugin_metadata={"greet": notes(own)},
    )
    once = thinned(stored)
    refuse_too_many_notes(once, SPARE_NOTES_BYTES)
    assert thinned(once) == once
