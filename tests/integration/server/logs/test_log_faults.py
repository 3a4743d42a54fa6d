"""What a log directory holds after a killed writer, a disk that refuses and files that somebody damaged."""

import asyncio
import errno
import os
import resource
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fairway.server.logs import LogStore, StageLog
from fairway.server.logs.local_directory import LocalDirectory
from fairway.server.logs.objects import LogStorageError
from tests.unit.server.logs.log_blocks import KEY, a_block, blocks

WRITER = """
import asyncio, sys
from itertools import count
from fairway.server.logs import LogStore
from tests.unit.server.logs.log_blocks import KEY, a_block

async def write(store, first):
    for index in count(first, 4):
        await store.append(KEY, [a_block(index, "x" * 20_000)], completed=index % 20 == 0)
        print(index, flush=True)

async def main():
    store = LogStore.open(sys.argv[1])
    await asyncio.gather(*(write(store, first) for first in range(4)))

asyncio.run(main())
"""


@contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    """The kernel writes what fits and refuses the rest, as a full disk does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("acknowledgements", [1, 10, 45])
async def test_a_killed_writer_loses_nothing_that_was_acknowledged(tmp_path: Path, acknowledgements: int) -> None:
    root = Path(__file__).parents[4]
    command = (sys.executable, "-c", WRITER, str(tmp_path))
    writer = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, cwd=root)
    assert writer.stdout is not None
    lines = [await writer.stdout.readline() for _ in range(acknowledgements)]

    writer.send_signal(signal.SIGKILL)
    rest, _ = await writer.communicate()

    acknowledged = {int(line) for line in [*lines, *rest.splitlines(keepends=True)] if line.endswith(b"\n")}
    store = LogStore.open(tmp_path)
    log = await store.read(KEY)
    await store.close()
    assert acknowledged - {block.index for block in log.blocks} == set()
    assert [block for block in log.blocks if block.log != "x" * 20_000] == []
    assert log.completed == (True if 0 in acknowledged else log.completed)
    assert list((tmp_path / ".unfinished").iterdir()) == []


async def test_the_files_and_every_folder_to_them_are_synced_once_before_an_append_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = LogStore.open(tmp_path)
    folder = tmp_path / "deployment-1/stage-1/0"
    synced: list[tuple[str, int]] = []

    # Only the kernel knows what is on disk; what it was asked for is all that can be seen.
    def fsync(opened: int) -> None:
        path = Path(os.readlink(f"/proc/self/fd/{opened}")).relative_to(tmp_path)
        name = path.parts[0] if path.parts[:1] == (".unfinished",) else path.as_posix()
        synced.append((name, len(list(folder.iterdir()))))

    monkeypatch.setattr(os, "fsync", fsync)
    await store.append(KEY, blocks(1), completed=True)

    above = ["deployment-1/stage-1", "deployment-1", "."]
    # The blocks and the mark; the folders above; and the folder itself, once both are in it.
    names = [".unfinished", ".unfinished", *above]
    assert synced == [*((each, 0) for each in names), ("deployment-1/stage-1/0", 2)]


async def test_a_folder_that_cannot_be_listed_now_is_not_taken_for_an_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, scandir = LogStore.open(tmp_path), os.scandir
    await store.append(KEY, blocks(1))

    # As when a busy server has as many files open as it may.
    def refusing(path: str) -> object:
        if str(path).endswith("/stage-1"):
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    with pytest.raises(LogStorageError, match=r"cannot list .*/deployment-1: Too many open files"):
        await store.delete_deployment(KEY.deployment_id)


async def test_folders_above_the_nearest_are_synced_again_once_they_were_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = LogStore.open(tmp_path)
    synced: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda opened: synced.append(os.readlink(f"/proc/self/fd/{opened}")))
    await store.append(KEY, blocks(1))
    first = len(synced)

    await store.append(KEY, blocks(2))
    second = len(synced) - first
    await store.delete_deployment(KEY.deployment_id)
    await store.append(KEY, blocks(3))

    # The file, its folder, two folders and the root; the file and its folder; all of them anew.
    assert (first, second, len(synced) - first - second) == (5, 2, 5)


async def test_a_disk_that_refuses_is_a_temporary_error_and_nothing_half_written_is_seen(tmp_path: Path) -> None:
    store = LogStore.open(tmp_path)
    await store.append(KEY, blocks(1))

    with files_no_larger_than(10_000), pytest.raises(LogStorageError, match="File too large") as raised:
        await store.append(KEY, [a_block(2, "x" * 20_000)], completed=True)

    assert raised.value.retry
    assert isinstance(raised.value.__cause__, OSError)
    assert await store.read(KEY) == StageLog(tuple(blocks(1)))
    assert list((tmp_path / ".unfinished").iterdir()) == []


async def test_an_append_that_failed_succeeds_when_the_disk_is_well_again(tmp_path: Path) -> None:
    store = LogStore.open(tmp_path)
    with files_no_larger_than(10), pytest.raises(LogStorageError):
        await store.append(KEY, blocks(1), completed=True)

    await store.append(KEY, blocks(1), completed=True)

    assert await store.read(KEY) == StageLog(tuple(blocks(1)), completed=True)


async def test_a_log_that_cannot_be_rewritten_stays_whole(tmp_path: Path) -> None:
    store = LogStore.open(tmp_path)
    written = [a_block(index, "x" * 6_000) for index in range(3)]
    for block in written:
        await store.append(KEY, [block])

    with files_no_larger_than(10_000):
        await store.append(KEY, [], completed=True)
        await store.close()

    assert await LogStore.open(tmp_path).read(KEY) == StageLog(tuple(written), completed=True)


async def test_a_log_that_was_not_rewritten_is_rewritten_when_it_is_read(tmp_path: Path) -> None:
    writer = LogStore.open(tmp_path)
    for index in range(3):
        await writer.append(KEY, blocks(index))
    await LocalDirectory(tmp_path).create({"deployment-1/stage-1/0/completed": b""})

    store = LogStore.open(tmp_path)
    await store.read(KEY)
    await store.close()

    assert len(list((tmp_path / "deployment-1/stage-1/0").iterdir())) == 2


async def test_what_a_killed_writer_left_is_cleared_away_unless_another_is_writing(tmp_path: Path) -> None:
    left = tmp_path / ".unfinished" / "half"
    writing = LocalDirectory(tmp_path)
    left.write_text("{")

    second = LocalDirectory(tmp_path)
    left_while_writing = left.exists()
    await writing.close()
    await second.close()
    await LocalDirectory(tmp_path).close()

    assert (left_while_writing, left.exists()) == (True, False)


async def test_a_damaged_part_is_named(tmp_path: Path) -> None:
    store = LogStore.open(tmp_path)
    await store.append(KEY, blocks(1, 2))
    (part,) = (tmp_path / "deployment-1/stage-1/0").iterdir()
    os.truncate(part, 10)

    with pytest.raises(LogStorageError, match=f"{part.name} is damaged"):
        await store.read(KEY)


def test_a_place_that_cannot_be_a_directory_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(LogStorageError, match=r"cannot open .*/file/logs: Not a directory"):
        LogStore.open(tmp_path / "file" / "logs")


async def test_a_bucket_that_cannot_be_reached_is_a_temporary_error_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        # Bound and not listening: nobody answers here.
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{unused.getsockname()[1]}")
        for name, value in {"ACCESS_KEY_ID": "key", "SECRET_ACCESS_KEY": "secret", "ALLOW_HTTP": "true"}.items():
            monkeypatch.setenv(f"AWS_{name}", value)
        store = LogStore.open("s3://bucket/logs")

        with pytest.raises(
            LogStorageError, match=r"\Athe bucket did not write deployment-1/.*keys are right\Z"
        ) as raised:
            await store.append(KEY, blocks(1))

    assert raised.value.retry
    assert "secret" not in str(raised.value)
