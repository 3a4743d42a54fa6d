"""Labels of applications and deployments as rows, so that a filter by label is part of the query.

A filter applied after a page is cut gives short and empty pages; this one never does.
"""

from collections.abc import Iterator, Mapping

import sqlalchemy as sa


def insert_labels(connection: sa.Connection, table: sa.Table, owner_id: str, labels: Mapping[str, str]) -> None:
    """Store the labels of something that had none."""
    rows = [{"owner_id": owner_id, "key": key, "value": value} for key, value in labels.items()]
    if rows:
        connection.execute(sa.insert(table), rows)


def replace_labels(connection: sa.Connection, table: sa.Table, owner_id: str, labels: Mapping[str, str]) -> None:
    """Store the labels in place of those that are there."""
    connection.execute(sa.delete(table).where(table.c.owner_id == owner_id))
    insert_labels(connection, table, owner_id, labels)


def labelled(table: sa.Table, owner: sa.Column[str], labels: Mapping[str, str]) -> Iterator[sa.ColumnElement[bool]]:
    """The conditions that an owner has each of the labels."""
    for key, value in sorted(labels.items()):
        yield owner.in_(sa.select(table.c.owner_id).where(table.c.key == key, table.c.value == value))
