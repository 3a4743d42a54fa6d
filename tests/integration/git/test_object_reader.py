"""ObjectReader: one git process for many readers, whatever happens to it."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from fairway.git.errors import GitInputError, MirrorCorrupt
from fairway.git.object_reader import Absent, Found, ObjectReader, TooLarge
from fairway.git.process import Git
from tests.integration.git.repositories import Origin, an_origin, git


def a_reader(origin: Origin, largest: int = 2**20) -> ObjectReader:
    return ObjectReader(Git(), origin.bare, largest)


def blob(origin: Origin, content: bytes) -> bytes:
    return git(origin.bare, "hash-object", "-w", "--stdin", stdin=content).encode()


async def test_objects_come_in_order_with_holes_where_there_are_none(tmp_path: Path) -> None:
    origin = an_origin(tmp_path)
    empty, binary = blob(origin, b""), blob(origin, b"a\n\0blob 3\nb")
    reader = a_reader(origin)

    replies = await reader.read([empty, b"0" * 40, binary, b"no such name"])
    await reader.close()

    assert replies == [
        Found(empty.decode(), "blob", b""),
        Absent("missing"),
        Found(binary.decode(), "blob", b"a\n\0blob 3\nb"),
        Absent("missing"),
    ]


async def test_a_process_that_was_killed_is_replaced(tmp_path: Path) -> None:
    origin = an_origin(tmp_path)
    name = blob(origin, b"x")
    reader = a_reader(origin)
    await reader.read([name])
    assert reader.process_id is not None
    os.kill(reader.process_id, signal.SIGKILL)

    replies = await reader.read([name])
    await reader.close()

    assert replies == [Found(name.decode(), "blob", b"x")]


async def test_a_cancelled_caller_does_not_mix_up_the_answers_of_the_next(tmp_path: Path) -> None:
    origin = an_origin(tmp_path)
    large, small = blob(origin, bytes(2**19)), blob(origin, b"small")
    reader = a_reader(origin)
    cancelled = asyncio.create_task(reader.read([large] * 200))
    while reader.process_id is None:  # noqa: ASYNC110 - one turn of the loop at a time, until the read is under way
        await asyncio.sleep(0)
    cancelled.cancel()
    await asyncio.gather(cancelled, return_exceptions=True)

    replies = await reader.read([small])
    await reader.close()

    assert (cancelled.cancelled(), replies) == (True, [Found(small.decode(), "blob", b"small")])


async def test_concurrent_callers_each_get_their_own_answers(tmp_path: Path) -> None:
    origin = an_origin(tmp_path)
    blobs = {content: blob(origin, content) for content in (b"%d" % number for number in range(8))}
    reader = a_reader(origin)

    answers = await asyncio.gather(*(reader.read([name] * 50) for name in blobs.values()))
    await reader.close()

    assert answers == [[Found(name.decode(), "blob", content)] * 50 for content, name in blobs.items()]


async def test_more_than_the_pipes_hold_does_not_block(tmp_path: Path) -> None:
    origin = an_origin(tmp_path)
    name = blob(origin, b"y" * 10_000)
    reader = a_reader(origin)

    replies = await reader.read([name] * 5_000)
    await reader.close()

    assert replies == [Found(name.decode(), "blob", b"y" * 10_000)] * 5_000


async def test_objects_written_later_are_seen(tmp_path: Path) -> None:
    origin = an_origin(tmp_path)
    reader = a_reader(origin)
    before = await reader.read([b"refs/heads/main"])

    newest = origin.commit({"later": "1"})
    git(origin.bare, "gc", "--quiet")
    (after,) = await reader.read([b"refs/heads/main"])
    await reader.close()

    assert isinstance(after, Found)
    assert (after.hash, after != before[0]) == (newest, True)


async def test_an_object_that_is_too_large_is_skipped_and_the_rest_is_read(tmp_path: Path) -> None:
    origin = an_origin(tmp_path)
    large, small = blob(origin, b"z" * 300_000), blob(origin, b"small")
    reader = a_reader(origin, largest=1000)

    replies = await reader.read([large, small, large])
    process = reader.process_id
    again = await reader.read([small])
    same_process = reader.process_id == process
    await reader.close()

    skipped, found = TooLarge(large.decode(), 300_000), Found(small.decode(), "blob", b"small")
    assert (replies, again, same_process) == ([skipped, found, skipped], [found], True)


async def test_a_name_that_would_break_the_protocol_is_refused(tmp_path: Path) -> None:
    reader = a_reader(an_origin(tmp_path))

    with pytest.raises(GitInputError, match="line break"):
        await reader.read([b"x\ninfo HEAD"])


async def test_a_directory_that_is_no_repository_is_damage(tmp_path: Path) -> None:
    reader = ObjectReader(Git(), tmp_path)

    with pytest.raises(MirrorCorrupt, match="the mirror is damaged"):
        await reader.read([b"HEAD"])
