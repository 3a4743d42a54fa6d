"""Which lines of a log are printed, and how."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.cli.call import UsageError
from fairway.cli.logs import Seen, block_lines, pick_stages, prefixes
from fairway.cli.watch import last_id
from fairway.model.log_block import LogBlock
from tests.unit.model.builders import NOW, a_stage

STAGES = [a_stage("s-1", name="WAIT"), a_stage("s-2", name="K8S_SYNC"), a_stage("t-3", name="WAIT")]


@given(st.lists(st.integers(0, 30)))
def test_an_index_is_new_once_and_reading_goes_on_at_the_first_that_is_missing(indexes: list[int]) -> None:
    seen, known = Seen(), set[int]()

    for index in indexes:
        assert seen.add(index) == (index not in known)
        known.add(index)

    first = min(known, default=0)
    assert seen.next_index == next((each for each in range(first, 40) if each not in known), 0)


def test_a_line_of_what_undoes_a_stage_says_which() -> None:
    script = a_stage("s-1", name="SCRIPT_RUN", index=4)
    undoing = a_stage("r-1", name="SCRIPT_RUN_ROLLBACK", index=4, rollback=True)

    assert prefixes([script, undoing], (script, undoing)) == {
        "s-1": "SCRIPT_RUN                          │ ",
        "r-1": "SCRIPT_RUN_ROLLBACK, undoes stage 5 │ ",
    }


def test_a_line_of_several_stages_says_which_and_same_names_are_counted() -> None:
    assert prefixes(STAGES, STAGES) == {"s-1": "WAIT 1   │ ", "s-2": "K8S_SYNC │ ", "t-3": "WAIT 2   │ "}
    assert prefixes(STAGES[:1], STAGES) == {"s-1": ""}


@pytest.mark.parametrize(
    ("given", "found"),
    [
        pytest.param("", ["s-1", "s-2", "t-3"], id="all"),
        pytest.param("s-1", ["s-1"], id="an id"),
        pytest.param("wait", ["s-1", "t-3"], id="a name, in any case"),
        pytest.param("t", ["t-3"], id="the beginning of an id"),
    ],
)
def test_stages_are_picked(given: str, found: list[str]) -> None:
    assert [stage.id for stage in pick_stages(STAGES, given)] == found


def test_a_stage_that_is_not_there_lists_those_that_are() -> None:
    with pytest.raises(UsageError, match="no stage 'x'; there is WAIT, K8S_SYNC, WAIT"):
        pick_stages(STAGES, "x")


def test_every_line_of_a_block_has_the_prefix() -> None:
    block = LogBlock(index=0, log="one\n\ntwo\x1b[0m\n", created_at=NOW)

    assert block_lines(block, "W │ ") == ["W │ one", "W │ ", "W │ two"]


def test_the_id_of_the_last_event_that_has_one_is_kept() -> None:
    assert last_id([b"id: 1\ndata: a", b"event: x\nid: 2~3\ndata: b", b": heartbeat"]) == "2~3"
    assert last_id([b"data: id: 5"]) == ""
