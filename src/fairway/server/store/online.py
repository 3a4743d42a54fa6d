"""Steps of migrations during which replicas of an older Fairway go on writing to the same PostgreSQL.

Rules, held by a test for every migration from 0007 on: nothing is dropped or renamed; a new column may be left out by
who does not know it, so it has a default or may be empty; no lock that keeps writers out is held while rows are read.
So indexes are made beside the writers, and columns filled a few rows at a time, each time in a transaction of its own.
What a crash leaves half done is done again by the next server that starts: such steps must bear to be repeated. On
SQLite, which one process uses, the same is part of the one transaction that migrates.
"""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

from fairway.server.store.migrate import LOCK_MILLISECONDS

#: Rows whose writers may have to wait for a moment.
_AT_A_TIME = 2_000


def create_index(name: str, table: str, columns: Sequence[Any]) -> None:
    """Make an index, in whatever time that takes, and keep nobody from writing meanwhile."""
    if not _has_writers(table):
        op.create_index(name, table, list(columns))
        return
    with op.get_context().autocommit_block():
        connection = op.get_bind()
        made = sa.text("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(:name)")
        is_whole = connection.execute(made, {"name": name}).scalar_one_or_none()
        if is_whole:
            return
        # It waits until all who have begun are done, and that holds up nobody.
        connection.execute(sa.text("SET lock_timeout = 0"))
        if is_whole is False:
            op.execute(f"DROP INDEX CONCURRENTLY {name}")
        op.create_index(name, table, list(columns), postgresql_concurrently=True)
        connection.execute(sa.text(f"SET lock_timeout = {LOCK_MILLISECONDS}"))


def fill(table: sa.TableClause, key: str, update: sa.Update) -> None:
    """Run an update of many rows, some at a time, in the order of a key that an index has."""
    if not _has_writers(table.name):
        op.execute(update)
        return
    order = table.c[key]
    some = sa.select(order).where(order > sa.bindparam("after")).order_by(order).limit(_AT_A_TIME).subquery()
    last = sa.select(sa.func.max(some.c[key]))
    of_some = update.where(order > sa.bindparam("after"), order <= sa.bindparam("last"))
    with op.get_context().autocommit_block():
        connection, after = op.get_bind(), ""
        while (found := connection.execute(last, {"after": after}).scalar_one()) is not None:
            connection.execute(of_some, {"after": after, "last": found})
            after = found


def _has_writers(table: str) -> bool:
    """Whether replicas may be writing to rows that are there."""
    connection = op.get_bind()
    if connection.dialect.name != "postgresql":
        return False
    return connection.execute(sa.select(sa.literal(1)).select_from(sa.table(table)).limit(1)).first() is not None
