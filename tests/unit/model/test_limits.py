"""Texts are cut with a mark that says how long they were."""

from hypothesis import given
from hypothesis import strategies as st

from fairway.model.limits import LOG_TEXT, QUOTED_REASON, REASON, SENT_TEXT, bytes_of, cut
from fairway.model.stage import StageStatus
from fairway.plugins.scriptrun.telling import PIECE_BYTES
from fairway.rpc.channel import MAX_MESSAGE_BYTES
from tests.unit.model.builders import LATER, a_deployment, a_stage


def test_a_text_within_the_limit_is_not_cut() -> None:
    assert cut("x" * 100, 100) == "x" * 100


def test_a_long_text_is_cut_with_a_mark() -> None:
    assert cut("x" * 3_000_000, 100) == "x" * 74 + "… cut (3000000 characters)"


def test_a_text_that_is_cut_again_keeps_its_first_count() -> None:
    once = cut("x" * 3_000_000, SENT_TEXT)

    assert cut(cut(once, REASON), 100) == "x" * 74 + "… cut (3000000 characters)"


def test_a_count_that_is_too_low_is_not_believed() -> None:
    assert cut(f"{'x' * 200}… cut (7 characters)", 100).endswith("x… cut (220 characters)")


def test_a_log_block_holds_the_largest_text_of_a_plugin_and_fits_into_one_message() -> None:
    assert max(PIECE_BYTES, SENT_TEXT) < LOG_TEXT
    # A character has at most 4 bytes.
    assert 4 * LOG_TEXT < MAX_MESSAGE_BYTES


@given(st.text(min_size=0, max_size=300), st.integers(min_value=40, max_value=200))
def test_a_cut_text_is_within_the_limit_and_stays_as_it_is(text: str, most: int) -> None:
    assert len(cut(text, most)) <= most
    assert cut(cut(text, most), most) == cut(text, most)


@given(st.text())
def test_bytes_are_counted_as_utf_8(text: str) -> None:
    assert bytes_of(text) == len(text.encode())


def test_the_reason_of_a_stage_is_cut() -> None:
    running = a_stage(status=StageStatus.RUNNING)
    failed = running.advance(StageStatus.FAILED, "x" * 3_000_000, LATER)
    assert failed.status_reason == cut("x" * 3_000_000, REASON)


def test_the_reason_of_a_deployment_is_cut() -> None:
    from fairway.model.deployment import DeploymentStatus

    failed = a_deployment().advance(DeploymentStatus.FAILED, "x" * 3_000_000, LATER)
    assert failed.status_reason == cut("x" * 3_000_000, REASON)
    assert QUOTED_REASON * 3 < REASON
