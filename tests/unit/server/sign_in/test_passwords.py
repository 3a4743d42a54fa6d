"""Right passwords are right, all others wrong, and hashes follow today's parameters."""

import asyncio
import threading
from typing import Any

import argon2
import pytest

from fairway.server.sign_in.passwords import AT_ONCE, Checked, Passwords, recommended_hasher, refuse_weak
from fairway.server.status_codes import InvalidRequest

CHEAP = argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
CHEAPER = argon2.PasswordHasher(time_cost=1, memory_cost=16, parallelism=1)


async def test_the_right_password_is_right_and_all_others_are_wrong() -> None:
    passwords = Passwords(CHEAP)
    stored = await passwords.hashed("correct horse battery")

    assert await passwords.check(stored, "correct horse battery") == Checked(True)
    for wrong in ("Correct horse battery", "", "correct horse battery ", "\ud800"):
        assert await passwords.check(stored, wrong) == Checked(False)


async def test_the_same_letters_typed_on_another_keyboard_are_right() -> None:
    passwords = Passwords(CHEAP)
    stored = await passwords.hashed("schöner wohnen")

    assert await passwords.check(stored, "scho\u0308ner wohnen") == Checked(True)


@pytest.mark.parametrize("stored", ["", "rubbish", "$argon2id$v=19$m=8,t=1,p=1$AAAA$AAAA"])
async def test_nobody_has_the_password_of_an_empty_or_broken_hash(stored: str) -> None:
    assert await Passwords(CHEAP).check(stored, "") == Checked(False)


async def test_a_hash_of_other_parameters_is_made_anew_once_the_password_is_right() -> None:
    old = await Passwords(CHEAP).hashed("correct horse battery")
    passwords = Passwords(CHEAPER)

    wrong = await passwords.check(old, "incorrect horse")
    right = await passwords.check(old, "correct horse battery")

    assert wrong == Checked(False)
    assert await passwords.check(right.rehashed, "correct horse battery") == Checked(True)


def test_a_hash_costs_what_the_cheat_sheet_says() -> None:
    assert recommended_hasher().hash("x").startswith("$argon2id$v=19$m=19456,t=2,p=1$")


class Counting(argon2.PasswordHasher):
    """Counts how many it works on at once, and how often it works at all."""

    def __init__(self) -> None:
        super().__init__(time_cost=1, memory_cost=8, parallelism=1)
        self.now = self.most = self.verified = 0
        self.lock = threading.Lock()

    def verify(self, *arguments: Any, **named: Any) -> Any:
        with self.lock:
            self.now, self.verified = self.now + 1, self.verified + 1
            self.most = max(self.most, self.now)
        try:
            return super().verify(*arguments, **named)
        finally:
            with self.lock:
                self.now -= 1


async def test_however_many_sign_in_at_once_only_a_few_are_worked_on() -> None:
    hasher = Counting()
    passwords = Passwords(hasher)
    stored = await passwords.hashed("correct horse battery")

    await asyncio.gather(*(passwords.check(stored, "incorrect horse") for _ in range(1000)))

    assert (hasher.verified, hasher.most <= AT_ONCE) == (1000, True)


async def test_a_person_without_a_password_costs_the_same_work() -> None:
    hasher = Counting()

    await Passwords(hasher).check("", "incorrect horse")

    assert hasher.verified == 1


@pytest.mark.parametrize(
    "password",
    [
        pytest.param("eleven char", id="too short"),
        pytest.param("x" * 1001, id="too long"),
        pytest.param("x" * 12, id="one character"),
        pytest.param("JO.AND.FRIENDS", id="the name"),
    ],
)
def test_a_weak_password_is_refused(password: str) -> None:
    with pytest.raises(InvalidRequest):
        refuse_weak(password, "jo.and.friends")


@pytest.mark.parametrize("password", ["twelve chars", "ünïcödé wörds", "🔑 twelve chars", "x" * 999 + "y"])
def test_a_long_enough_password_is_taken(password: str) -> None:
    refuse_weak(password, "jo")
