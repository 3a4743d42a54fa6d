"""Who of several agents with the same id is at work."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table, empty: an agent without a lease is left to itself until it asks for one."""
    op.create_table(
        "leases",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("fencing_token", sa.BigInteger, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
    )
