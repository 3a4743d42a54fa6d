"""A server that nobody asks for much stays small: libraries for a database, a bucket or a sign-in are loaded by use."""

import subprocess
import sys
from pathlib import Path

import pytest

#: Starts a server, stops it as soon as it answers, and prints what has been loaded.
_PROGRAM = """
import asyncio, sys
from pathlib import Path
from fairway.clock import SystemClock
from fairway.server.app import ServerSettings, run_server

async def main():
    stop = asyncio.Event()
    settings = ServerSettings(data=Path(sys.argv[1]), listen="127.0.0.1:0", http_listen="127.0.0.1:0")
    await run_server(settings, SystemClock(), lambda running: stop.set(), stop)

asyncio.run(main())
print(*sys.modules)
"""
#: Each of them some megabytes.
SPARED = (
    "alembic",
    "argon2",
    "authlib",
    "cryptography",
    "httpx",
    "httpx2",
    "joserfc",
    "obstore",
    "opentelemetry.sdk",
    "psycopg",
    "pydantic",
)


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    data = tmp_path_factory.mktemp("data")
    _started(data)  # migrates the database, for which alembic is needed
    return _started(data)


@pytest.mark.parametrize("library", SPARED)
def test_an_idle_server_has_not_loaded_what_it_does_not_use(loaded: set[str], library: str) -> None:
    assert "fairway.server.app" in loaded
    assert library not in loaded


def _started(data: Path) -> set[str]:
    run = subprocess.run([sys.executable, "-c", _PROGRAM, str(data)], capture_output=True, text=True, check=True)
    return set(run.stdout.split())
