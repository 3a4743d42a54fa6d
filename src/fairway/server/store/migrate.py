"""Brings a database to the tables of this Fairway, or refuses it.

Runs in one transaction that the caller has begun and that keeps others out (an immediate one on SQLite, an
advisory lock on PostgreSQL), so of several replicas that start at once one migrates and the others find it done; a
crash in the middle leaves the database as it was. The steps are alembic's, in `migrations`. A database that is up to
date is told by its revision alone: alembic is loaded only by who needs it, because it would stay in memory.
"""

from pathlib import Path

import sqlalchemy as sa

from fairway.server.store.errors import UnusableDatabase
from fairway.server.store.tables import METADATA

_MIGRATIONS = Path(__file__).with_name("migrations")
#: Where alembic notes the revision.
_VERSION = sa.table("alembic_version", sa.column("version_num", sa.Text))


def migrate(connection: sa.Connection) -> None:
    """Bring the database to the newest revision; UnusableDatabase when it is not ours, not whole, or too new."""
    known, found = _known_revisions(), _revision(connection)
    if found is None and (strangers := sa.inspect(connection).get_table_names()):
        raise UnusableDatabase(
            f"the database has tables that are not Fairway's ({', '.join(sorted(strangers)[:3])}…); give Fairway an "
            "empty database of its own"
        )
    if found is not None and found not in known:
        raise UnusableDatabase(
            f"the database was written by a newer Fairway (revision {found}; this one knows up to {known[-1]}); "
            "start that Fairway, or restore a backup from before it"
        )
    if found != known[-1]:
        _upgrade(connection)
    if missing := METADATA.tables.keys() - set(sa.inspect(connection).get_table_names()):
        raise UnusableDatabase(
            f"the database lacks tables that Fairway made ({', '.join(sorted(missing)[:3])}); restore a backup"
        )


def _known_revisions() -> list[str]:
    """The revisions of this Fairway, oldest first; the name of a migration's file begins with its own."""
    return sorted(path.name.partition("_")[0] for path in (_MIGRATIONS / "versions").glob("[0-9]*.py"))


def _revision(connection: sa.Connection) -> str | None:
    """What the database was brought to; `None` when nobody has migrated it."""
    if not sa.inspect(connection).has_table(_VERSION.name):
        return None
    found: str | None = connection.execute(sa.select(_VERSION.c.version_num)).scalar_one_or_none()
    return found


def _upgrade(connection: sa.Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
