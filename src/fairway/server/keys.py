"""Keys that agents and programs show: made here, kept as hashes, compared, and remembered for a while.

A key is drawn from the machine's randomness: 50 characters of 62 are about 298 bits, 32 are about 190. Nobody can try
them out, so one salted SHA-256 protects them as well as a slow password hash would, at a thousandth of the price. What
people choose themselves (passwords) is not for this module.

`VerifiedKeys` spares a call the look into the store. It knows keys only by a MAC under a secret of this process, so
that its memory gives no key away. What changed, here or in another replica, is forgotten at once; should a replica be
unable to hear the others, it is noticed when the entry expires.
"""

import hmac
import secrets
import string
from collections import OrderedDict
from datetime import datetime, timedelta
from typing import Generic, NamedTuple, TypeVar

from fairway.clock import Clock

#: What PipeCD's agents and tools expect to find in their files.
AGENT_KEY_CHARACTERS = 50
API_KEY_CHARACTERS = 32

_ALPHABET = string.ascii_letters + string.digits
_SCHEME = "sha256"
_SALT_BYTES = 16

V = TypeVar("V")


class NewKey(NamedTuple):
    """A key that was just made. Only `stored` may be kept."""

    #: Given to its owner once and never again.
    shown: str
    stored: str

    def __repr__(self) -> str:
        return f"NewKey(shown=…, stored={self.stored!r})"


def new_agent_key() -> NewKey:
    """A key for an agent."""
    return _made(_random_text(AGENT_KEY_CHARACTERS))


def new_api_key(key_id: str) -> NewKey:
    """A key for a program; its id stands in front, so that the server knows which hash to compare with."""
    return _made(f"{key_id}.{_random_text(API_KEY_CHARACTERS)}")


def matches(stored: str, shown: str) -> bool:
    """Whether `stored` was made of `shown`. The time it takes does not tell how nearly."""
    scheme, _, rest = stored.partition("$")
    salt, _, digest = rest.partition("$")
    if scheme != _SCHEME or not salt or not digest:
        return False
    return hmac.compare_digest(_digest(salt, shown).encode(), digest.encode())


class Asked(NamedTuple):
    """When somebody turned to the store: what it answers may be outdated ever since."""

    generation: int
    at: datetime


class VerifiedKeys(Generic[V]):
    """Keys that were found right a moment ago, and what each of them stands for."""

    def __init__(self, clock: Clock, lifetime: timedelta = timedelta(seconds=30), limit: int = 10_000) -> None:
        self._clock = clock
        self._lifetime = lifetime
        self._limit = limit
        self._secret = secrets.token_bytes(32)
        self._entries: OrderedDict[bytes, tuple[datetime, str, V]] = OrderedDict()
        self._generation = 0

    def ask(self) -> Asked:
        """For whoever looks into the store now, to be given to `remember` with what was found there."""
        return Asked(self._generation, self._clock.now())

    def recall(self, shown: str) -> V | None:
        """What this key stands for; None when it must be verified (again)."""
        mac = self._mac(shown)
        entry = self._entries.get(mac)
        if entry is None:
            return None
        expires, _, value = entry
        if self._clock.now() >= expires:
            del self._entries[mac]
            return None
        return value

    def remember(self, shown: str, owner_id: str, value: V, asked: Asked) -> None:
        """Trust this key for a while after the store was asked, unless something was forgotten since."""
        if asked.generation != self._generation:
            return
        mac = self._mac(shown)
        self._entries[mac] = (asked.at + self._lifetime, owner_id, value)
        self._entries.move_to_end(mac)
        while len(self._entries) > self._limit:
            self._entries.popitem(last=False)

    def forget(self, owner_id: str) -> None:
        """Trust no key of this owner any longer: it was disabled, deleted, or its keys changed."""
        self._generation += 1
        for mac in [mac for mac, (_, owner, _) in self._entries.items() if owner == owner_id]:
            del self._entries[mac]

    def forget_all(self) -> None:
        """Trust no key: something may have changed, and nobody knows what."""
        self._generation += 1
        self._entries.clear()

    def _mac(self, shown: str) -> bytes:
        return hmac.digest(self._secret, shown.encode("utf-8", "surrogatepass"), "sha256")


def _made(shown: str) -> NewKey:
    salt = secrets.token_hex(_SALT_BYTES)
    return NewKey(shown=shown, stored=f"{_SCHEME}${salt}${_digest(salt, shown)}")


def _random_text(characters: int) -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(characters))


def _digest(salt: str, shown: str) -> str:
    return hmac.digest(salt.encode(), shown.encode("utf-8", "surrogatepass"), "sha256").hex()
