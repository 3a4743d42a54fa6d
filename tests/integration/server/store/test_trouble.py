"""Databases that are busy, gone, damaged, newer or somebody else's: a clear error, soon, and nothing changed."""

import asyncio
import os
import resource
import socket
import sqlite3
import stat
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import psycopg
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from fairway.server.store import postgres, projects, sqlite
from fairway.server.store import store as store_module
from fairway.server.store.changes import Change
from fairway.server.store.errors import StoreUnavailable, UnusableDatabase
from fairway.server.store.store import Store
from fairway.server.store.tables import METADATA
from fairway.server.turn import Turn
from tests.integration.server.store.nouns import a_project, keep
from tests.patience import PATIENCE_SECONDS


async def test_a_file_that_another_process_is_writing_is_a_passing_trouble(
    tmp_path: Path, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.01)
    store = await Store.open(sqlite_url)
    other = sqlite3.connect(tmp_path / "fairway.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(StoreUnavailable, match="database is locked"):
        await keep(store, projects.insert_project, a_project())
    with pytest.raises(StoreUnavailable, match="database is locked"):
        await Store.open(sqlite_url)

    other.close()
    await keep(store, projects.insert_project, a_project())
    await store.close()


async def test_a_full_disk_is_a_passing_trouble_of_those_who_needed_room(sqlite_url: str) -> None:
    store = await Store.open(sqlite_url)
    await keep(store, projects.insert_project, a_project("before"))
    await store.write(lambda connection: connection.execute(sa.text("PRAGMA max_page_count = 1")).all())

    with pytest.raises(StoreUnavailable, match="database or disk is full"):
        await keep(store, projects.insert_project, a_project("large", desc="x" * 100_000))
    await store.write(lambda connection: connection.execute(sa.text("PRAGMA max_page_count = 1000000")).all())
    await keep(store, projects.insert_project, a_project("after"))

    assert [project.id for project in await store.read(projects.list_projects)] == ["after", "before"]
    await store.close()


async def test_a_look_at_a_store_finds_a_disk_that_is_full(
    tmp_path: Path, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "LOOK_SECONDS", 0)
    store = await Store.open(sqlite_url)
    await store.check()
    _, hard = limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, ((tmp_path / "fairway.db-wal").stat().st_size, hard))
    try:
        with pytest.raises(StoreUnavailable, match="disk"):
            await store.check()
        assert await store.read(projects.list_projects) == ()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    await store.check()
    await store.close()


async def test_a_look_at_a_store_finds_a_lock(tmp_path: Path, sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "BUSY_SECONDS", 0.01)
    monkeypatch.setattr(store_module, "LOOK_SECONDS", 0)
    store = await Store.open(sqlite_url)
    other = sqlite3.connect(tmp_path / "fairway.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(StoreUnavailable, match="database is locked"):
        await store.check()
    other.close()

    await store.check()
    await store.close()


async def test_a_server_that_hands_over_to_another_is_a_passing_trouble(
    postgres_url: str, postgres_server: str
) -> None:
    store = await Store.open(postgres_url)
    name = postgres_url.rpartition("/")[2]
    with psycopg.connect(f"{postgres_server}/postgres", autocommit=True) as other:
        other.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on".encode())
        other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,))

        with pytest.raises(StoreUnavailable, match="takes no writes now"):
            await keep(store, projects.insert_project, a_project())
        other.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only".encode())

    await keep(store, projects.insert_project, a_project())
    await store.close()


async def test_many_who_look_at_a_store_share_one_look(store: Store) -> None:
    looks: list[Sequence[Change]] = []
    written: list[bool] = []
    write = store.write

    async def counted(work: Callable[[sa.Connection], Any]) -> Any:
        written.append(True)
        return await write(work)

    store.listen(looks.append)
    store.write = counted  # type: ignore[method-assign]  # to count
    await asyncio.gather(*(store.check() for _ in range(50)))

    # Nobody is told of it, as nothing has changed.
    assert (len(written), looks) == (1, [])
    store.write = write  # type: ignore[method-assign]  # as it was


async def test_a_row_that_another_transaction_holds_is_a_passing_trouble(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "LOCK_SECONDS", 0.01)
    store = await Store.open(postgres_url)
    with psycopg.connect(postgres_url) as other:
        other.execute("LOCK TABLE projects")

        with pytest.raises(StoreUnavailable, match="lock timeout"):
            await keep(store, projects.insert_project, a_project())

    await keep(store, projects.insert_project, a_project())
    await store.close()


async def test_connections_that_the_server_ended_are_replaced(postgres_url: str) -> None:
    store = await Store.open(postgres_url)
    await keep(store, projects.insert_project, a_project())
    with psycopg.connect(postgres_url, autocommit=True) as other:
        mine = "datname = current_database() AND pid <> pg_backend_pid()"
        other.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {mine}")

    assert await store.read(projects.list_projects) == (a_project(),)
    await store.close()


async def test_a_connection_that_ends_in_the_middle_is_a_passing_trouble(postgres_url: str) -> None:
    store = await Store.open(postgres_url)

    def work(connection: sa.Connection) -> None:
        # As when this process was stopped for a minute, which the server takes for one that has gone.
        connection.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = 1")
        ours = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
        with psycopg.connect(postgres_url, autocommit=True) as other:
            while other.execute("SELECT 1 FROM pg_stat_activity WHERE pid = %s", (ours,)).fetchone():
                continue
        projects.list_projects(connection)

    # Its last word may have been read, or the closed line is all that is found.
    said = "(the connection to the database was lost|the database server cannot be reached now); try again"
    with pytest.raises(StoreUnavailable, match=said):
        await store.write(work)
    await keep(store, projects.insert_project, a_project())
    await store.close()


async def test_a_server_that_vanished_without_a_word_is_noticed_within_half_a_minute(
    postgres_url: str,
) -> None:
    def line(connection: psycopg.Connection | psycopg.AsyncConnection) -> tuple[int, int]:
        """How long an answer, and how long nothing at all, is waited for, in seconds."""
        with socket.socket(fileno=os.dup(connection.pgconn.socket)) as opened:
            unanswered, idle, pause, count = (
                opened.getsockopt(socket.IPPROTO_TCP, option)
                for option in (
                    socket.TCP_USER_TIMEOUT,
                    socket.TCP_KEEPIDLE,
                    socket.TCP_KEEPINTVL,
                    socket.TCP_KEEPCNT,
                )
            )
            return unanswered // 1000, idle + pause * count

    store, turn = await Store.open(postgres_url), Turn(postgres_url)
    of_store = await store.read(lambda c: line(cast("psycopg.Connection", c.connection.driver_connection)))
    assert await turn.is_ours()
    assert turn._connection is not None
    of_turn = line(turn._connection)
    await turn.pass_on()
    await store.close()

    assert (of_store, of_turn) == ((25, 25), (25, 25))


async def test_two_that_lock_rows_in_opposite_order_both_succeed(postgres_url: str) -> None:
    store = await Store.open(postgres_url)
    await keep(store, projects.insert_project, a_project("a"), a_project("b"))
    met = asyncio.Barrier(2)
    loop = asyncio.get_running_loop()
    attempts: list[str] = []

    async def lock(first: str, second: str) -> None:
        def work(connection: sa.Connection) -> None:
            attempts.append(first)
            connection.execute(sa.text("SELECT 1 FROM projects WHERE id = :id FOR UPDATE"), {"id": first})
            if attempts.count(first) == 1:
                asyncio.run_coroutine_threadsafe(met.wait(), loop).result(PATIENCE_SECONDS)
            connection.execute(sa.text("SELECT 1 FROM projects WHERE id = :id FOR UPDATE"), {"id": second})

        await store.write(work)

    await asyncio.gather(lock("a", "b"), lock("b", "a"))
    await store.close()

    # The server gave up one of them, or both; each was run again.
    assert len(attempts) > 2


async def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.db").write_bytes(b"dear diary, " * 1000)

    with pytest.raises(UnusableDatabase, match="file is not a database"):
        await Store.open(f"sqlite:///{tmp_path}/notes.db")

    assert (tmp_path / "notes.db").read_bytes() == b"dear diary, " * 1000


async def test_a_damaged_database_says_so(tmp_path: Path, sqlite_url: str) -> None:
    store = await Store.open(sqlite_url)
    await keep(store, projects.insert_project, *(a_project(str(number), desc="x" * 500) for number in range(100)))
    await store.close()
    path = tmp_path / "fairway.db"
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xa5" * (len(whole) - 4096))

    with pytest.raises(UnusableDatabase, match="damaged"):
        await listed_projects(sqlite_url)


async def test_a_document_that_cannot_be_read_says_so(store: Store) -> None:
    await keep(store, projects.insert_project, a_project())
    await store.write(lambda connection: connection.execute(sa.text("UPDATE projects SET document = '{\"id\": 5}'")))

    with pytest.raises(UnusableDatabase, match=r"Project.* cannot be read .*restore a backup"):
        await store.read(projects.list_projects)


async def test_a_database_of_a_newer_fairway_is_refused(url: str) -> None:
    store = await Store.open(url)
    await store.write(lambda connection: connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'")))
    await store.close()

    with pytest.raises(UnusableDatabase, match=r"newer Fairway \(revision 9999; this one knows up to \d{4}\)"):
        await Store.open(url)


async def test_a_database_of_somebody_else_is_refused(tmp_path: Path, sqlite_url: str) -> None:
    with sqlite3.connect(tmp_path / "fairway.db") as connection:
        connection.execute("CREATE TABLE invoices (id)")
    connection.close()

    with pytest.raises(UnusableDatabase, match=r"tables that are not Fairway's \(invoices"):
        await Store.open(sqlite_url)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        pytest.param("mysql://host/fairway", "'mysql' is no database that Fairway knows", id="another database"),
        pytest.param("sqlite://", "is no absolute path", id="in memory"),
        pytest.param("sqlite:///here.db", "'here.db' is no absolute path", id="relative"),
        pytest.param("sqlite:////nowhere/at/all.db", "No such file or directory", id="no such directory"),
        pytest.param("all of it", "wants a URL such as", id="no URL"),
    ],
)
async def test_a_url_that_names_no_database_of_ours_is_refused(url: str, said: str) -> None:
    with pytest.raises(UnusableDatabase, match=said):
        await Store.open(url)


async def test_a_server_that_does_not_answer_is_a_passing_trouble() -> None:
    with pytest.raises(StoreUnavailable, match=r"cannot be reached .*127\.0\.0\.1.*port 1 failed") as raised:
        await Store.open("postgresql://test:secret@127.0.0.1:1/fairway")

    assert "secret" not in str(raised.value)


async def test_callers_are_not_told_where_a_lost_database_is(postgres_url: str, postgres_server: str) -> None:
    store = await Store.open(postgres_url)
    name = postgres_url.rpartition("/")[2]
    with psycopg.connect(f"{postgres_server}/postgres", autocommit=True) as other:
        other.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false".encode())
        other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,))

    with pytest.raises(StoreUnavailable) as raised:
        await store.read(projects.list_projects)

    assert str(raised.value) == "the database server cannot be reached now; try again"
    await store.close()


async def test_several_that_start_at_once_migrate_once(url: str) -> None:
    stores = await asyncio.gather(*(Store.open(url) for _ in range(4)))

    await keep(stores[0], projects.insert_project, a_project())

    assert [await store.read(projects.list_projects) for store in stores] == [(a_project(),)] * 4
    await asyncio.gather(*(store.close() for store in stores))


async def test_the_migrations_make_the_tables_that_the_code_uses(store: Store) -> None:
    differences = await store.read(
        lambda connection: compare_metadata(MigrationContext.configure(connection), METADATA)
    )

    # SQLite has one table beside them, which numbers its commits.
    assert [each for each in differences if each[1].name != "commits"] == []


async def test_only_the_owner_can_read_the_file(tmp_path: Path, sqlite_url: str) -> None:
    store = await Store.open(sqlite_url)
    await keep(store, projects.insert_project, a_project())

    modes = {name: stat.S_IMODE(os.stat(tmp_path / name).st_mode) for name in os.listdir(tmp_path)}

    assert modes == dict.fromkeys(("fairway.db", "fairway.db-wal", "fairway.db-shm", "fairway.db-commits"), 0o600)
    await store.close()


async def listed_projects(url: str) -> tuple[projects.Project, ...]:
    store = await Store.open(url)
    try:
        return await store.read(projects.list_projects)
    finally:
        await store.close()


async def test_a_database_that_lacks_a_table_is_refused(url: str) -> None:
    store = await Store.open(url)
    await store.write(lambda connection: connection.execute(sa.text("DROP TABLE sign_in_links")))
    await store.close()

    with pytest.raises(UnusableDatabase, match=r"lacks tables that Fairway made \(sign_in_links\)"):
        await Store.open(url)
