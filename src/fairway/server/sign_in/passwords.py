"""Passwords: hashed with argon2, a few at a time, and never told apart from people who have none.

One check costs 19 MiB and some ten milliseconds of one core, on purpose. They are done by two threads of their own, so
that a thousand people who sign in at once wait for each other and not for memory, and nobody else waits for them. A
name that nobody has costs the same work as a wrong password, so the time of an answer gives no name away.
"""

import asyncio
import functools
import secrets
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

import msgspec

from fairway.server.status_codes import InvalidRequest

if TYPE_CHECKING:
    # Loaded when somebody signs in with a password, for many a server never.
    import argon2

LEAST_CHARACTERS = 12
#: Longer than anybody types, short enough to be hashed by anybody.
MOST_CHARACTERS = 1000
AT_ONCE = 2

T = TypeVar("T")


def recommended_hasher() -> "argon2.PasswordHasher":
    """What OWASP's cheat sheet recommends first, so that a small machine can be a server."""
    import argon2

    return argon2.PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)


class Checked(msgspec.Struct, frozen=True):
    """What came of a check."""

    right: bool
    #: The password under today's parameters, where it is right and was hashed with others; empty otherwise.
    rehashed: str = ""


class Passwords:
    """Hashes and checks passwords."""

    def __init__(self, hasher: "argon2.PasswordHasher | None" = None) -> None:
        self._given = hasher
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="passwords")
        self._nobodys = ""

    @functools.cached_property
    def _hasher(self) -> "argon2.PasswordHasher":
        return self._given or recommended_hasher()

    async def hashed(self, password: str) -> str:
        """What may be stored of a password."""
        return await self._in_turn(lambda: self._hasher.hash(_plain(password)))

    async def check(self, stored: str, password: str) -> Checked:
        """Whether `stored` was made of the password; never for an empty one, which takes as long."""
        return await self._in_turn(lambda: self._check(stored, password))

    def _check(self, stored: str, password: str) -> Checked:
        from argon2.exceptions import InvalidHashError, VerificationError

        self._nobodys = self._nobodys or self._hasher.hash(secrets.token_urlsafe())
        plain = _plain(password[:MOST_CHARACTERS])
        try:
            self._hasher.verify(stored or self._nobodys, plain)
        except (VerificationError, InvalidHashError):
            return Checked(False)
        if not stored:
            return Checked(False)
        return Checked(True, self._hasher.hash(plain) if self._hasher.check_needs_rehash(stored) else "")

    async def _in_turn(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


def refuse_weak(password: str, user_id: str) -> None:
    """Raise InvalidRequest for a password that is too easily guessed, or too long."""
    length = len(unicodedata.normalize("NFKC", password))
    if not LEAST_CHARACTERS <= length <= MOST_CHARACTERS:
        raise InvalidRequest(
            f"the password has {length} characters; expected {LEAST_CHARACTERS} to {MOST_CHARACTERS}, "
            "such as four words that do not belong together"
        )
    if len(set(password)) == 1 or password.casefold() == user_id.casefold():
        raise InvalidRequest("the password is one character again and again, or the name; choose another")


def _plain(password: str) -> bytes:
    """The same bytes for what looks the same, whichever keyboard it was typed on."""
    return unicodedata.normalize("NFKC", password).encode("utf-8", "surrogatepass")
