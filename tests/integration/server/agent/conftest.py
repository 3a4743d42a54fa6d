"""Both databases, for the tests that depend on what a database does."""

from collections.abc import Iterator
from pathlib import Path

import pytest

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
    return a_database(request.getfixturevalue("postgres_server"))
