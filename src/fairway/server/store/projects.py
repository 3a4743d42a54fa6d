"""Projects: the owners of everything else."""

from collections.abc import Callable
from datetime import datetime

import msgspec
import sqlalchemy as sa

from fairway.server.store.rows import Rows
from fairway.server.store.tables import PROJECTS


class Project(msgspec.Struct, frozen=True, kw_only=True):
    """One owner of applications, agents and users. It never crosses a process, so it is no noun of `model`."""

    id: str
    created_at: datetime
    updated_at: datetime
    desc: str = ""


_ROWS = Rows(PROJECTS, Project, "project", lambda project: {"id": project.id})


def insert_project(connection: sa.Connection, project: Project) -> None:
    """Store a new project."""
    _ROWS.insert(connection, project)


def load_project(connection: sa.Connection, id: str) -> Project:
    """The project with this id."""
    return _ROWS.load(connection, id)


def list_projects(connection: sa.Connection) -> tuple[Project, ...]:
    """All projects, by id."""
    return _ROWS.query(connection, sa.select(PROJECTS.c.document).order_by(PROJECTS.c.id))


def update_project(connection: sa.Connection, id: str, change: Callable[[Project], Project]) -> Project:
    """The project as `change` makes it, stored."""
    return _ROWS.update(connection, id, change)


def lock_project(connection: sa.Connection, id: str) -> None:
    """Let nobody else lock the project until the transaction ends."""
    connection.execute(sa.select(PROJECTS.c.id).where(PROJECTS.c.id == id).with_for_update())
