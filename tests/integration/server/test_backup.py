"""Backups of a real store and real logs, and archives that must not be restored."""

import asyncio
import errno
import io
import os
import sqlite3
import stat
import tarfile
from pathlib import Path
from typing import IO

import pytest
import typer
from typer.testing import CliRunner

from fairway.cli import backup as commands
from fairway.errors import FairwayError
from fairway.server.backup import Backup, back_up, restore
from fairway.server.logs import LogStore, StageLog, StageLogKey
from fairway.server.store import projects
from fairway.server.store.store import Store
from tests.integration.server.store.nouns import a_project, keep
from tests.unit.server.logs.log_blocks import KEY, blocks


def url(data: Path) -> str:
    return f"sqlite:///{data / 'fairway.db'}"


async def a_server_directory(data: Path) -> Path:
    """What a server with one project and two logs leaves behind."""
    os.mkdir(data)
    store, logs = await Store.open(url(data)), LogStore.open(data / "logs")
    await keep(store, projects.insert_project, a_project())
    await logs.append(KEY, blocks(1, 2), completed=True)
    await logs.append(StageLogKey("../odd", "s", 1), blocks(7))
    await logs.close()
    await store.close()
    return data


async def kept_in(data: Path) -> tuple[list[str], StageLog, StageLog]:
    store, logs = await Store.open(url(data)), LogStore.open(data / "logs")
    found = await store.read(projects.list_projects)
    read = await logs.read(KEY), await logs.read(StageLogKey("../odd", "s", 1))
    await logs.close()
    await store.close()
    return [project.id for project in found], *read


def names_in(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def an_archive(path: Path, **files: bytes) -> Path:
    with tarfile.open(path, "w") as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
    return path


async def test_what_was_backed_up_is_there_again_after_a_restore(tmp_path: Path) -> None:
    data = await a_server_directory(tmp_path / "data")

    made = back_up(data, tmp_path / "backup.tar")
    restored = restore(tmp_path / "backup.tar", tmp_path / "new")

    assert (made, restored) == (Backup(log_files=3), Backup(log_files=3))
    assert names_in(tmp_path / "new") == ["fairway.db", "logs"]
    assert await kept_in(tmp_path / "new") == await kept_in(data)
    assert (await kept_in(tmp_path / "new"))[0] == ["shop"]


async def test_only_its_owner_can_read_a_backup_and_nothing_else_is_left_beside_it(tmp_path: Path) -> None:
    data = await a_server_directory(tmp_path / "data")
    (tmp_path / "out").mkdir()

    back_up(data, tmp_path / "out" / "backup.tar")

    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "out").iterdir()}
    assert modes == {"backup.tar": 0o600}


async def test_a_backup_of_a_server_that_goes_on_writing_is_of_one_moment(tmp_path: Path) -> None:
    data = await a_server_directory(tmp_path / "data")
    store = await Store.open(url(data))
    written, enough = [0], asyncio.Event()

    async def write_on() -> None:
        # Always both or none.
        while not enough.is_set():
            number = written[0]
            await keep(store, projects.insert_project, a_project(f"a-{number}"), a_project(f"b-{number}"))
            written[0] += 1

    writing = asyncio.create_task(write_on())
    for number in range(3):
        await asyncio.to_thread(back_up, data, tmp_path / f"{number}.tar")
    enough.set()
    await writing
    await store.close()
    restore(tmp_path / "2.tar", tmp_path / "new")

    names = set((await kept_in(tmp_path / "new"))[0]) - {"shop"}
    assert len(names) % 2 == 0
    assert names == {f"{side}-{number}" for side in "ab" for number in range(len(names) // 2)}


async def test_a_log_that_is_rewritten_while_it_is_read_is_whole_in_the_backup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = await a_server_directory(tmp_path / "data")
    key, addfile, rewritten = StageLogKey("d", "s", 0), tarfile.TarFile.addfile, list[str]()

    async def append(number: int, completed: bool = False) -> None:
        logs = LogStore.open(data / "logs")
        await logs.append(key, blocks(number), completed)
        await logs.close()

    def rewriting(tar: tarfile.TarFile, entry: tarfile.TarInfo, file: IO[bytes]) -> None:
        if entry.name.startswith("logs/d/") and not rewritten:
            rewritten.append(entry.name)
            asyncio.run(append(3, completed=True))
        addfile(tar, entry, file)

    await append(1)
    await append(2)
    monkeypatch.setattr(tarfile.TarFile, "addfile", rewriting)
    await asyncio.to_thread(back_up, data, tmp_path / "backup.tar")
    restore(tmp_path / "backup.tar", tmp_path / "new")

    logs = LogStore.open(tmp_path / "new" / "logs")
    assert await logs.read(key) == StageLog(tuple(blocks(1, 2, 3)), completed=True)
    await logs.close()


async def test_a_server_that_was_killed_is_backed_up_with_what_it_acknowledged(tmp_path: Path) -> None:
    data = await a_server_directory(tmp_path / "data")
    store = await Store.open(url(data))
    await keep(store, projects.insert_project, a_project("late"))
    killed = tmp_path / "killed"
    killed.mkdir()
    for name in ("fairway.db", "fairway.db-wal"):
        (killed / name).write_bytes((data / name).read_bytes())
    await store.close()

    back_up(killed, tmp_path / "backup.tar")
    restore(tmp_path / "backup.tar", tmp_path / "new")

    assert (await kept_in(tmp_path / "new"))[0] == ["late", "shop"]


async def test_a_backup_that_fails_leaves_the_one_before(tmp_path: Path) -> None:
    data = await a_server_directory(tmp_path / "data")
    (tmp_path / "backup.tar").write_bytes(b"the one before")
    (data / "fairway.db").write_bytes(b"no database" * 1000)

    with pytest.raises(FairwayError, match="damaged or is none"):
        back_up(data, tmp_path / "backup.tar")

    assert (tmp_path / "backup.tar").read_bytes() == b"the one before"
    assert names_in(tmp_path) == ["backup.tar", "data"]


async def test_logs_that_cannot_be_listed_are_not_left_out_of_a_backup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, scandir = await a_server_directory(tmp_path / "data"), os.scandir

    # For root, who runs tests in containers, no folder is forbidden.
    def refusing(path: str) -> object:
        if Path(path).name == KEY.deployment_id:
            raise OSError(errno.EACCES, os.strerror(errno.EACCES), path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    with pytest.raises(FairwayError, match="Permission denied"):
        back_up(data, tmp_path / "backup.tar")

    assert names_in(tmp_path) == ["data"]


def test_a_directory_without_a_database_cannot_be_backed_up(tmp_path: Path) -> None:
    with pytest.raises(FairwayError, match=r"there is no fairway\.db in"):
        back_up(tmp_path, tmp_path / "backup.tar")


async def test_a_directory_with_something_in_it_is_not_restored_into(tmp_path: Path) -> None:
    data = await a_server_directory(tmp_path / "data")
    back_up(data, tmp_path / "backup.tar")

    with pytest.raises(FairwayError, match="is not empty"):
        restore(tmp_path / "backup.tar", data)

    assert (await kept_in(data))[0] == ["shop"]


def a_database(path: Path, *statements: str) -> bytes:
    with sqlite3.connect(path) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()
    return path.read_bytes()


NEWER = ("CREATE TABLE alembic_version (version_num TEXT)", "INSERT INTO alembic_version VALUES ('9999')")
LOG = "logs/d/s/0/completed"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        pytest.param({"../fairway.db": b""}, "holds '../fairway.db'", id="a path upwards"),
        pytest.param({"/tmp/fairway.db": b""}, "holds '/tmp/fairway.db'", id="an absolute path"),
        pytest.param({"logs/d/../0/x": b""}, "holds 'logs/d/../0/x'", id="a log upwards"),
        pytest.param({"logs/d/s/0/..": b""}, "holds 'logs/d/s/0/..'", id="a log that is a folder"),
        pytest.param({"other": b""}, "holds 'other'", id="another file"),
        pytest.param({LOG: b""}, r"has no fairway\.db", id="no database"),
        pytest.param({}, r"has no fairway\.db", id="nothing"),
        pytest.param({"fairway.db": b"text" * 5000}, "damaged or is none", id="a database that is none"),
        pytest.param({"fairway.db": b""}, "is not Fairway's", id="an empty database"),
    ],
)
def test_an_archive_that_is_no_backup_is_refused_and_nothing_of_it_stays(
    tmp_path: Path, files: dict[str, bytes], said: str
) -> None:
    archive = an_archive(tmp_path / "backup.tar", **files)

    with pytest.raises(FairwayError, match=said):
        restore(archive, tmp_path / "new")

    assert names_in(tmp_path / "new") == []
    assert names_in(tmp_path) == ["backup.tar", "new"]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE])
def test_what_is_no_plain_file_is_refused(tmp_path: Path, kind: bytes) -> None:
    entry = tarfile.TarInfo("fairway.db")
    entry.type, entry.linkname = kind, "/etc/hostname"
    with tarfile.open(tmp_path / "backup.tar", "w") as tar:
        tar.addfile(entry)

    with pytest.raises(FairwayError, match=r"holds 'fairway\.db'"):
        restore(tmp_path / "backup.tar", tmp_path / "new")


def test_a_backup_of_a_newer_fairway_is_refused(tmp_path: Path) -> None:
    archive = an_archive(tmp_path / "backup.tar", **{"fairway.db": a_database(tmp_path / "newer", *NEWER)})

    with pytest.raises(FairwayError, match="written by a newer Fairway"):
        restore(archive, tmp_path / "new")

    assert names_in(tmp_path / "new") == []


async def test_damage_inside_the_database_is_found_before_it_is_put_in_place(tmp_path: Path) -> None:
    data = await a_server_directory(tmp_path / "data")
    database = bytearray((data / "fairway.db").read_bytes())
    database[4096 * 3 : 4096 * 8] = b"\xff" * (4096 * 5)
    archive = an_archive(tmp_path / "backup.tar", **{"fairway.db": bytes(database)})

    with pytest.raises(FairwayError, match="damaged"):
        restore(archive, tmp_path / "new")

    assert names_in(tmp_path / "new") == []


@pytest.mark.parametrize("share", [0.0, 0.01, 0.1, 0.5, 0.9])
async def test_an_archive_that_was_cut_off_is_refused(tmp_path: Path, share: float) -> None:
    archive = tmp_path / "backup.tar"
    back_up(await a_server_directory(tmp_path / "data"), archive)
    whole = archive.read_bytes()
    # Where one file ends and the next begins, too.
    archive.write_bytes(whole[: int(len(whole) * share) // 512 * 512])

    with pytest.raises(FairwayError, match=r"no whole tar file|has no fairway\.db"):
        restore(archive, tmp_path / "new")

    assert names_in(tmp_path / "new") == []


async def test_the_commands_say_what_they_did_and_why_not(tmp_path: Path) -> None:
    app = typer.Typer()
    app.command()(commands.backup)
    app.command()(commands.restore)
    data = await a_server_directory(tmp_path / "data")
    archive = str(tmp_path / "backup.tar")

    made = CliRunner().invoke(app, ["backup", "--data", str(data), archive])
    refused = CliRunner().invoke(app, ["restore", "--data", str(data), archive])
    elsewhere = CliRunner().invoke(app, ["backup", "--data", str(data), "--database", "postgresql://x", archive])

    assert (made.exit_code, made.output) == (0, f"{archive}: the database and 3 files of logs\n")
    assert (refused.exit_code, elsewhere.exit_code) == (1, 2)
    assert refused.output.startswith(f"fairway server restore: {data} is not empty")
    assert "pg_dump" in elsewhere.output
