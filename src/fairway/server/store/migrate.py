"""Brings a database to the tables of this Fairway, or refuses it.

Runs in one transaction that the caller has begun and that keeps others out (an immediate one on SQLite, an
advisory lock on PostgreSQL), so of several replicas that start at once one migrates and the others find it done; a
crash in the middle leaves the database as it was. The steps are alembic's, in `migrations`.
"""

from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from fairway.server.store.errors import UnusableDatabase

_MIGRATIONS = Path(__file__).with_name("migrations")


def migrate(connection: sa.Connection) -> None:
    """Bring the database to the newest revision; UnusableDatabase when it is not ours or is newer than we are."""
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    known = [script.revision for script in ScriptDirectory.from_config(config).walk_revisions()]
    found = MigrationContext.configure(connection).get_current_revision()
    if found is None and (strangers := sa.inspect(connection).get_table_names()):
        raise UnusableDatabase(
            f"the database has tables that are not Fairway's ({', '.join(sorted(strangers)[:3])}…); give Fairway an "
            "empty database of its own"
        )
    if found is not None and found not in known:
        raise UnusableDatabase(
            f"the database was written by a newer Fairway (revision {found}; this one knows up to {known[0]}); "
            "start that Fairway, or restore a backup from before it"
        )
    if found != known[0]:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
