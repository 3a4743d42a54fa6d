"""Deployments by their beginning, as by their last change: for the project, a status, a kind, a label."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add what labels repeat, fill it, and make the indexes."""
    op.add_column("deployment_labels", sa.Column("created_at", sa.BigInteger, nullable=False, server_default="0"))
    op.execute(
        "UPDATE deployment_labels SET created_at = "
        "(SELECT created_at FROM deployments WHERE deployments.id = deployment_labels.owner_id)"
    )
    newest = sa.text("created_at DESC")
    op.create_index("deployments_by_creation", "deployments", ["project_id", newest, "id"])
    op.create_index("deployments_of_status_by_creation", "deployments", ["project_id", "status", newest, "id"])
    op.create_index("deployments_of_kind_by_creation", "deployments", ["project_id", "kind", newest, "id"])
    op.create_index(
        "deployment_labels_by_creation", "deployment_labels", ["project_id", "key", "value", newest, "owner_id"]
    )
