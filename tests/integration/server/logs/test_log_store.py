"""What a log store promises, on a real directory and on obstore's memory store."""

from collections.abc import Callable
from pathlib import Path

import pytest
from obstore.store import MemoryStore

from fairway.server.logs import LogStore, StageLog, StageLogKey
from fairway.server.logs.bucket import Bucket
from fairway.server.logs.compaction import PART_BYTES
from fairway.server.logs.local_directory import LocalDirectory
from fairway.server.logs.objects import LogPlaceError, Objects
from fairway.server.logs.part import LAST_INDEX
from fairway.server.logs.stage_log import LogKeyError
from tests.unit.server.logs.log_blocks import KEY, a_block, blocks

Place = Callable[[], Objects]


@pytest.fixture(params=["directory", "memory"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Opens the same place again at every call."""
    memory = MemoryStore()
    return (lambda: LocalDirectory(tmp_path / "logs")) if request.param == "directory" else (lambda: Bucket(memory))


async def objects_of(place: Place) -> list[str]:
    return [name.rpartition("/")[2] for name in await place().list("")]


async def test_an_unknown_log_is_empty(place: Place) -> None:
    store = LogStore(place())

    assert await store.read(KEY) == StageLog()
    assert await store.list_stages(KEY.deployment_id) == ()


async def test_blocks_are_read_by_another_store_in_the_order_of_their_indexes(place: Place) -> None:
    await LogStore(place()).append(KEY, blocks(5, 4))
    await LogStore(place()).append(KEY, blocks(2, 3))

    assert await LogStore(place()).read(KEY) == StageLog(tuple(blocks(2, 3, 4, 5)))


async def test_a_block_sent_again_is_stored_once(place: Place) -> None:
    store = LogStore(place())

    for _ in range(3):
        await store.append(KEY, blocks(1, 2))
    await store.append(KEY, blocks(1, 2, 3))

    assert await store.read(KEY) == StageLog(tuple(blocks(1, 2, 3)))
    assert len(await objects_of(place)) == 2


async def test_a_reader_starts_where_it_wants(place: Place) -> None:
    store = LogStore(place())
    await store.append(KEY, blocks(1, 2, 3))
    await store.append(KEY, blocks(4, LAST_INDEX))

    assert await store.read(KEY, from_index=3) == StageLog(tuple(blocks(3, 4, LAST_INDEX)))


async def test_pages_follow_each_other_to_the_end(place: Place) -> None:
    store = LogStore(place())
    await store.append(KEY, blocks(10, 20, 30))
    await store.append(KEY, blocks(20, 40), completed=True)

    first = await store.read(KEY, limit=3)
    second = await store.read(KEY, from_index=40, limit=3)

    assert first == StageLog(tuple(blocks(10, 20, 30)), completed=True, next_index=40)
    assert second == StageLog(tuple(blocks(40)), completed=True)


async def test_a_log_can_be_completed_without_a_last_block(place: Place) -> None:
    store = LogStore(place())
    await store.append(KEY, blocks(1))

    await store.append(KEY, [], completed=True)

    assert await store.read(KEY) == StageLog(tuple(blocks(1)), completed=True)


async def test_a_new_run_adds_to_a_completed_log_which_stays_completed(place: Place) -> None:
    store = LogStore(place())
    await store.append(KEY, blocks(1, 2), completed=True)

    await store.append(KEY, blocks(100))
    await store.append(KEY, blocks(101))

    assert await store.read(KEY) == StageLog(tuple(blocks(1, 2, 100, 101)), completed=True)


async def test_a_completed_log_becomes_one_object_and_its_mark(place: Place) -> None:
    store = LogStore(place())
    for index in range(30):
        await store.append(KEY, blocks(index))
    await store.append(KEY, blocks(*range(30)), completed=True)

    await store.close()

    assert len(await objects_of(place)) == 2
    assert await LogStore(place()).read(KEY) == StageLog(tuple(blocks(*range(30))), completed=True)


async def test_a_line_of_any_length_with_any_characters_is_kept(place: Place) -> None:
    store = LogStore(place())
    written = [a_block(1, "é\n\0\u2028" * 2_500_000), a_block(2, "")]

    await store.append(KEY, written, completed=True)

    assert await store.read(KEY) == StageLog(tuple(written), completed=True)


async def test_a_large_log_is_rewritten_into_parts_of_bounded_size(place: Place) -> None:
    store = LogStore(place())
    written = [a_block(index, "x" * (PART_BYTES // 8)) for index in range(10)]
    for block in written:
        await store.append(KEY, [block])

    await store.append(KEY, written[:1], completed=True)
    await store.close()

    assert await LogStore(place()).read(KEY) == StageLog(tuple(written), completed=True)
    assert len(await objects_of(place)) == 3


async def test_the_logs_of_a_deployment_are_listed(place: Place) -> None:
    store = LogStore(place())
    keys = [StageLogKey("d", "../a", 0), StageLogKey("d", "../a", 10), StageLogKey("d", "b", 2)]
    for key in (*keys, StageLogKey("d2", "c", 0), StageLogKey("d/b", "c", 0)):
        await store.append(key, blocks(1))

    assert await store.list_stages("d") == tuple(keys)


async def test_an_id_that_names_no_log_is_refused(place: Place) -> None:
    with pytest.raises(LogKeyError):
        await LogStore(place()).append(StageLogKey("d", "", 0), blocks(1))


@pytest.mark.parametrize("form", [pytest.param("{}", id="a path"), pytest.param("file://{}", id="a file address")])
async def test_a_directory_is_made_where_it_is_asked_for(tmp_path: Path, form: str) -> None:
    store = LogStore.open(form.format(tmp_path / "data" / "logs"))
    await store.append(KEY, blocks(1))
    await store.close()

    assert [path.name for path in (tmp_path / "data/logs").iterdir() if path.name != ".unfinished"] == ["deployment-1"]


def test_a_place_that_is_neither_directory_nor_bucket_is_refused() -> None:
    with pytest.raises(LogPlaceError, match=r"cannot be kept at ftp://…; expected a directory or s3://bucket/prefix"):
        LogStore.open("ftp://user:secret@host/logs")


async def test_the_logs_of_a_deployment_are_deleted_and_no_others(place: Place) -> None:
    store = LogStore(place())
    others = StageLogKey(f"{KEY.deployment_id}0", KEY.stage_id, 0)
    for key in (KEY, StageLogKey(KEY.deployment_id, "stage-2", 1), others):
        await store.append(key, blocks(1))
        await store.append(key, blocks(2), completed=True)

    await store.delete_deployment(KEY.deployment_id)
    await store.delete_deployment("never-there")

    assert await store.list_stages(KEY.deployment_id) == ()
    assert await store.read(others) == StageLog(tuple(blocks(1, 2)), completed=True)
    await store.close()


async def test_a_log_that_was_deleted_can_be_written_again(place: Place) -> None:
    store = LogStore(place())
    await store.append(KEY, blocks(1))
    await store.delete_deployment(KEY.deployment_id)

    await store.append(KEY, blocks(2))

    assert await store.read(KEY) == StageLog(tuple(blocks(2)))


def test_keys_that_cannot_be_read_are_not_repeated() -> None:
    with pytest.raises(LogPlaceError, match="gs://logs cannot be used as a bucket for logs") as refusal:
        LogStore.open("gs://logs", {"google_service_account_key": '{"private_key": "hunter2"}'})

    assert "hunter2" not in str(refusal.value)


async def test_objects_whose_blocks_are_all_known_are_not_looked_into(tmp_path: Path) -> None:
    store = LogStore.open(tmp_path)
    for indexes in ([1, 2], [3, 5], [6]):
        await store.append(KEY, [a_block(index) for index in indexes])

    log = await store.read(KEY, known=[(1, 3), (6, 9)])

    assert [block.index for block in log.blocks] == [3, 5]
    await store.close()
