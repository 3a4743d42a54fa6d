"""Sessions of people who are signed in, each under a hash of what their browser holds.

`expires_at` is a column, and the only one that says whether a session has ended: it is the earlier of the moment that
was set when the session began and the moment at which it will have been idle for too long.
"""

from collections.abc import Callable
from datetime import datetime

import msgspec
import sqlalchemy as sa

from fairway.server.store.changes import ChangeKind, announce
from fairway.server.store.documents import to_microseconds
from fairway.server.store.errors import NotFound
from fairway.server.store.rows import Rows
from fairway.server.store.tables import SESSIONS


class Session(msgspec.Struct, frozen=True, kw_only=True):
    """One browser of one person. It never crosses a process, so it is no noun of `model`."""

    #: A hash: who reads the table cannot use a session of it.
    id: str
    user_id: str
    created_at: datetime
    #: When it ends however much it is used.
    ends_at: datetime
    #: When it ends unless it is used before.
    expires_at: datetime
    #: Where it was begun from.
    address: str = ""


_ROWS = Rows(
    SESSIONS,
    Session,
    "session",
    lambda session: {
        "id": session.id,
        "user_id": session.user_id,
        "expires_at": to_microseconds(session.expires_at),
    },
)


def insert_session(connection: sa.Connection, session: Session) -> None:
    """Store a new session."""
    _ROWS.insert(connection, session)


def find_session(connection: sa.Connection, id: str) -> Session | None:
    """The session with this id; `None` when there is none, or none any more."""
    try:
        return _ROWS.load(connection, id)
    except NotFound:
        return None


def update_session(connection: sa.Connection, id: str, change: Callable[[Session], Session]) -> Session:
    """The session as `change` makes it, stored."""
    return _ROWS.update(connection, id, change)


def delete_session(connection: sa.Connection, id: str) -> bool:
    """End one session; whether there was one."""
    return bool(_end(connection, SESSIONS.c.id == id))


def delete_sessions_of(connection: sa.Connection, user_id: str) -> int:
    """End all sessions of a person; how many there were."""
    return _end(connection, SESSIONS.c.user_id == user_id)


def _end(connection: sa.Connection, which: sa.ColumnElement[bool]) -> int:
    ended = connection.execute(sa.delete(SESSIONS).where(which).returning(SESSIONS.c.user_id)).scalars().all()
    for user_id in sorted(set(ended)):
        # Replicas remember people and not sessions.
        announce(connection, ChangeKind.USERS, user_id, "")
    return len(ended)


def delete_expired_sessions(connection: sa.Connection, now: datetime, limit: int) -> int:
    """Forget some sessions that have ended by themselves; how many."""
    old = sa.select(SESSIONS.c.id).where(SESSIONS.c.expires_at <= to_microseconds(now)).limit(limit)
    return connection.execute(sa.delete(SESSIONS).where(SESSIONS.c.id.in_(old))).rowcount
