"""Alembic's entry. Fairway migrates only through `store.migrate`, which passes its connection in."""

from alembic import context

from fairway.server.store.tables import METADATA

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=METADATA,
    # Replicas go on writing to PostgreSQL, so no step may hold its locks until the last one is done.
    transaction_per_migration=connection.dialect.name == "postgresql",
)
with context.begin_transaction():
    context.run_migrations()
