"""Puts a population into an empty database in bulk, and says how far it has come.

The rows are those that the store would write. They are prepared ten thousand at a time and handed over as such; the
indexes are made when all of them are there, which takes a fraction of keeping them in order meanwhile.
"""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from operator import itemgetter
from typing import Any

import msgspec
import sqlalchemy as sa

from bench import population as nouns
from bench.population import Population, application_labels
from bench.progress import Progress

# What the store makes of a noun; there is no other use for it outside the store.
from fairway.server.store.agents import _ROWS as AGENT_ROWS
from fairway.server.store.applications import _ROWS as APPLICATION_ROWS
from fairway.server.store.audit import _ROWS as AUDIT_ROWS
from fairway.server.store.chains import _ROWS as CHAIN_ROWS
from fairway.server.store.commands import _ROWS as COMMAND_ROWS
from fairway.server.store.deployments import _ROWS as DEPLOYMENT_ROWS
from fairway.server.store.deployments import _label_rows as label_rows
from fairway.server.store.events import _ROWS as EVENT_ROWS
from fairway.server.store.rows import Rows
from fairway.server.store.tables import APPLICATION_LABELS, DEPLOYMENT_LABELS
from tests.integration.server.postgres import an_engine

Row = dict[str, Any]
#: Nouns that are prepared at once.
_BATCH = 10_000
_TABLES = (
    *(rows.table for rows in (AGENT_ROWS, APPLICATION_ROWS, DEPLOYMENT_ROWS, COMMAND_ROWS, EVENT_ROWS, CHAIN_ROWS)),
    AUDIT_ROWS.table,
    APPLICATION_LABELS,
    DEPLOYMENT_LABELS,
)


def fill(url: str, population: Population, progress: Progress | None = None) -> None:
    """Put the population into an empty, migrated database, and let it gather its statistics."""
    progress = progress or Progress(None)
    engine = an_engine(url, isolation_level="AUTOCOMMIT")
    is_sqlite = engine.dialect.name == "sqlite"
    indexes = [index for table in _TABLES for index in table.indexes]
    with engine.connect() as connection:
        for index in indexes:
            index.drop(connection)
        (_put_into_sqlite if is_sqlite else _copy_into_postgres)(connection, _counted(population, progress))
        for number, index in enumerate(indexes, start=1):
            progress.tell(f"index {number} of {len(indexes)}: {index.name}")
            index.create(connection)
        progress.tell("statistics")
        connection.execute(sa.text("ANALYZE" if is_sqlite else "VACUUM ANALYZE"))
    engine.dispose()


def _counted(population: Population, progress: Progress) -> Iterator[tuple[sa.Table, list[Row]]]:
    done, total = 0, population.rows
    for table, rows in _batches(population):
        yield table, rows
        done += len(rows)
        progress.tell_share("rows", done, total)


def _batches(population: Population) -> Iterator[tuple[sa.Table, list[Row]]]:
    """The rows of each noun, and those of its labels beside them."""
    yield from _of(AGENT_ROWS, nouns.agents(population))
    yield from _of(APPLICATION_ROWS, nouns.applications(population))
    numbers = range(population.applications)
    yield APPLICATION_LABELS, [row for number in numbers for row in _application_labels(population, number)]
    yield from _of(DEPLOYMENT_ROWS, nouns.deployments(population), lambda batch: (DEPLOYMENT_LABELS, _labels(batch)))
    yield from _of(COMMAND_ROWS, nouns.commands(population))
    yield from _of(EVENT_ROWS, nouns.events(population))
    yield from _of(CHAIN_ROWS, nouns.chains(population))
    yield from _of(AUDIT_ROWS, nouns.audit(population))


def _of(
    rows: Rows[Any], made: Iterable[Any], beside: Callable[[list[Any]], tuple[sa.Table, list[Row]]] | None = None
) -> Iterator[tuple[sa.Table, list[Row]]]:
    remaining: Iterator[msgspec.Struct] = iter(made)
    while batch := list(islice(remaining, _BATCH)):
        yield rows.table, [rows._values(noun) for noun in batch]
        if beside is not None:
            yield beside(batch)


def _application_labels(population: Population, number: int) -> list[Row]:
    owner = population.application_id(number)
    return [{"owner_id": owner, "key": key, "value": value} for key, value in application_labels(number).items()]


def _labels(batch: list[Any]) -> list[Row]:
    return [row for deployment in batch for row in label_rows(deployment)]


def _put_into_sqlite(connection: sa.Connection, batches: Iterable[tuple[sa.Table, list[Row]]]) -> None:
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    # Nobody needs it after a power cut, and nothing is written twice; the server makes it a WAL again. The keys of the
    # tables come in no order, so their indexes are kept in memory.
    driver.execute("PRAGMA journal_mode=OFF")
    driver.execute("PRAGMA synchronous=OFF")
    driver.execute("PRAGMA cache_size=-400000")
    driver.execute("BEGIN")
    for table, rows in batches:
        names = list(rows[0])
        marks = ", ".join("?" * len(names))
        driver.executemany(
            f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({marks})", map(itemgetter(*names), rows)
        )
    driver.execute("COMMIT")


def _copy_into_postgres(connection: sa.Connection, batches: Iterable[tuple[sa.Table, list[Row]]]) -> None:
    cursor: Any = connection.connection.cursor()
    for table, rows in batches:
        names = list(rows[0])
        with cursor.copy(f"COPY {table.name} ({', '.join(names)}) FROM STDIN") as copy:
            for row in map(itemgetter(*names), rows):
                copy.write_row(row)
