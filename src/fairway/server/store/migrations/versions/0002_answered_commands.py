"""An index by which commands that were answered long ago are found, to be forgotten."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the index."""
    answered = sa.text("handled_at IS NOT NULL")
    op.create_index("commands_answered", "commands", ["handled_at"], sqlite_where=answered, postgresql_where=answered)
