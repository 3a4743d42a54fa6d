"""A SQLite database that has lost acknowledged commits is not opened in silence."""

import shutil
from pathlib import Path

import pytest

from fairway.server.store import projects, sqlite
from fairway.server.store.errors import UnusableDatabase
from fairway.server.store.store import Store
from tests.integration.server.store.nouns import a_project, keep

COMMITS = "fairway.db-commits"


async def killed(tmp_path: Path, sqlite_url: str, ids: str) -> Path:
    """The data of a server that was killed after it had stored these projects."""
    store = await Store.open(sqlite_url)
    for id in ids:
        await keep(store, projects.insert_project, a_project(id))
    data = copied(tmp_path)
    await store.close()
    return data


def copied(folder: Path) -> Path:
    data = folder / "killed"
    data.mkdir()
    for each in folder.glob("fairway.db*"):
        shutil.copy(each, data)
    return data


async def stored(data: Path) -> list[str]:
    store = await Store.open(f"sqlite:///{data}/fairway.db")
    found = [project.id for project in await store.read(projects.list_projects)]
    await store.close()
    return found


async def test_the_data_of_a_killed_server_is_complete(tmp_path: Path, sqlite_url: str) -> None:
    data = await killed(tmp_path, sqlite_url, "abc")

    assert await stored(data) == ["a", "b", "c"]


async def test_a_truncated_wal_is_refused_until_the_loss_is_accepted(tmp_path: Path, sqlite_url: str) -> None:
    data = await killed(tmp_path, sqlite_url, "abc")
    wal = data / "fairway.db-wal"
    wal.write_bytes(wal.read_bytes()[:-100])

    for _ in range(2):
        with pytest.raises(UnusableDatabase, match="lacks the last 1 committed transactions: it ends at 20") as caught:
            await stored(data)
    assert str(caught.value).endswith(f"To start without those transactions, remove {data / COMMITS}")
    (data / COMMITS).unlink()

    assert await stored(data) == ["a", "b"]


async def test_a_lost_wal_is_refused(tmp_path: Path, sqlite_url: str) -> None:
    (await stored(tmp_path)).clear()
    data = await killed(tmp_path, sqlite_url, "abc")
    (data / "fairway.db-wal").unlink()

    with pytest.raises(UnusableDatabase, match="lacks the last 3 committed transactions"):
        await stored(data)


async def test_a_file_of_commits_that_is_behind_or_unreadable_stops_nothing(tmp_path: Path, sqlite_url: str) -> None:
    data = await killed(tmp_path, sqlite_url, "a")
    (data / COMMITS).write_bytes(b"\0" * 80)

    assert await stored(data) == ["a"]


async def test_a_transaction_without_changes_gets_no_number(tmp_path: Path, sqlite_url: str) -> None:
    store = await Store.open(sqlite_url)
    before = (tmp_path / COMMITS).read_bytes()
    await store.write(projects.list_projects)

    assert (tmp_path / COMMITS).read_bytes() == before
    await store.close()


async def test_commits_do_not_stay_in_the_wal_alone(
    tmp_path: Path, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "_CHECKPOINT_SECONDS", 0.0)
    checkpoints: list[int] = []
    checkpoint = sqlite.SQLiteDatabase._checkpoint

    def recorded(database: sqlite.SQLiteDatabase) -> None:
        checkpoint(database)
        checkpoints.append((tmp_path / "fairway.db-wal").stat().st_size)

    monkeypatch.setattr(sqlite.SQLiteDatabase, "_checkpoint", recorded)
    store = await Store.open(sqlite_url)
    await keep(store, projects.insert_project, a_project())
    while not checkpoints:
        await store.write(projects.list_projects)
    await store.close()

    assert checkpoints[0] == 0
