"""A browser that comes back is known by what we gave it, and by nothing else."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.server.sign_in.journeys import LASTS, new_journey, packed, refuse_wrong_return, unpacked
from fairway.server.sign_in.signing import Purpose, Signer
from fairway.server.status_codes import Forbidden
from tests.unit.model.builders import NOW

SIGNER = Signer(b"k" * 32)
JOURNEY = new_journey("dex", "https://fairway.example/sign-in/dex/callback", "/apps", NOW)
CARRIED = packed(JOURNEY, SIGNER)


def test_what_was_packed_is_unpacked() -> None:
    assert unpacked(CARRIED, SIGNER, NOW + LASTS - timedelta(seconds=1)) == JOURNEY


def test_no_two_journeys_share_a_secret() -> None:
    other = new_journey("dex", "", "", NOW)

    assert len({JOURNEY.state, JOURNEY.nonce, JOURNEY.verifier, other.state, other.nonce, other.verifier}) == 6
    assert JOURNEY.verifier not in repr(JOURNEY)


def test_after_ten_minutes_it_is_over() -> None:
    with pytest.raises(Forbidden):
        unpacked(CARRIED, SIGNER, NOW + LASTS)


@given(st.integers(0, len(CARRIED) - 1), st.characters())
def test_a_changed_character_is_noticed(place: int, character: str) -> None:
    changed = CARRIED[:place] + character + CARRIED[place + 1 :]

    if changed != CARRIED:
        with pytest.raises(Forbidden):
            unpacked(changed, SIGNER, NOW)


@given(st.text())
def test_what_we_signed_but_is_no_journey_is_refused(text: str) -> None:
    with pytest.raises(Forbidden):
        unpacked(SIGNER.signed(Purpose.JOURNEY, text), SIGNER, NOW)


@pytest.mark.parametrize(
    ("provider", "state"),
    [
        pytest.param("github", JOURNEY.state, id="another provider"),
        pytest.param("dex", "", id="no state"),
        pytest.param("dex", "another", id="another state"),
        pytest.param("dex", JOURNEY.nonce, id="the nonce for the state"),
    ],
)
def test_another_provider_or_state_is_refused(provider: str, state: str) -> None:
    with pytest.raises(Forbidden):
        refuse_wrong_return(JOURNEY, provider, state)


def test_the_right_return_passes() -> None:
    refuse_wrong_return(JOURNEY, "dex", JOURNEY.state)
