"""What pieces of work changed: noted by the rows themselves, told to whoever listens once it is durable.

Nobody who stores something has to think of those who watch. What a piece of work changed is collected beside its
connection and dropped when the work is undone. On SQLite there is one process, and no SQL is spent on it. On PostgreSQL
each transaction also leaves a row for each change, so that other replicas can read what they were not told.

Numbers are given before commits and become visible in another order, so whoever remembers the highest number seen and
asks for higher ones loses changes. A position is therefore a snapshot of PostgreSQL: exactly the transactions whose
changes have been seen. It holds nobody up while some transaction, of this database or another, stays open.
"""

import enum
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta

import msgspec
import sqlalchemy as sa

from fairway.server.store.errors import UnusableInput

#: More than that is not told one by one: whoever is so far behind looks at everything again.
MOST_AT_ONCE = 10_000
#: How long a replica, or the client of one that is gone, may have been away to be told what it missed.
KEPT_FOR = timedelta(minutes=15)

_COLLECTED = "fairway_changes"
#: Marks up to which transaction rows have been forgotten; it stands in front of all others.
_FORGOTTEN = "forgotten"
_SNAPSHOT = re.compile(r"([0-9]{1,19}):([0-9]{1,19}):((?:[0-9]{1,19}(?:,[0-9]{1,19})*)?)")
_LONGEST_SNAPSHOT = 4_000


class ChangeKind(enum.Enum):
    """The nouns whose changes are told, each by the name of its table."""

    APPLICATIONS = "applications"
    DEPLOYMENTS = "deployments"
    AGENTS = "agents"
    COMMANDS = "commands"
    EVENTS = "events"
    CHAINS = "chains"
    PROJECTS = "projects"
    #: The rest is told because every replica remembers for a while who may do what.
    API_KEYS = "api_keys"
    #: When a session ends, too: it is its user's.
    USERS = "users"
    ROLES = "roles"
    SETTINGS = "settings"
    #: An application's, beside the application itself: somebody may see it no longer.
    LABELS = "labels"


#: What of the database's tables is told.
KINDS = {kind.value: kind for kind in ChangeKind}


class Change(msgspec.Struct, frozen=True):
    """Something was made, changed or deleted. What it is now, the store says."""

    kind: ChangeKind
    id: str
    #: Empty for what belongs to no project.
    project_id: str


class ChangesSince(msgspec.Struct, frozen=True):
    """What was stored since a position."""

    #: To go on from.
    position: str
    #: Each once, in the order of transactions; `None` when it is not known, or too much to tell.
    changes: tuple[Change, ...] | None


#: Is told what a durable piece of work changed, in the event loop of whoever asked for it.
Listener = Callable[[Sequence[Change]], None]


def collect(connection: sa.Connection) -> list[Change]:
    """Begin to note what is changed on this connection; the list fills as the work goes on."""
    changes: list[Change] = []
    connection.info[_COLLECTED] = changes
    return changes


def announce(connection: sa.Connection, kind: ChangeKind, id: str, project_id: str) -> None:
    """Note a change that the work on this connection makes. What is stored through `Rows` is noted already."""
    collected: list[Change] | None = connection.info.get(_COLLECTED)
    if collected is not None:
        collected.append(Change(kind, id, project_id))


def record(connection: sa.Connection, changes: Iterable[Change]) -> None:
    """Leave rows for other replicas, in the transaction that made the changes. PostgreSQL only."""
    each = tuple(dict.fromkeys(changes))
    if each:
        columns = [change.kind.value for change in each], [change.id for change in each]
        connection.exec_driver_sql(_RECORD, (*columns, [change.project_id for change in each]))


def changes_since(connection: sa.Connection, position: str) -> ChangesSince:
    """What became visible since the position; with an empty one, only the position of now. PostgreSQL only."""
    if not position:
        return ChangesSince(connection.exec_driver_sql(_NOW).scalar_one(), ())
    oldest, newest = _bounds(position)
    found = connection.exec_driver_sql(_SINCE, (oldest, position, MOST_AT_ONCE + 1)).all()
    now: str = found[0][0]
    changes = tuple(Change(KINDS[kind], id, project_id) for _, kind, id, project_id in found if kind in KINDS)
    known = len(changes) <= MOST_AT_ONCE and newest <= _bounds(now)[1]
    if known:
        # Rows up to this transaction are gone; the position must have seen all of them.
        first = connection.exec_driver_sql(_FIRST).one_or_none()
        known = first is None or first.kind != _FORGOTTEN or oldest > first.transaction_id
    return ChangesSince(now, tuple(dict.fromkeys(changes)) if known else None)


def forget_old_changes(connection: sa.Connection) -> int:
    """Delete rows that nobody is expected to ask for any more; how many. PostgreSQL only."""
    age = f"{KEPT_FOR.total_seconds()} seconds"
    last = connection.exec_driver_sql(_OLD, (_FORGOTTEN, age)).scalar_one()
    if last is None:
        return 0
    deleted = connection.exec_driver_sql(_DELETE, (last,)).rowcount
    connection.exec_driver_sql(_MARK, (last, _FORGOTTEN))
    return deleted


def _bounds(position: str) -> tuple[int, int]:
    """From which transaction on some, and all, were not seen; UnusableInput for what is no snapshot."""
    found = _SNAPSHOT.fullmatch(position) if len(position) <= _LONGEST_SNAPSHOT else None
    if found is not None:
        oldest, newest = int(found[1]), int(found[2])
        running = [int(number) for number in found[3].split(",")] if found[3] else []
        inside = all(oldest <= number < newest for number in running)
        if 0 < oldest <= newest < 2**63 and inside and running == sorted(set(running)):
            return oldest, newest
    raise UnusableInput(f"{position[:60]!r} is no position among changes; use one that the server gave, or none")


# Written out, because SQLAlchemy has no words for snapshots.
_RECORD = """
    INSERT INTO changes (transaction_id, number, kind, id, project_id, created_at)
    SELECT pg_current_xact_id()::text::bigint, number, kind, id, project_id,
        (extract(epoch FROM now()) * 1000000)::bigint
    FROM unnest(%s::text[], %s::text[], %s::text[]) WITH ORDINALITY AS each (kind, id, project_id, number)
"""
_NOW = "SELECT pg_current_snapshot()::text"
_SINCE = """
    SELECT pg_current_snapshot()::text, kind, id, project_id
    FROM (SELECT 1) AS always LEFT JOIN changes
        ON transaction_id >= %s AND NOT pg_visible_in_snapshot(transaction_id::text::xid8, %s::pg_snapshot)
    ORDER BY transaction_id, number LIMIT %s
"""
_FIRST = "SELECT transaction_id, kind FROM changes ORDER BY transaction_id, number LIMIT 1"
_OLD = """
    SELECT max(transaction_id) FROM changes
    WHERE kind <> %s AND created_at < (extract(epoch FROM now() - %s::interval) * 1000000)::bigint
"""
_DELETE = "DELETE FROM changes WHERE transaction_id <= %s"
_MARK = "INSERT INTO changes VALUES (%s, 0, %s, '', '', (extract(epoch FROM now()) * 1000000)::bigint)"
