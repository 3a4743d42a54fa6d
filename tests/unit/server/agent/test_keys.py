from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.clock import FakeClock
from fairway.server.keys import VerifiedKeys, matches, new_agent_key, new_api_key

_STORED = new_agent_key().stored


def test_an_agent_key_has_fifty_letters_and_digits_and_matches_what_is_stored() -> None:
    key = new_agent_key()

    assert (len(key.shown), key.shown.isalnum(), matches(key.stored, key.shown)) == (50, True, True)


def test_an_api_key_begins_with_its_id() -> None:
    key = new_api_key("id-1")

    key_id, _, text = key.shown.partition(".")
    assert (key_id, len(text), matches(key.stored, key.shown)) == ("id-1", 32, True)


def test_what_is_stored_and_what_is_logged_do_not_give_the_key_away() -> None:
    key = new_agent_key()

    assert key.shown not in key.stored + repr(key) + str(key)


def test_the_same_key_is_never_stored_alike_twice() -> None:
    first, second = new_agent_key(), new_agent_key()

    assert first.stored.split("$")[1] != second.stored.split("$")[1]


@given(st.text())
def test_no_other_text_matches(text: str) -> None:
    assert matches(_STORED, text) is False


@pytest.mark.parametrize(
    "stored",
    [
        pytest.param("", id="nothing"),
        pytest.param("sha256$$", id="no salt and no digest"),
        pytest.param("$2a$10$abcdefghijklmnopqrstuv", id="a password hash of another system"),
        pytest.param("sha256$salt", id="no digest"),
    ],
)
def test_a_stored_text_of_another_form_matches_nothing(stored: str) -> None:
    assert [matches(stored, shown) for shown in ("", "key", stored)] == [False, False, False]


def test_a_verified_key_is_trusted_until_it_expires() -> None:
    clock = FakeClock()
    keys = VerifiedKeys[str](clock, lifetime=timedelta(seconds=30))
    keys.remember("key", "agent-1", "value", keys.ask())

    clock.advance(timedelta(seconds=29))
    before = keys.recall("key")
    clock.advance(timedelta(seconds=1))

    assert (before, keys.recall("key")) == ("value", None)


def test_forgetting_an_owner_distrusts_all_its_keys_at_once_and_no_others() -> None:
    keys = VerifiedKeys[str](FakeClock())
    for key, owner in (("old", "agent-1"), ("new", "agent-1"), ("other", "agent-2")):
        keys.remember(key, owner, owner, keys.ask())

    keys.forget("agent-1")

    assert [keys.recall(key) for key in ("old", "new", "other")] == [None, None, "agent-2"]


def test_a_key_verified_while_its_owner_was_disabled_is_not_remembered() -> None:
    keys = VerifiedKeys[str](FakeClock())
    asked = keys.ask()

    keys.forget("agent-1")
    keys.remember("key", "agent-1", "value", asked)

    assert keys.recall("key") is None


def test_a_key_is_trusted_from_when_the_store_was_asked_not_from_when_it_answered() -> None:
    clock = FakeClock()
    keys = VerifiedKeys[str](clock, lifetime=timedelta(seconds=30))
    asked = keys.ask()

    clock.advance(timedelta(seconds=30))
    keys.remember("key", "agent-1", "value", asked)

    assert keys.recall("key") is None


def test_the_oldest_keys_make_room_for_new_ones() -> None:
    keys = VerifiedKeys[str](FakeClock(), limit=2)

    for key in ("a", "b", "c"):
        keys.remember(key, key, key, keys.ask())

    assert [keys.recall(key) for key in ("a", "b", "c")] == [None, "b", "c"]
