"""The first tables.

A migration never changes once it is released, so it says in full what `tables` said on that day.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make every table and index."""
    _nouns()
    _applications()
    _deployments()
    _commands_and_events()
    op.create_table(
        "shared_objects",
        *(sa.Column(column, sa.Text, primary_key=True) for column in ("application_id", "plugin", "key")),
        sa.Column("object", sa.LargeBinary, nullable=False),
    )


def _nouns() -> None:
    for name in ("projects", "live_states", "suggestions"):
        _table(name)
    _table("chains", _text("project_id"))
    _table("agents", _text("project_id"), _time("last_seen_at", nullable=True))
    op.create_index("agents_of_project", "agents", ["project_id", "id"])
    _table("api_keys", _text("project_id"))
    op.create_index("api_keys_of_project", "api_keys", ["project_id", "id"])


def _applications() -> None:
    texts = ("project_id", "agent_id", "name", "kind", "repository_id", "path", "config_filename")
    _table(
        "applications",
        *(_text(name) for name in texts),
        sa.Column("disabled", sa.Boolean, nullable=False),
        _time("deleted_at", nullable=True),
        _time("updated_at"),
    )
    _partial_index("applications_of_agent", "applications", ["agent_id", "id"], "deleted_at IS NULL")
    _partial_index("applications_by_update", "applications", ["project_id", *_UPDATED], "deleted_at IS NULL")
    _partial_index(
        "applications_by_path", "applications", ["project_id", "repository_id", "path"], "deleted_at IS NULL"
    )
    _partial_index("applications_by_name", "applications", ["project_id", "name"], "deleted_at IS NULL")
    _labels("application_labels")


def _deployments() -> None:
    texts = ("project_id", "agent_id", "application_id", "application_name", "kind", "status")
    _table(
        "deployments",
        *(_text(name) for name in texts),
        _time("created_at"),
        _time("updated_at"),
        _time("completed_at", nullable=True),
    )
    op.create_index("deployments_by_update", "deployments", ["project_id", *_UPDATED])
    op.create_index("deployments_by_status", "deployments", ["project_id", "status", *_UPDATED])
    op.create_index("deployments_by_kind", "deployments", ["project_id", "kind", *_UPDATED])
    op.create_index("deployments_by_name", "deployments", ["project_id", "application_name", *_UPDATED])
    op.create_index("deployments_of_application", "deployments", ["application_id", *_UPDATED])
    op.create_index("deployments_in_order", "deployments", ["application_id", sa.text("created_at DESC"), "id"])
    _partial_index("deployments_open", "deployments", ["agent_id", "created_at", "id"], "completed_at IS NULL")
    _labels("deployment_labels")


def _commands_and_events() -> None:
    _table("commands", _text("agent_id"), _time("created_at"), _time("handled_at", nullable=True))
    _partial_index("commands_waiting", "commands", ["agent_id", "created_at", "id"], "handled_at IS NULL")
    op.create_table(
        "command_outputs",
        sa.Column("command_id", sa.Text, primary_key=True),
        sa.Column("output", sa.LargeBinary, nullable=False),
    )
    _table("events", _text("project_id"), _text("key"), _text("status"), _time("created_at"))
    op.create_index("events_by_time", "events", ["project_id", "created_at", "id"])
    op.create_index("events_by_key", "events", ["project_id", "key", sa.text("created_at DESC"), "id"])


_UPDATED = (sa.text("updated_at DESC"), "id")


def _table(name: str, *columns: sa.Column[str] | sa.Column[int] | sa.Column[bool]) -> None:
    document = sa.Column("document", sa.Text, nullable=False)
    op.create_table(name, sa.Column("id", sa.Text, primary_key=True), *columns, document)


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False)


def _time(name: str, nullable: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=nullable)


def _partial_index(name: str, table: str, columns: list[str | sa.TextClause], condition: str) -> None:
    where = sa.text(condition)
    op.create_index(name, table, columns, sqlite_where=where, postgresql_where=where)


def _labels(name: str) -> None:
    op.create_table(name, *(sa.Column(column, sa.Text, primary_key=True) for column in ("key", "value", "owner_id")))
    op.create_index(f"{name}_of_owner", name, ["owner_id"])
