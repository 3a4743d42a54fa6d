"""An empty store on each of the two databases, so that every contract is held to by both."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from fairway.server.store.store import Store
from fairway.server.store.tables import METADATA
from tests.integration.server.postgres import a_database, a_postgres_server


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    with a_postgres_server() as server:
        yield server


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/fairway.db"


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    return a_database(postgres_server)


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str:
    """A database that nobody has opened yet."""
    found: str = request.getfixturevalue(f"{request.param}_url")
    return found


@pytest.fixture(scope="session")
def emptied_database(postgres_server: str) -> str:
    """A database that tests use one after another, each leaving it empty: making one takes longer than a test."""
    return a_database(postgres_server)


@pytest.fixture(params=["sqlite", "postgres"])
async def store(request: pytest.FixtureRequest) -> AsyncIterator[Store]:
    """An empty store."""
    url = {"sqlite": "sqlite_url", "postgres": "emptied_database"}[request.param]
    store = await Store.open(request.getfixturevalue(url))
    yield store
    await store.write(_empty)
    await store.close()


def _empty(connection: sa.Connection) -> None:
    for table in METADATA.sorted_tables:
        connection.execute(sa.delete(table))
