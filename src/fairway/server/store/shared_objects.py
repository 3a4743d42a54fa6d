"""Bytes that a plugin keeps for an application from one deployment to the next, by a key of its own."""

import sqlalchemy as sa

from fairway.server.store.errors import NotFound
from fairway.server.store.rows import upsert
from fairway.server.store.tables import SHARED_OBJECTS

_KEY = ("application_id", "plugin", "key")


def put_shared_object(connection: sa.Connection, application_id: str, plugin: str, key: str, object: bytes) -> None:
    """Store the bytes in place of those before."""
    values = {"application_id": application_id, "plugin": plugin, "key": key, "object": object}
    statement = upsert(connection, SHARED_OBJECTS).values(values)
    connection.execute(statement.on_conflict_do_update(index_elements=_KEY, set_={"object": object}))


def get_shared_object(connection: sa.Connection, application_id: str, plugin: str, key: str) -> bytes:
    """The bytes; NotFound when nobody stored any."""
    columns = SHARED_OBJECTS.c
    found: bytes | None = connection.execute(
        sa.select(columns.object).where(
            columns.application_id == application_id, columns.plugin == plugin, columns.key == key
        )
    ).scalar_one_or_none()
    if found is None:
        raise NotFound("shared object", f"{application_id}/{plugin}/{key}")
    return found


def size_of_all(connection: sa.Connection, application_id: str) -> int:
    """How many bytes all objects of an application have."""
    size = sa.func.coalesce(sa.func.sum(sa.func.length(SHARED_OBJECTS.c.object)), 0)
    found = connection.execute(sa.select(size).where(SHARED_OBJECTS.c.application_id == application_id)).scalar_one()
    return int(found)
