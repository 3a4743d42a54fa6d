"""Labels of applications and deployments as rows, so that a filter by label is part of the query.

A filter applied after a page is cut gives short and empty pages; this one never does. What a caller may see is such a
filter too: patterns of values, in which * stands for any text and ? for one character. `permissions` reads them in the
same way for one noun at a time; a test holds the two together.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

import sqlalchemy as sa

#: Label → pattern of its value, several times over: whoever has all labels of one of them fits.
Patterns: TypeAlias = tuple[dict[str, str], ...]

#: Lets everything through: no label is asked for.
EVERYTHING: Patterns = ({},)


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
        label = table.alias()
        yield _has(label, owner, key, label.c.value == value)


def label_patterns(
    connection: sa.Connection, table: sa.Table, owner: sa.ColumnElement[str], patterns: Patterns
) -> Iterator[sa.ColumnElement[bool]]:
    """The condition that an owner has all labels of one of the patterns; none where everything fits."""

    def has(key: str, pattern: str) -> sa.ColumnElement[bool]:
        label = table.alias()
        return _has(label, owner, key, _fits(connection, label.c.value, pattern))

    return _one_of(patterns, has)


def document_label_patterns(
    connection: sa.Connection, document: sa.ColumnElement[str], patterns: Patterns
) -> Iterator[sa.ColumnElement[bool]]:
    """The same for a noun whose labels are only in its document."""

    def has(key: str, pattern: str) -> sa.ColumnElement[bool]:
        if connection.dialect.name == "sqlite":
            labels = sa.func.json_each(document, "$.labels").table_valued("key", "value")
            fitting = labels.c.key == key, _fits(connection, labels.c.value, pattern)
            return sa.exists().select_from(labels).where(*fitting)
        value = sa.func.json_extract_path_text(sa.cast(document, sa.JSON), "labels", key)
        return _fits(connection, value, pattern)

    return _one_of(patterns, has)


def _has(
    label: sa.FromClause, owner: sa.ColumnElement[str], key: str, fits: sa.ColumnElement[bool]
) -> sa.ColumnElement[bool]:
    """Asked of each owner in turn, in the order of the page; all that fit are too many to be collected beforehand.

    No EXISTS, because PostgreSQL does collect them when it meets several of those in one `or`.
    """
    found = sa.select(sa.literal(1)).where(label.c.owner_id == owner, label.c.key == key, fits)
    return found.limit(1).scalar_subquery().is_not(None)


def _one_of(patterns: Patterns, has: Callable[[str, str], sa.ColumnElement[bool]]) -> Iterator[sa.ColumnElement[bool]]:
    if all(patterns):
        wanted = (sa.and_(*(has(key, pattern) for key, pattern in sorted(each.items()))) for each in patterns)
        yield sa.or_(sa.false(), *wanted)


def _fits(connection: sa.Connection, value: sa.ColumnElement[str], pattern: str) -> sa.ColumnElement[bool]:
    if connection.dialect.name == "sqlite":
        # Its LIKE knows no case; its GLOB knows classes, which we do not.
        return value.op("GLOB", return_type=sa.Boolean())(pattern.replace("[", "[[]"))
    for special in ("\\", "%", "_"):
        pattern = pattern.replace(special, "\\" + special)
    return value.like(pattern.replace("*", "%").replace("?", "_"), escape="\\")
