"""Labels of deployments repeat what deployments are ordered by, so that a page of a label is read in order.

Also indexes for what was found by reading a whole table.
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table anew, with the rows of the old one; make the indexes."""
    op.rename_table("deployment_labels", "old_deployment_labels")
    op.create_table(
        "deployment_labels",
        sa.Column("owner_id", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
        sa.Column("project_id", sa.Text, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
    )
    op.execute(
        "INSERT INTO deployment_labels (owner_id, key, value, project_id, updated_at) "
        "SELECT old.owner_id, old.key, old.value, deployments.project_id, deployments.updated_at "
        "FROM old_deployment_labels AS old JOIN deployments ON deployments.id = old.owner_id"
    )
    op.drop_table("old_deployment_labels")
    newest = sa.text("updated_at DESC")
    op.create_index(
        "deployment_labels_by_update", "deployment_labels", ["project_id", "key", "value", newest, "owner_id"]
    )
    op.create_index("sign_in_links_by_end", "sign_in_links", ["expires_at"])
    op.create_index("webhooks_of_project", "webhooks", ["project_id", "id"])
    kept = sa.text("deleted_at IS NULL")
    op.create_index(
        "applications_by_state",
        "applications",
        ["project_id", "disabled", newest, "id"],
        sqlite_where=kept,
        postgresql_where=kept,
    )
