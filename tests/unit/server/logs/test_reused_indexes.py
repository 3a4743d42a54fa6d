"""A stage that is started again may use numbers twice; no line is lost for it."""

from obstore.store import MemoryStore

from fairway.server.logs import LogStore, StageLogKey
from fairway.server.logs.bucket import Bucket
from tests.unit.server.logs.log_blocks import a_block

KEY = StageLogKey("deployment-1", "stage-1", 0)


async def test_both_runs_of_a_stage_are_kept_line_by_line() -> None:
    logs = LogStore(Bucket(MemoryStore()))
    first = [a_block(index, f"first {index}") for index in range(10)]
    second = [a_block(index, f"second {index}", after=60) for index in range(5, 8)]

    await logs.append(KEY, first)
    await logs.append(KEY, second)
    await logs.append(KEY, [*first, *second], completed=True)
    await logs.close()

    written = sorted([*first, *second], key=lambda block: (block.index, block.created_at))
    assert list((await logs.read(KEY)).blocks) == written


async def test_a_page_does_not_end_between_two_lines_with_one_number() -> None:
    logs = LogStore(Bucket(MemoryStore()))
    lines = [a_block(1, "a"), a_block(2, "b"), a_block(2, "c", after=60), a_block(3, "d")]
    await logs.append(KEY, lines)

    first = await logs.read(KEY, limit=2)
    rest = await logs.read(KEY, from_index=first.next_index or 0, limit=2)

    assert [list(first.blocks), list(rest.blocks), rest.next_index] == [lines[:3], lines[3:], None]
