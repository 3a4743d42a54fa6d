"""The server's signature on what browsers hold and show again, so that nobody can make such a thing up or change it.

One key of the whole server, shared by its replicas through the store. Each use has a purpose of its own, so that what
was signed for one is worth nothing for another.
"""

import base64
import enum
import hmac

from fairway.server.store.settings import load_signing_key, make_signing_key
from fairway.server.store.store import Store


class Purpose(enum.Enum):
    """What a signature is for."""

    #: The name of a session, in its cookie.
    SESSION = "session"
    #: What a page of a session sends with each change.
    CSRF = "csrf"
    #: What a form shows that comes before there is a session.
    FORM = "form"
    #: What a browser carries to a sign-in provider and back.
    JOURNEY = "journey"


class Signer:
    """Signs and checks."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    @classmethod
    async def open(cls, store: Store) -> "Signer":
        """The signer of the server whose store this is; its key is made when there is none."""
        key = await store.read(load_signing_key)
        return cls(key if key is not None else await store.write(make_signing_key))

    def signature(self, purpose: Purpose, text: str) -> str:
        """The signature of a text."""
        digest = hmac.digest(self._key, f"{purpose.value}:{text}".encode(), "sha256")
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")

    def signed(self, purpose: Purpose, text: str) -> str:
        """The text with its signature behind it."""
        return f"{text}.{self.signature(purpose, text)}"

    def opened(self, purpose: Purpose, signed: str) -> str | None:
        """The text in front of a right signature; `None` for anything else."""
        text, _, signature = signed.rpartition(".")
        return text if text and self.fits(purpose, text, signature) else None

    def fits(self, purpose: Purpose, text: str, signature: str) -> bool:
        """Whether the signature is the text's. The time it takes does not tell how nearly."""
        try:
            return hmac.compare_digest(self.signature(purpose, text).encode(), signature.encode())
        except UnicodeEncodeError:  # Lone surrogates, which no signature holds.
            return False
