"""A browser on its way to a sign-in provider and back, and what it carries so that it is known again.

Everything is in a cookie under our signature, so any replica can receive whoever another one has sent off. What comes
back is believed only in the browser that was sent, for a few minutes, from the provider it was sent to.
"""

import base64
import binascii
import hmac
import secrets
from datetime import datetime, timedelta
from typing import Protocol

import msgspec

from fairway.errors import TemporaryError
from fairway.server.sign_in.providers import SignInProvider
from fairway.server.sign_in.signing import Purpose, Signer
from fairway.server.status_codes import Forbidden

LASTS = timedelta(minutes=10)
_SECRET_BYTES = 32


class ProviderUnavailable(TemporaryError):
    """A sign-in provider that does not answer, or not sensibly."""


class Journey(msgspec.Struct, frozen=True, kw_only=True):
    """One browser's way to one provider."""

    provider: str
    #: Comes back in the provider's answer.
    state: str
    #: Comes back in the provider's token.
    nonce: str
    #: Shows the provider that whoever redeems its code is who was sent (PKCE).
    verifier: str
    #: Where the provider sends the browser back to.
    callback: str
    #: Where the person goes then.
    next: str
    expires_at: datetime

    def __repr__(self) -> str:
        return f"Journey(provider={self.provider!r}, …)"


class Vouched(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody as a provider describes them."""

    provider: str
    #: What the provider knows them by for ever.
    subject: str
    #: What they may be called, the best first.
    names: tuple[str, ...]
    display_name: str = ""
    groups: tuple[str, ...] = ()


class Authority(Protocol):
    """Talks to one provider."""

    @property
    def provider(self) -> SignInProvider:
        """What it was told about the provider."""
        ...

    async def departure(self, journey: Journey) -> str:
        """The address at the provider that the browser is sent to."""
        ...

    async def arrival(self, journey: Journey, code: str) -> Vouched:
        """Whom the provider vouches for with the code that the browser brought back."""
        ...


def new_journey(provider: str, callback: str, onward: str, now: datetime) -> Journey:
    """The way of a browser that is about to leave."""
    state, nonce, verifier = (secrets.token_urlsafe(_SECRET_BYTES) for _ in range(3))
    return Journey(
        provider=provider,
        state=state,
        nonce=nonce,
        verifier=verifier,
        callback=callback,
        next=onward,
        expires_at=now + LASTS,
    )


def packed(journey: Journey, signer: Signer) -> str:
    """What the browser carries."""
    return signer.signed(Purpose.JOURNEY, base64.urlsafe_b64encode(msgspec.json.encode(journey)).decode())


def unpacked(carried: str, signer: Signer, now: datetime) -> Journey:
    """The way that a browser has come; Forbidden when it did not leave from here, or too long ago."""
    text = signer.opened(Purpose.JOURNEY, carried)
    try:
        journey = msgspec.json.decode(base64.urlsafe_b64decode(text or ""), type=Journey)
    except (msgspec.DecodeError, binascii.Error, ValueError):
        raise _unknown() from None  # Whatever it is, we did not make it.
    if now >= journey.expires_at:
        raise _unknown()
    return journey


def refuse_wrong_return(journey: Journey, provider: str, state: str) -> None:
    """Raise Forbidden unless this is the return of the very browser, from the very provider."""
    if journey.provider != provider or not hmac.compare_digest(journey.state.encode(), state.encode()):
        raise _unknown()


def _unknown() -> Forbidden:
    return Forbidden(
        "this sign-in was begun in another browser, or more than ten minutes ago, or has been finished already; "
        "go back and begin again"
    )
