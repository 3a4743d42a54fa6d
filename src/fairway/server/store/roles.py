"""Roles that somebody made. The built-in ones are part of the model and never stored."""

import sqlalchemy as sa

from fairway.model.role import Role
from fairway.server.store.errors import NotFound
from fairway.server.store.rows import Rows
from fairway.server.store.tables import ROLES

_ROWS = Rows(ROLES, Role, "role", lambda role: {"id": role.name})


def save_role(connection: sa.Connection, role: Role) -> None:
    """Store a role, whether there was one of its name or not."""
    _ROWS.save(connection, role)


def load_role(connection: sa.Connection, name: str) -> Role:
    """The role of this name."""
    return _ROWS.load(connection, name)


def find_role(connection: sa.Connection, name: str) -> Role | None:
    """The role of this name; `None` when there is none."""
    try:
        return _ROWS.load(connection, name)
    except NotFound:
        return None


def delete_role(connection: sa.Connection, name: str) -> None:
    """Forget a role; NotFound when there is none."""
    if not _ROWS.delete(connection, name):
        raise NotFound("role", name)


def list_roles(connection: sa.Connection) -> tuple[Role, ...]:
    """All of them, by name."""
    return _ROWS.query(connection, sa.select(ROLES.c.document).order_by(ROLES.c.id))
