"""Actions over both databases."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from fairway.server.store.tables import METADATA
from tests.integration.server.actions.acting import Acting, acting
from tests.integration.server.postgres import a_database, a_postgres_server


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    with a_postgres_server() as server:
        yield server


@pytest.fixture(scope="session")
def emptied_database(postgres_server: str) -> str:
    """A database that tests use one after another, each leaving it empty: making one takes longer than a test."""
    return a_database(postgres_server)


@pytest.fixture(params=["sqlite", "postgres"])
async def parts(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Acting]:
    """Everything that actions need, with one of each noun in project `acme`."""
    on_sqlite = request.param == "sqlite"
    url = f"sqlite:///{tmp_path / 'fairway.db'}" if on_sqlite else request.getfixturevalue("emptied_database")
    async with acting(tmp_path, url) as made:
        yield made
        await made.store.write(_empty)


def _empty(connection: sa.Connection) -> None:
    for table in METADATA.sorted_tables:
        connection.execute(sa.delete(table))
