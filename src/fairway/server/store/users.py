"""People, by the names they are known by."""

from collections.abc import Callable

import sqlalchemy as sa

from fairway.model.user import User
from fairway.server.store.errors import NotFound
from fairway.server.store.rows import Rows
from fairway.server.store.tables import USERS

_ROWS = Rows(USERS, User, "user", lambda user: {"id": user.id})


def insert_user(connection: sa.Connection, user: User) -> None:
    """Store a new person."""
    _ROWS.insert(connection, user)


def load_user(connection: sa.Connection, id: str) -> User:
    """The person with this name."""
    return _ROWS.load(connection, id)


def find_user(connection: sa.Connection, id: str) -> User | None:
    """The person with this name; `None` when there is none."""
    try:
        return _ROWS.load(connection, id)
    except NotFound:
        return None


def update_user(connection: sa.Connection, id: str, change: Callable[[User], User]) -> User:
    """The person as `change` makes them, stored."""
    return _ROWS.update(connection, id, change)


def delete_user(connection: sa.Connection, id: str) -> None:
    """Forget a person; NotFound when there is none."""
    if not _ROWS.delete(connection, id):
        raise NotFound("user", id)


def list_users(connection: sa.Connection) -> tuple[User, ...]:
    """Everybody, by name."""
    return _ROWS.query(connection, sa.select(USERS.c.document).order_by(USERS.c.id))


def page_of_users(connection: sa.Connection, after: str, limit: int) -> tuple[User, ...]:
    """The next people by name; everything from the first when `after` is empty."""
    statement = sa.select(USERS.c.document).where(USERS.c.id > after).order_by(USERS.c.id).limit(limit)
    return _ROWS.query(connection, statement)


def any_user(connection: sa.Connection) -> bool:
    """Whether there is anybody at all."""
    return connection.execute(sa.select(USERS.c.id).limit(1)).first() is not None


def lock_users(connection: sa.Connection) -> tuple[User, ...]:
    """Everybody, by name; nobody else changes anybody until the transaction ends."""
    return _ROWS.query(connection, sa.select(USERS.c.document).order_by(USERS.c.id).with_for_update())
