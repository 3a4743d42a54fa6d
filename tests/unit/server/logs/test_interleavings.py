"""Appenders, readers and rewriting in several replicas at once, in every order that Hypothesis can think of."""

from itertools import chain
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from fairway.server.logs import LogStore, StageLog
from tests.unit.server.logs.log_blocks import KEY, a_block, blocks
from tests.unit.server.logs.stepped_objects import SteppedObjects

INDEXES = st.lists(st.integers(0, 9), min_size=1, max_size=4)
#: How many characters a reader may hold: those of one block, of three, of all.
ROOMS = st.sampled_from([1, 18, 1000])
ORDERS = st.integers(0, 2**32).map(Random)


async def append_and_close(store: LogStore, indexes: list[int], completed: bool) -> None:
    await store.append(KEY, blocks(*indexes), completed)
    await store.close()


async def read_and_close(store: LogStore) -> StageLog:
    log = await store.read(KEY)
    await store.close()
    return log


def union(*lists: list[int]) -> tuple[int, ...]:
    return tuple(sorted(set(chain(*lists))))


@given(
    before=st.lists(INDEXES, max_size=4),
    during=st.lists(st.tuples(INDEXES, st.booleans()), min_size=1, max_size=3),
    room=ROOMS,
    order=ORDERS,
)
async def test_any_interleaving_of_appenders_gives_the_union_in_order(
    before: list[list[int]], during: list[tuple[list[int], bool]], room: int, order: Random
) -> None:
    objects = SteppedObjects()
    for indexes in before:
        await append_and_close(LogStore(objects, room), indexes, False)

    work = [append_and_close(LogStore(objects, room), indexes, completed) for indexes, completed in during]
    await objects.run_stepped(work, order)

    expected = union(*before, *(indexes for indexes, _ in during))
    completed = any(completed for _, completed in during)
    assert await read_and_close(LogStore(objects, room)) == StageLog(tuple(blocks(*expected)), completed)


@given(
    before=st.lists(INDEXES, min_size=2, max_size=4),
    completed_before=st.booleans(),
    last=INDEXES,
    room=ROOMS,
    order=ORDERS,
)
async def test_a_reader_finds_everything_acknowledged_while_the_log_is_rewritten(
    before: list[list[int]], completed_before: bool, last: list[int], room: int, order: Random
) -> None:
    objects = SteppedObjects()
    for indexes in before:
        await LogStore(objects).append(KEY, blocks(*indexes))
    if completed_before:
        objects.kept["deployment-1/stage-1/0/completed"] = b""

    work = [
        append_and_close(LogStore(objects, room), last, True),
        read_and_close(LogStore(objects, room)),
        read_and_close(LogStore(objects, room)),
    ]
    _, *read = await objects.run_stepped(work, order)

    most = tuple(blocks(*union(*before, last)))
    for log in read:
        # Of what is appended meanwhile, a reader may find what lies ahead of it and miss what lies behind.
        found = [index for index in last if index in {block.index for block in log.blocks}]
        assert log.blocks == tuple(blocks(*union(*before, found)))
        assert completed_before or not log.completed or log.blocks == most


async def test_a_page_reads_no_more_parts_than_it_needs() -> None:
    objects = SteppedObjects()
    for first in range(0, 100, 10):
        await LogStore(objects).append(KEY, blocks(*range(first, first + 10)))
    objects.gets.clear()

    page = await LogStore(objects).read(KEY, from_index=42, limit=3)

    assert page == StageLog(tuple(blocks(42, 43, 44)), next_index=45)
    assert [name.rpartition("/")[2][:39] for name in objects.gets] == ["completed", f"{40:019}-{49:019}"]


@given(parts=st.lists(INDEXES, max_size=6), room=ROOMS, limit=st.integers(1, 4))
async def test_pages_of_any_size_make_the_whole_log(parts: list[list[int]], room: int, limit: int) -> None:
    store = LogStore(SteppedObjects(), room)
    for indexes in parts:
        await store.append(KEY, blocks(*indexes))

    pages = [await store.read(KEY, limit=limit)]
    while (following := pages[-1].next_index) is not None:
        pages.append(await store.read(KEY, following, limit))

    assert [block for page in pages for block in page.blocks] == blocks(*union(*parts))
    assert max(len(page.blocks) for page in pages) <= limit


async def test_a_page_of_long_lines_ends_early() -> None:
    store = LogStore(SteppedObjects(), 10)
    long = [a_block(index, "x" * 8) for index in range(3)]
    await store.append(KEY, long)

    assert await store.read(KEY, limit=100) == StageLog(tuple(long[:2]), next_index=2)


@given(order=ORDERS)
async def test_deleted_logs_do_not_come_back_by_a_rewriting_that_was_under_way(order: Random) -> None:
    objects = SteppedObjects()
    store = LogStore(objects)
    await store.append(KEY, blocks(1))
    await store.append(KEY, blocks(2))

    async def complete_and_delete() -> None:
        await store.append(KEY, blocks(3), completed=True)
        await store.delete_deployment(KEY.deployment_id)
        await store.close()

    await objects.run_stepped([complete_and_delete()], order)

    assert objects.kept == {}
