"""Deployments by their beginning, as by their last change: for the project, a status, a kind, a label."""

import sqlalchemy as sa
from alembic import op

from fairway.server.store import online

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add what labels repeat, fill it, and make the indexes."""
    _add_column()
    labels = sa.table("deployment_labels", sa.column("owner_id", sa.Text), sa.column("created_at", sa.BigInteger))
    deployments = sa.table("deployments", sa.column("id", sa.Text), sa.column("created_at", sa.BigInteger))
    begun = sa.select(deployments.c.created_at).where(deployments.c.id == labels.c.owner_id).scalar_subquery()
    # 0 is left only where nothing has been filled in yet.
    filled = sa.update(labels).values(created_at=sa.func.coalesce(begun, 1)).where(labels.c.created_at == 0)
    online.fill(labels, "owner_id", filled)
    newest = sa.text("created_at DESC")
    online.create_index("deployments_by_creation", "deployments", ["project_id", newest, "id"])
    online.create_index("deployments_of_status_by_creation", "deployments", ["project_id", "status", newest, "id"])
    online.create_index("deployments_of_kind_by_creation", "deployments", ["project_id", "kind", newest, "id"])
    of_label = ["project_id", "key", "value", newest, "owner_id"]
    online.create_index("deployment_labels_by_creation", "deployment_labels", of_label)


def _add_column() -> None:
    if op.get_bind().dialect.name != "postgresql":
        op.add_column("deployment_labels", sa.Column("created_at", sa.BigInteger, nullable=False, server_default="0"))
        return
    op.execute("ALTER TABLE deployment_labels ADD COLUMN IF NOT EXISTS created_at BIGINT DEFAULT 0 NOT NULL")
    # An older replica says nothing of the column; what it begins, it begins now.
    now = "(extract(epoch FROM now()) * 1000000)::bigint"
    op.execute(f"ALTER TABLE deployment_labels ALTER COLUMN created_at SET DEFAULT {now}")
