"""Brings a database to the tables of this Fairway, or refuses it.

Of several replicas that start at once one migrates and the others find it done. On SQLite all of it is one transaction
that the caller has begun and that keeps others out. On PostgreSQL others go on writing meanwhile: each step is a
transaction of its own, and a crash leaves a database from which the next server that starts goes on. The steps are
alembic's, in `migrations`; what they keep to is said in `online`. A database that is up to date is told by its revision
alone: alembic is loaded only by who needs it, because it would stay in memory.
"""

from collections.abc import Callable
from pathlib import Path

import sqlalchemy as sa
import structlog

from fairway.server.store.errors import UnusableDatabase
from fairway.server.store.tables import METADATA

_log = structlog.get_logger()

#: How long a step that must be alone with a table of PostgreSQL waits for that; meanwhile others wait behind it.
LOCK_MILLISECONDS = 2_000
_MIGRATIONS = Path(__file__).with_name("migrations")
#: Where alembic notes the revision.
_VERSION = sa.table("alembic_version", sa.column("version_num", sa.Text))


def migrate(connection: sa.Connection, wait_for_turn: Callable[[], None] = lambda: None) -> None:
    """Bring the database to the newest revision; UnusableDatabase when it is not ours, not whole, or too new."""
    newest = _known_revisions()[-1]
    if _revision(connection) != newest:
        wait_for_turn()  # what is looked at before may be half of what another replica does meanwhile
        found = _usable_revision(connection)
        if found != newest:
            if found is not None:
                _log.info("the database is brought to the tables of this Fairway", revision=found, to=newest)
            _upgrade(connection)
    if missing := METADATA.tables.keys() - set(sa.inspect(connection).get_table_names()):
        raise UnusableDatabase(
            f"the database lacks tables that Fairway made ({', '.join(sorted(missing)[:3])}); restore a backup"
        )


def _usable_revision(connection: sa.Connection) -> str | None:
    """What the database was brought to, `None` for an empty one; UnusableDatabase when it is not ours or too new."""
    known, found = _known_revisions(), _revision(connection)
    if found is None and (strangers := set(sa.inspect(connection).get_table_names()) - {_VERSION.name}):
        raise UnusableDatabase(
            f"the database has tables that are not Fairway's ({', '.join(sorted(strangers)[:3])}…); give Fairway an "
            "empty database of its own"
        )
    if found is not None and found not in known:
        raise UnusableDatabase(
            f"the database was written by a newer Fairway (revision {found}; this one knows up to {known[-1]}); "
            "start that Fairway, or restore a backup from before it"
        )
    return found


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

    if connection.dialect.name == "postgresql":
        connection.rollback()  # of what was looked at; alembic begins and ends its own
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
