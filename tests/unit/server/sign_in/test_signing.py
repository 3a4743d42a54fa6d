"""Nothing but what was signed, for the purpose it was signed for, passes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.server.sign_in.signing import Purpose, Signer

SIGNER = Signer(b"k" * 32)
SIGNED = SIGNER.signed(Purpose.SESSION, "a-name")


def test_what_was_signed_opens() -> None:
    assert SIGNER.opened(Purpose.SESSION, SIGNED) == "a-name"


@pytest.mark.parametrize("purpose", [purpose for purpose in Purpose if purpose is not Purpose.SESSION])
def test_a_signature_for_one_purpose_is_worth_nothing_for_another(purpose: Purpose) -> None:
    assert SIGNER.opened(purpose, SIGNED) is None


def test_another_servers_signature_is_worth_nothing() -> None:
    assert Signer(b"o" * 32).opened(Purpose.SESSION, SIGNED) is None


@given(st.text())
def test_no_other_text_opens(text: str) -> None:
    assert SIGNER.opened(Purpose.SESSION, text) is None


@given(st.integers(0, len(SIGNED) - 1), st.characters())
def test_a_changed_character_is_noticed(place: int, character: str) -> None:
    changed = SIGNED[:place] + character + SIGNED[place + 1 :]

    assert (SIGNER.opened(Purpose.SESSION, changed) == "a-name") is (changed == SIGNED)


@given(st.integers(0, len(SIGNED) - 1))
def test_a_cut_off_piece_does_not_open(length: int) -> None:
    assert SIGNER.opened(Purpose.SESSION, SIGNED[:length]) is None


@given(st.text())
def test_any_text_can_be_signed_and_opened(text: str) -> None:
    assert SIGNER.opened(Purpose.FORM, SIGNER.signed(Purpose.FORM, text)) == (text or None)
