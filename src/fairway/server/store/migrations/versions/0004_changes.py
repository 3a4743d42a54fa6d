"""What changed lately, in the order of transactions, so that one replica learns what another one stored."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the table. On SQLite, which has one process, it stays empty."""
    op.create_table(
        "changes",
        sa.Column("transaction_id", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("project_id", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
    )
