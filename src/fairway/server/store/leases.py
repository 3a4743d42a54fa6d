"""Who of several agents with the same id is at work: one lease for each id, with the token that its holder shows.

A report is stored only behind a look at the token in the same transaction. On PostgreSQL that look also keeps the row
as it is until the report is stored, so that nobody takes over between the two; on SQLite there is one writer anyway.
"""

from collections.abc import Callable
from datetime import datetime

import msgspec
import sqlalchemy as sa

from fairway.server.store.errors import NotFound
from fairway.server.store.prepared import PreparedSelect
from fairway.server.store.rows import Rows
from fairway.server.store.tables import LEASES


class Standby(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody who waits for a lease."""

    holder: str
    description: str
    #: When it last asked, or a little before.
    asked_at: datetime


class Lease(msgspec.Struct, frozen=True, kw_only=True):
    """The right to be at work as one agent. It never crosses a process, so it is no noun of `model`."""

    #: The agent's.
    id: str
    fencing_token: int
    holder: str
    description: str
    held_since: datetime
    #: How long its holder may believe that it holds it, from when it was last renewed.
    seconds: float
    #: Another one each time that it is renewed: by it, whoever looks at two times sees whether it was.
    beat: str
    #: Its holder has let go of it.
    released: bool = False
    standby: Standby | None = None


_ROWS = Rows(LEASES, Lease, "lease", lambda lease: {"id": lease.id, "fencing_token": lease.fencing_token})
# As text, which is what such statements give.
_TOKEN = sa.select(sa.cast(LEASES.c.fencing_token, sa.Text)).where(LEASES.c.id == sa.bindparam("agent_id"))
_OF_AGENT = PreparedSelect(_TOKEN)
_KEPT_AS_IT_IS = PreparedSelect(_TOKEN.with_for_update(read=True))


def find_lease(connection: sa.Connection, agent_id: str) -> Lease | None:
    """The lease of an agent; `None` while nobody has asked for it."""
    try:
        return _ROWS.load(connection, agent_id)
    except NotFound:
        return None


def change_lease(connection: sa.Connection, agent_id: str, change: Callable[[Lease | None], Lease | None]) -> None:
    """Store the lease as `change` makes it; nobody else changes it in between. `None` stays `None`."""
    try:
        _ROWS.update(connection, agent_id, lambda lease: change(lease) or lease)
    except NotFound:
        if (made := change(None)) is not None:
            # Of two who are the first at once, the second is told by AlreadyExists.
            _ROWS.insert(connection, made)


def current_token(connection: sa.Connection, agent_id: str, until_stored: bool) -> int | None:
    """The token of whoever is at work; `None` where nobody ever asked for a lease.

    With `until_stored` it stays what it is until the transaction has ended.
    """
    statement = _KEPT_AS_IT_IS if until_stored else _OF_AGENT
    token = statement.one(connection, {"agent_id": agent_id})
    return None if token is None else int(token)
