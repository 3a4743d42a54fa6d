"""A real PostgreSQL for tests: a child process on a free loopback port, with its data in a temporary directory.

It syncs nothing, because nobody pulls the plug on a test (a bench asks for a durable one), and runs as `nobody` when we
are root, because it refuses to be root. Each test gets a database of its own. Where there is no PostgreSQL the tests
are skipped with one line that says how to get it; on CI (CI=true) they fail instead.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

from tests.patience import PATIENCE_SECONDS
from tests.ports import a_free_port

_MISSING = "PostgreSQL is NOT TESTED: no server binaries in /usr/lib/postgresql/*/bin or on PATH; run tools/postgres"
_HASTY = ("fsync=off", "full_page_writes=off", "synchronous_commit=off")
#: Its transactions show in what others see, and its statistics change plans, both once in a while.
_UNDISTURBED = ("autovacuum=off",)


def find_binaries() -> Path | None:
    """The directory of `initdb` and `postgres`, the newest version first."""
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: -float(path.parent.name))
    on_path = shutil.which("initdb")
    candidates = [*installed, *([Path(on_path).parent] if on_path else [])]
    return next((path for path in candidates if (path / "initdb").exists() and (path / "postgres").exists()), None)


@contextlib.contextmanager
def a_postgres_server(durable: bool = False) -> Iterator[str]:
    """The URL of a running server, without a database name."""
    with _a_cluster() as (command, home):
        settings = ("listen_addresses=127.0.0.1", *(() if durable else (*_HASTY, *_UNDISTURBED)))
        with _running(command, home, settings) as port:
            yield f"postgresql://test@127.0.0.1:{port}"


class MortalPostgres:
    """A server that can crash and start again: reached by a socket in its directory, since a port could be lost."""

    def __init__(self, command: tuple[str, ...], home: str) -> None:
        # As long as the machine lives, what was committed is in its memory at least.
        options = [part for setting in ("listen_addresses=", *_HASTY[:2]) for part in ("-c", setting)]
        self._command = [*command, "-D", f"{home}/data", "-k", home, *options]
        self._home = home
        self._process: subprocess.Popen[bytes] | None = None

    def url(self, database: str) -> str:
        """Of one of its databases."""
        return f"postgresql://test@/{database}?host={self._home}"

    def start(self) -> None:
        """Start, and recover what a crash has left."""
        with open(f"{self._home}/log", "ab") as log:
            process = subprocess.Popen(self._command, cwd=self._home, stdout=log, stderr=subprocess.STDOUT)
        self._process = process
        _wait_until_ready(process, host=self._home)

    def crash(self) -> None:
        """End at once, in the middle of everything: the next start has to recover."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait()


@contextlib.contextmanager
def a_mortal_postgres() -> Iterator[MortalPostgres]:
    """Such a server, running."""
    with _a_cluster() as (command, home):
        server = MortalPostgres(command, home)
        server.start()
        try:
            yield server
        finally:
            server.crash()


@contextlib.contextmanager
def _a_cluster() -> Iterator[tuple[tuple[str, ...], str]]:
    """How to start a server on new data, and the directory that it has for itself."""
    binaries = find_binaries()
    if binaries is None:
        if os.environ.get("CI") == "true":
            pytest.fail(_MISSING)
        # A machine may have no PostgreSQL and no way to get it; CI has one, and fails above.
        pytest.skip(_MISSING)
    with tempfile.TemporaryDirectory(prefix="fairway-pg-") as home:
        user: tuple[str, ...] = ()
        if os.geteuid() == 0:
            shutil.chown(home, "nobody")
            user = ("setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups")
        _make_cluster((*user, str(binaries / "initdb")), home)
        # A server does not outlive a test run that is killed, where the machine can see to it.
        with_us = ("setpriv", "--pdeathsig=QUIT") if shutil.which("setpriv") else ()
        yield (*user, *with_us, str(binaries / "postgres")), home


def _make_cluster(initdb: tuple[str, ...], home: str) -> None:
    options = ("-D", f"{home}/data", "-U", "test", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8")
    subprocess.run([*initdb, *options], cwd=home, check=True, capture_output=True)


@contextlib.contextmanager
def _running(postgres: tuple[str, ...], home: str, settings: tuple[str, ...]) -> Iterator[int]:
    port = a_free_port()
    options = [part for setting in settings for part in ("-c", setting)]
    command = [*postgres, "-D", f"{home}/data", "-p", str(port), "-k", home, *options]
    with (
        open(f"{home}/log", "wb") as log,
        subprocess.Popen(command, cwd=home, stdout=log, stderr=subprocess.STDOUT) as process,
    ):
        try:
            _wait_until_ready(process, host="127.0.0.1", port=port)
            yield port
        finally:
            process.send_signal(signal.SIGQUIT)  # at once: nobody needs the data any more


def a_database(server: str) -> str:
    """The URL of a new, empty database on the server, of a name that nobody else has."""
    name = f"test_{uuid.uuid4().hex}"
    make_database(f"{server}/postgres", name)
    return f"{server}/{name}"


def make_database(url: str, name: str) -> None:
    """Make one beside the database at the URL."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(psycopg.sql.SQL("CREATE DATABASE {}").format(psycopg.sql.Identifier(name)))


def an_engine(url: str, **options: Any) -> sa.Engine:
    """The database at a URL as Fairway's configuration has it, SQLite or PostgreSQL, for SQL beside the store."""
    return sa.create_engine(url.replace("postgresql://", "postgresql+psycopg://"), **options)


def _wait_until_ready(process: subprocess.Popen[bytes], **address: Any) -> None:
    """Ask until the server answers; a deadline only for a server that never will."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            psycopg.connect(user="test", dbname="postgres", **address).close()
        except psycopg.OperationalError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return
