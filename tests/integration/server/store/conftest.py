"""An empty store on each of the two databases, so that every contract is held to by both."""

import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from fairway.server.store.store import Store
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
    return a_database(postgres_server, f"test_{uuid.uuid4().hex}")


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str:
    found: str = request.getfixturevalue(f"{request.param}_url")
    return found


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    store = await Store.open(url)
    yield store
    await store.close()
