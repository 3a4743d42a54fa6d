"""One place that tells of pushes, as it is stored.

The secret is kept as it is: to compute an HMAC one needs the key itself, not a hash of it. Deriving it from a key of
the server would only move the question to that key, which several servers have to share through the same database.
What a thief of the database gains by it is to let agents look for commits that are not there.
"""

from datetime import datetime

import msgspec

from fairway.server.webhooks.providers import ProviderName


class Webhook(msgspec.Struct, frozen=True, kw_only=True):
    """A webhook of a project. Its id is part of the address that the Git host calls."""

    id: str
    project_id: str
    name: str
    provider: ProviderName
    secret: str
    creator: str
    created_at: datetime

    def __repr__(self) -> str:
        return f"Webhook({self.id!r}, project_id={self.project_id!r}, provider={self.provider.value}, secret=…)"
