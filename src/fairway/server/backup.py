"""The embedded server's data as one file, and back.

The database is copied through SQLite, which gives one moment of it while the server goes on writing; the logs are
read afterwards, so that every log the copy knows of is among them. The archive is a plain tar: `fairway.db` and
`logs/…`. It holds hashes of keys and whatever the logs say, so only its owner may read it. PostgreSQL and buckets
have tools of their own for this.
"""

import contextlib
import os
import re
import shutil
import sqlite3
import tarfile
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from uuid import uuid4

import msgspec
import sqlalchemy as sa

from fairway.errors import UserError
from fairway.server.disk import refuse_unlisted, sync_folder, sync_folders_above
from fairway.server.store.errors import in_our_words
from fairway.server.store.sqlite import SQLiteDatabase

DATABASE = "fairway.db"
#: Deployment, stage, run, object: as `logs.stage_log` names them, so without a dot at the beginning of a folder.
_LOG = re.compile(r"logs/[A-Za-z0-9_=-]+/[A-Za-z0-9_=-]+/[0-9]+/[A-Za-z0-9_-][A-Za-z0-9_.-]*")


class BackupError(UserError):
    """A backup that cannot be made, or that must not be restored."""


class Backup(msgspec.Struct, frozen=True):
    """What an archive holds beside the database."""

    log_files: int


def back_up(data: Path, archive: Path, logs: Path | None = None) -> Backup:
    """Write the data of a server, running or not, into an archive; one that was there is replaced when all is done.

    `logs` is where a server keeps its logs that does not keep them in `data`.
    """
    if not (data / DATABASE).is_file():
        raise BackupError(f"there is no {DATABASE} in {data}; give the directory that the server has as --data")
    if logs is not None and not logs.is_dir():
        raise BackupError(f"{logs} is no directory; give the one that the server has as --logs")
    unfinished = archive.absolute().with_name(f".{archive.name}.{uuid4().hex}")
    copy = unfinished.with_name(f"{unfinished.name}.db")
    with _explained(f"write {archive}"):
        try:
            _copy_database(data / DATABASE, copy)
            with os.fdopen(_create_private(unfinished), "wb") as file:
                with tarfile.open(fileobj=file, mode="w") as tar:
                    count = _add_logs(tar, logs or data / "logs")
                    # Last, so that an archive that was cut off anywhere has none and is refused.
                    _add_file(tar, copy, DATABASE)
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(archive)
            sync_folder(unfinished.parent)
        finally:
            for left in (unfinished, copy):
                left.unlink(missing_ok=True)
    return Backup(log_files=count)


def restore(archive: Path, data: Path) -> Backup:
    """Put an archive's data into an empty directory, once all of it has been looked at."""
    with _explained(f"restore {archive} into {data}"):
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        if next(data.iterdir(), None) is not None:
            raise BackupError(f"{data} is not empty; give a new directory, or move away what is there")
        # Inside, because the directory may be a mounted volume, which cannot be replaced.
        arriving = data / f".restoring-{uuid4().hex}"
        arriving.mkdir(mode=0o700)
        try:
            count = _unpack(archive, arriving)
            _check_database(archive, arriving / DATABASE)
            # The disk has everything before a name promises it.
            os.sync()
            # The database is last: without it there is nothing that a server would start on.
            for name in ("logs", DATABASE):
                with suppress(FileNotFoundError):
                    (arriving / name).rename(data / name)
            sync_folders_above(data / DATABASE)
        finally:
            shutil.rmtree(arriving)
    return Backup(log_files=count)


def _copy_database(source: Path, copy: Path) -> None:
    os.close(_create_private(copy))
    # Not read-only: after a kill, SQLite first has to bring in what is in the write-ahead log.
    with (
        closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=rw", uri=True)) as opened,
        closing(sqlite3.connect(copy)) as target,
    ):
        opened.backup(target)


def _add_logs(tar: tarfile.TarFile, logs: Path) -> int:
    folders = [Path(parent) for parent, _, names in os.walk(logs, onerror=refuse_unlisted) if names]
    wanted = [folder for folder in sorted(folders) if _LOG.fullmatch(_name_of(logs, folder / "any"))]
    return sum(_add_log(tar, logs, folder) for folder in wanted)


def _add_log(tar: tarfile.TarFile, logs: Path, folder: Path) -> int:
    """All parts of a log. The server may rewrite it meanwhile: new parts are there before old ones go.

    So the folder is listed until it stays the same; a part that went was read, or its blocks are in one that came.
    """
    added: set[str] = set()
    before: list[str] | None = None
    while (names := _listing(folder)) != before:
        for name in names:
            with suppress(FileNotFoundError):
                if name not in added:
                    _add_file(tar, folder / name, _name_of(logs, folder / name))
                    added.add(name)
        before = names
    return len(added)


def _listing(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except FileNotFoundError:
        return []


def _name_of(logs: Path, file: Path) -> str:
    return f"logs/{file.relative_to(logs).as_posix()}"


def _add_file(tar: tarfile.TarFile, path: Path, name: str) -> None:
    with path.open("rb") as file:
        entry = tarfile.TarInfo(name)
        status = os.fstat(file.fileno())
        entry.size, entry.mtime, entry.mode = status.st_size, int(status.st_mtime), 0o600
        tar.addfile(entry, file)


def _unpack(archive: Path, into: Path) -> int:
    """Write the archive's files below a directory, and nothing that is not a file of a backup; how many logs."""
    count = 0
    with tarfile.open(archive, mode="r:") as tar:
        for entry in tar:
            is_ours = entry.isreg() and (entry.name == DATABASE or _LOG.fullmatch(entry.name))
            content = tar.extractfile(entry) if is_ours else None
            if content is None:
                raise BackupError(f"{archive} holds {entry.name!r}, which no backup does; nothing was restored")
            path = into / entry.name
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with content, os.fdopen(_create_private(path), "wb") as file:
                shutil.copyfileobj(content, file)
            count += entry.name != DATABASE
    if not (into / DATABASE).exists():
        raise BackupError(f"{archive} has no {DATABASE}, so it is no backup of Fairway; nothing was restored")
    return count


def _check_database(archive: Path, database: Path) -> None:
    with closing(sqlite3.connect(database)) as opened:
        found = opened.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if found != "ok":
            raise BackupError(f"the database in {archive} is damaged ({found}); restore another backup")
        if not opened.execute("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").fetchone():
            raise BackupError(f"the database in {archive} is not Fairway's; nothing was restored")
    # Opening it as the server does brings an older one to today's tables and refuses a newer one.
    SQLiteDatabase.open(sa.URL.create("sqlite", database=str(database.absolute()))).close()


def _create_private(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)


@contextlib.contextmanager
def _explained(what: str) -> Iterator[None]:
    """Errors of the disk, the archive and the database in our words."""
    try:
        yield
    except OSError as error:
        raise BackupError(
            f"cannot {what}: {error.strerror or error}; check the paths, the space and who owns them"
        ) from error
    except tarfile.TarError as error:
        raise BackupError(f"cannot {what}: it is no whole tar file ({error}); take another backup") from error
    except sqlite3.DatabaseError as error:
        raise in_our_words(error) or BackupError(f"cannot {what}: {error}") from error
