"""Secrets in logs, also in lines that are cut into several blocks."""

from hypothesis import given
from hypothesis import strategies as st

from fairway.agent.masking import CUT_BYTES, LogMask
from fairway.secrets.redact import Redactor
from fairway.secrets.secret import MASK, Secret

SECRET = "correct-horse-battery"
REDACTOR = Redactor([Secret(SECRET), Secret("another-secret")])


def test_a_secret_inside_a_block_is_masked_and_nothing_else_is() -> None:
    masked = LogMask().masked(f"key={SECRET}\nother=another-secret correct\n", REDACTOR)

    assert masked == f"key={MASK}\nother={MASK} correct\n"


def test_the_end_of_an_ordinary_line_is_not_taken_for_a_beginning() -> None:
    mask = LogMask()

    assert [mask.masked(text, REDACTOR) for text in ("this is correct", "-horse is a horse")] == [
        "this is correct",
        "-horse is a horse",
    ]


@given(st.integers(0, len(SECRET)))
def test_no_part_of_a_secret_is_shown_wherever_a_long_line_is_cut(at: int) -> None:
    mask, filler = LogMask(), "." * CUT_BYTES

    shown = [mask.masked(filler + SECRET[:at], REDACTOR), mask.masked(f"{SECRET[at:]}; and so on", REDACTOR)]

    assert "".join(shown).replace(MASK, "") == f"{filler}; and so on"
    assert not mask.waits


def test_where_there_is_no_secret_a_text_is_passed_on_as_it_is() -> None:
    mask, text = LogMask(), "x" * 2 * CUT_BYTES

    assert (mask.masked(text, Redactor(())) is text, mask.waits) == (True, False)
