"""People, their roles and sessions, what they changed, and who tells of pushes; commands and chains by time."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables, and the columns with what the documents say."""
    for name in ("users", "roles", "settings"):
        _table(name)
    _table("webhooks", sa.Column("project_id", sa.Text, nullable=False))
    for name in ("sessions", "sign_in_links"):
        user, end = (
            sa.Column("user_id", sa.Text, nullable=False),
            sa.Column("expires_at", sa.BigInteger, nullable=False),
        )
        _table(name, user, end)
        op.create_index(f"{name}_of_user", name, ["user_id"])
    op.create_index("sessions_by_end", "sessions", ["expires_at"])
    _audit()
    _columns("commands", *map(_text, ("project_id", "application_id", "deployment_id", "status")))
    _columns("chains", sa.Column("created_at", sa.BigInteger, nullable=False, server_default="0"))
    _columns("events", _text("name"))
    _lists()


def _table(name: str, *columns: sa.Column[Any]) -> None:
    id, document = sa.Column("id", sa.Text, primary_key=True), sa.Column("document", sa.Text, nullable=False)
    op.create_table(name, id, *columns, document)


def _audit() -> None:
    texts = [sa.Column(name, sa.Text, nullable=False) for name in ("project_id", "actor", "action", "subject_id")]
    _table("audit", *texts, sa.Column("created_at", sa.BigInteger, nullable=False))
    newest = (sa.text("created_at DESC"), "id")
    op.create_index("audit_by_time", "audit", ["project_id", *newest])
    for index, column in {"actor": "actor", "action": "action", "subject": "subject_id"}.items():
        op.create_index(f"audit_by_{index}", "audit", ["project_id", column, *newest])


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False, server_default="")


def _columns(table: str, *columns: sa.Column[Any]) -> None:
    """Add columns, and fill them from the documents."""
    for column in columns:
        op.add_column(table, column)
    names = [column.name for column in columns]
    rows = sa.table(table, sa.column("id", sa.Text), sa.column("document", sa.Text), *map(sa.column, names))
    connection = op.get_bind()
    for id, document in connection.execute(sa.select(rows.c.id, rows.c.document)).all():
        said = json.loads(document)
        values = {name: _microseconds(said[name]) if name == "created_at" else said[name] for name in names}
        connection.execute(sa.update(rows).where(rows.c.id == id).values(values))


def _lists() -> None:
    """The indexes of lists that people page through, newest first."""
    newest = (sa.text("created_at DESC"), "id")
    op.create_index("commands_by_time", "commands", ["project_id", *newest])
    op.create_index("commands_by_status", "commands", ["project_id", "status", *newest])
    op.create_index("commands_of_application", "commands", ["application_id", *newest])
    op.create_index("commands_of_deployment", "commands", ["deployment_id", *newest])
    op.create_index("chains_by_time", "chains", ["project_id", *newest])
    op.create_index("events_by_name", "events", ["project_id", "name", *newest])
    op.create_index("events_by_status", "events", ["project_id", "status", *newest])


def _microseconds(text: str) -> int:
    return (datetime.fromisoformat(text) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
