"""Actions over both databases."""

import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.integration.server.actions.acting import Acting, acting
from tests.integration.server.postgres import a_database, a_postgres_server


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    with a_postgres_server() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'fairway.db'}"
    return a_database(request.getfixturevalue("postgres_server"), f"test_{uuid.uuid4().hex}")


@pytest.fixture
async def parts(database: str, tmp_path: Path) -> AsyncIterator[Acting]:
    """Everything that actions need, with one of each noun in project `acme`."""
    async with acting(tmp_path, database) as made:
        yield made
