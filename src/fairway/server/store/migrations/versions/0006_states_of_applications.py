"""How applications stand, in columns, so that they are counted without reading their documents."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns, fill them from the documents, and make the indexes that count."""
    for name in ("sync_status", "health"):
        op.add_column("applications", sa.Column(name, sa.Text, nullable=False, server_default="unknown"))
    connection = op.get_bind()
    applications = sa.table("applications", *map(sa.column, ("id", "sync_status", "health")))
    for table, column in (("applications", "sync_status"), ("live_states", "health")):
        rows = sa.table(table, sa.column("id", sa.Text), sa.column("document", sa.Text))
        for id, document in connection.execute(sa.select(rows.c.id, rows.c.document)).all():
            said = _said(document, column)
            connection.execute(sa.update(applications).where(applications.c.id == id).values({column: said}))
    kept = sa.text("deleted_at IS NULL")
    columns = ["project_id", "sync_status", "health", "disabled", "id"]
    op.create_index("applications_counted", "applications", columns, sqlite_where=kept, postgresql_where=kept)
    # With all columns: else SQLite goes through everything that has the label for each application it asks about.
    op.drop_index("application_labels_of_owner", "application_labels")
    op.create_index("application_labels_of_owner", "application_labels", ["owner_id", "key", "value"])


def _said(document: str, column: str) -> str:
    """What a document says of it; nothing is said of an application that nobody has looked at."""
    noun = json.loads(document)
    found = (noun.get("sync_state") or {}).get("status") if column == "sync_status" else noun.get("health")
    return str(found or "unknown")
