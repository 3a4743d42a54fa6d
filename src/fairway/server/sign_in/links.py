"""Links with which somebody sets a password: valid for a day, once, and kept as a hash.

There is no default password and nobody sends one around: an administrator hands over a link, and so does the server for
its first administrator. Looking at a link does not use it up, because mail and chat programs look at links.
"""

import hashlib
import secrets
from datetime import datetime, timedelta

import msgspec

from fairway.server.store.sign_in_links import SignInLink

LIFETIME = timedelta(hours=24)
_TOKEN_BYTES = 32


class NewLink(msgspec.Struct, frozen=True):
    """A link that was just made. Only `link` may be kept."""

    #: For the person and nobody else.
    token: str
    link: SignInLink

    @property
    def path(self) -> str:
        """Where the link leads, below the server's address."""
        return f"/sign-in/link/{self.token}"

    def __repr__(self) -> str:
        return f"NewLink(token=…, link={self.link!r})"


def new_link(user_id: str, now: datetime) -> NewLink:
    """A link for a person, to be stored with `insert_link`."""
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    return NewLink(token, SignInLink(id=link_id(token), user_id=user_id, created_at=now, expires_at=now + LIFETIME))


def link_id(token: str) -> str:
    """What the store knows a link by. The token is random, so a plain hash gives nothing away."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
