"""What arrives at a webhook and what a provider makes of it, with the few things that all providers do alike.

Pure. A provider first says whether a delivery is genuine, then what was pushed; it is never asked for the second when
the first was denied. Comparisons take the same time whatever is wrong.
"""

import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Protocol, TypeVar
from urllib.parse import parse_qs

import msgspec

from fairway.errors import UserError

#: How far the clock of a sender that signs the time may be from ours.
TOLERANCE = timedelta(minutes=5)
#: What Git hosts write for "no commit": a branch that is gone.
NO_COMMIT = "0" * 40

T = TypeVar("T")


class UnreadableDelivery(UserError):
    """A genuine delivery that does not say what its provider documents."""


class Push(msgspec.Struct, frozen=True):
    """Somebody pushed."""

    #: The repository, as the host spells it for each way to reach it.
    remotes: tuple[str, ...]
    #: refs/heads/main, refs/tags/v1; empty where the sender does not say.
    ref: str
    #: Empty where the sender does not say.
    commit: str


class Delivery(msgspec.Struct, frozen=True):
    """One request. Header names are in small letters."""

    headers: Mapping[str, str]
    body: bytes
    received_at: datetime

    def header(self, name: str) -> str:
        return self.headers.get(name, "")


class Genuine(msgspec.Struct, frozen=True):
    """The delivery comes from who knows the secret."""

    #: Tells it from every other one; empty where the signature covers nothing that does.
    replay_id: str = ""


class Provider(Protocol):
    """How one sort of Git host signs, and what it sends."""

    def verify(self, secret: str, delivery: Delivery) -> Genuine | None:
        """Whether the delivery is genuine; `None` when it is not."""
        ...

    def pushes(self, delivery: Delivery) -> tuple[Push, ...]:
        """What was pushed; nothing for another event. UnreadableDelivery for what the host never sends."""
        ...


def signed_with(secret: bytes, signed: bytes, shown: str) -> bool:
    """Whether `shown` is the hexadecimal HMAC-SHA256 of what was signed."""
    return hmac.compare_digest(hmac.new(secret, signed, hashlib.sha256).hexdigest().encode(), shown.encode())


def prefixed_signature(secret: str, delivery: Delivery, header: str) -> Genuine | None:
    """The commonest way: `sha256=` and the HMAC of the body."""
    scheme, _, shown = delivery.header(header).partition("=")
    # Computed in any case: the time must not tell what was wrong.
    fits = signed_with(secret.encode(), delivery.body, shown)
    return Genuine() if fits and scheme == "sha256" else None


def is_fresh(seconds: str, received_at: datetime) -> bool:
    """Whether a signed time, in seconds since 1970, is near enough."""
    if not (seconds.isascii() and seconds.isdecimal() and len(seconds) <= 12):
        return False
    return abs(received_at.timestamp() - int(seconds)) <= TOLERANCE.total_seconds()


def read_body(delivery: Delivery, shape: type[T]) -> T:
    """What the body says, sent as JSON or as a form with the JSON in its field `payload`."""
    body: bytes | str = delivery.body
    if delivery.header("content-type").partition(";")[0].strip().lower() == "application/x-www-form-urlencoded":
        body = _form_field(delivery.body)
    try:
        return msgspec.json.decode(body, type=shape)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise UnreadableDelivery(
            f"the body is not what such a webhook sends ({error}); check which provider the webhook was made for"
        ) from error


def _form_field(body: bytes) -> str:
    try:
        return parse_qs(body.decode(), strict_parsing=True, max_num_fields=10)["payload"][0]
    except (ValueError, KeyError) as error:
        raise UnreadableDelivery("the body is a form without the field payload; choose JSON at the Git host") from error


def known(*remotes: str) -> tuple[str, ...]:
    """Those that were sent, each once."""
    return tuple(dict.fromkeys(remote for remote in remotes if remote))
