"""Alembic's entry. Fairway migrates only through `store.migrate`, which passes its connection in."""

from alembic import context

from fairway.server.store.tables import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
with context.begin_transaction():
    context.run_migrations()
