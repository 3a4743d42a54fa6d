"""Labels of deployments repeat what deployments are ordered by, so that a page of a label is read in order."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table anew, with the rows of the old one."""
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
