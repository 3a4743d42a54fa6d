"""The promises of the log store, all of them, in a bucket of a real S3 server; and what only a bucket can show."""

import asyncio
import re
import signal
import sys
from collections.abc import Callable
from inspect import signature
from pathlib import Path

import pytest

from fairway.server.logs import LogStore, StageLog, StageLogKey
from fairway.server.logs.bucket import Bucket
from fairway.server.logs.objects import LogStorageError, Objects
from tests.integration.server.logs import test_log_store as promises
from tests.integration.server.logs.test_log_faults import WRITER
from tests.peers.s3 import S3Server
from tests.unit.server.logs.log_blocks import KEY, a_block, blocks

Place = Callable[[], Objects]

ROOT = Path(__file__).parents[2]


@pytest.fixture
def url(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """A new place in a bucket that this process and its children have the keys of."""
    for name, value in s3.environment.items():
        monkeypatch.setenv(name, value)
    return s3.new_bucket()


@pytest.fixture
def place(url: str) -> Place:
    return lambda: Bucket.open(url, {})


# The same functions, collected here once more: pytest gives them the bucket of this module.
globals().update(
    {
        name: promise
        for name, promise in vars(promises).items()
        if name.startswith("test_") and "place" in signature(promise).parameters
    }
)


async def test_an_object_that_is_there_is_not_overwritten(place: Place) -> None:
    one, two = place(), place()

    await asyncio.gather(*(each.create({"one/name": content}) for each, content in ((one, b"first"), (two, b"second"))))
    found = await one.get("one/name")
    await two.create({"one/name": b"third"})

    assert found in (b"first", b"second")
    assert await place().get("one/name") == found


async def test_a_bucket_of_many_objects_is_listed_whole_and_in_order(place: Place) -> None:
    objects = place()
    names = [f"folder/{number:04}" for number in range(1_500)]
    # More than one page of an S3 listing, which ends at 1,000.
    for first in range(0, len(names), 100):
        await asyncio.gather(*(objects.create({name: b"x"}) for name in names[first : first + 100]))

    assert list(await objects.list("folder/")) == names

    await objects.delete(names)
    assert await objects.list("folder/") == {}


async def test_appenders_in_two_processes_lose_none_of_each_others_blocks(url: str) -> None:
    command = (sys.executable, "-c", WRITER, url)
    writers = [
        await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, cwd=ROOT) for _ in range(2)
    ]
    acknowledged: set[int] = set()
    for writer in writers:
        assert writer.stdout is not None
        acknowledged |= {int(await writer.stdout.readline()) for _ in range(40)}

    for writer in writers:
        writer.send_signal(signal.SIGKILL)
        rest, _ = await writer.communicate()
        acknowledged |= {int(line) for line in rest.splitlines(keepends=True) if line.endswith(b"\n")}

    store = LogStore.open(url)
    log = await store.read(KEY)
    await store.close()
    assert acknowledged - {block.index for block in log.blocks} == set()
    assert [block for block in log.blocks if block.log != "x" * 20_000] == []
    assert log.completed


async def test_a_log_is_read_whole_while_another_store_rewrites_it(url: str) -> None:
    writer, reader = LogStore.open(url), LogStore.open(url)
    written = tuple(a_block(index, "x" * 1_000) for index in range(60))
    for block in written:
        await writer.append(KEY, [block])

    await writer.append(KEY, [], completed=True)
    seen = [await reader.read(KEY) for _ in range(10)]
    await writer.close()
    await reader.close()

    assert [log.blocks for log in seen] == [written] * 10
    assert await LogStore.open(url).read(KEY) == StageLog(written, completed=True)


async def test_a_wrong_key_is_a_temporary_error_that_repeats_no_secret(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-the-secret")

    with pytest.raises(LogStorageError, match="check that it can be reached and that its keys are right") as raised:
        await LogStore.open(url).append(KEY, blocks(1))

    assert raised.value.retry
    assert "not-the-secret" not in str(raised.value)


async def test_a_bucket_that_is_not_there_is_said(url: str) -> None:
    with pytest.raises(LogStorageError, match="the bucket did not write deployment-1/"):
        await LogStore.open("s3://no-such-bucket/logs").append(KEY, blocks(1))


async def test_odd_ids_become_plain_names(s3: S3Server, url: str) -> None:
    store = LogStore.open(url)
    odd = StageLogKey("../../etc", "a b/é\0?#%2e", 0)

    await store.append(odd, blocks(1))

    assert await store.read(odd) == StageLog(tuple(blocks(1)))
    (file,) = s3.files(url)
    assert re.fullmatch(r"logs/[\w=-]+/[\w=-]+/0", "/".join(file.parts[-5:-1]))
