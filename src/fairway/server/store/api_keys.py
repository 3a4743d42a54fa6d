"""Keys with which programs act on a project; only their hashes."""

from collections.abc import Callable

import sqlalchemy as sa

from fairway.model.api_key import APIKey
from fairway.server.store.rows import Rows
from fairway.server.store.tables import API_KEYS

_ROWS = Rows(API_KEYS, APIKey, "API key", lambda key: {"id": key.id, "project_id": key.project_id})


def insert_api_key(connection: sa.Connection, key: APIKey) -> None:
    """Store a new key."""
    _ROWS.insert(connection, key)


def load_api_key(connection: sa.Connection, id: str) -> APIKey:
    """The key with this id."""
    return _ROWS.load(connection, id)


def update_api_key(connection: sa.Connection, id: str, change: Callable[[APIKey], APIKey]) -> APIKey:
    """The key as `change` makes it, stored."""
    return _ROWS.update(connection, id, change)


def list_api_keys(connection: sa.Connection, project_id: str) -> tuple[APIKey, ...]:
    """All keys of a project, by id."""
    statement = sa.select(API_KEYS.c.document).where(API_KEYS.c.project_id == project_id).order_by(API_KEYS.c.id)
    return _ROWS.query(connection, statement)
