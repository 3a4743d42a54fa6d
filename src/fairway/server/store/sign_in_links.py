"""Links with which somebody sets a password, once; each under a hash of what the link holds."""

from datetime import datetime

import msgspec
import sqlalchemy as sa

from fairway.server.store.documents import to_microseconds
from fairway.server.store.errors import NotFound
from fairway.server.store.rows import Rows
from fairway.server.store.tables import SIGN_IN_LINKS


class SignInLink(msgspec.Struct, frozen=True, kw_only=True):
    """One link for one person. It never crosses a process, so it is no noun of `model`."""

    #: A hash: who reads the table cannot use a link of it.
    id: str
    user_id: str
    created_at: datetime
    expires_at: datetime


_ROWS = Rows(
    SIGN_IN_LINKS,
    SignInLink,
    "link",
    lambda link: {"id": link.id, "user_id": link.user_id, "expires_at": to_microseconds(link.expires_at)},
)


def insert_link(connection: sa.Connection, link: SignInLink) -> None:
    """Store a new link."""
    _ROWS.insert(connection, link)


def find_link(connection: sa.Connection, id: str) -> SignInLink | None:
    """The link with this id; `None` when there is none, or none any more."""
    try:
        return _ROWS.load(connection, id)
    except NotFound:
        return None


def delete_link(connection: sa.Connection, id: str) -> bool:
    """Forget one link; whether there was one. Of two who use a link at once, one only is told so."""
    return bool(connection.execute(sa.delete(SIGN_IN_LINKS).where(SIGN_IN_LINKS.c.id == id)).rowcount)


def delete_links_of(connection: sa.Connection, user_id: str) -> int:
    """Forget all links of a person; how many there were."""
    return connection.execute(sa.delete(SIGN_IN_LINKS).where(SIGN_IN_LINKS.c.user_id == user_id)).rowcount


def delete_expired_links(connection: sa.Connection, now: datetime, limit: int) -> int:
    """Forget some links that nobody used in time; how many. There are few, so none of their own index is needed."""
    old = sa.select(SIGN_IN_LINKS.c.id).where(SIGN_IN_LINKS.c.expires_at <= to_microseconds(now)).limit(limit)
    return connection.execute(sa.delete(SIGN_IN_LINKS).where(SIGN_IN_LINKS.c.id.in_(old))).rowcount
