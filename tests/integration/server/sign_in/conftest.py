"""A server for each test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.integration.server.sign_in.browser import Place, a_place


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    async with a_place(tmp_path) as found:
        yield found
