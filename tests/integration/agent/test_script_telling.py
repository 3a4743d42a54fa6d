"""The output of a script, told by processes that are killed at any moment: each byte once, in order."""

import asyncio
import tempfile
import tracemalloc
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairway.clock import FakeClock
from fairway.model.log_block import LogBlock, LogSeverity
from fairway.plugins.scriptrun.journal import Journal
from fairway.plugins.scriptrun.telling import PIECE_BYTES as PIECE
from fairway.plugins.scriptrun.telling import Place, Telling
from fairway.sdk.stage_log import StageLog
from tests.unit.model.builders import a_stage

#: What happens to the process that tells: nothing, or it is killed before or after the server has the block.
STEPS = ("tells", "killed before", "killed after")
PIECE_BYTES = 8
texts = st.text(st.sampled_from("aé€\n"), max_size=12)


class Killed(BaseException):
    """The process is no more."""


class Server:
    """Takes blocks, the same one as often as it comes."""

    def __init__(self) -> None:
        self.blocks: set[tuple[int, str, datetime]] = set()
        self.step = "tells"

    async def take(self, blocks: Sequence[LogBlock], _completed: bool) -> None:
        if self.step == "killed before":
            raise Killed
        self.blocks |= {(block.index, block.log, block.created_at) for block in blocks}
        if self.step == "killed after":
            raise Killed


def a_place(server: Server, clock: FakeClock) -> Place:
    return Place(a_stage(), StageLog(server.take, clock), 0)


async def play(folder: Path, server: Server, moments: list[tuple[str, str]], ends: list[str]) -> bytes:
    """What the script has written in the end; `ends` is what happens when it writes no more."""
    clock = FakeClock(datetime(2026, 1, 1, tzinfo=UTC))
    journal, output = Journal(folder), folder / "output"
    output.touch()
    last = [("", step, True) for step in [*ends, *["tells"] * 100]]
    for written, step, at_the_end in [*((*moment, False) for moment in moments), *last]:
        with output.open("a") as file:
            file.write(written)
        server.step = step
        # Whoever tells now knows of the one before only what is in the files.
        place = a_place(server, clock)
        telling = Telling(journal, place, PIECE_BYTES)
        clock.advance(timedelta(seconds=1))
        try:
            await telling.more(at_the_end)
            # As at the end of a stage: the last piece goes with the end of the log.
            await place.log.flush()
        except Killed:
            continue
    return output.read_bytes()


@given(st.lists(st.tuples(texts, st.sampled_from(STEPS)), max_size=12), st.lists(st.sampled_from(STEPS), max_size=4))
def test_each_byte_is_told_once_and_in_order(moments: list[tuple[str, str]], ends: list[str]) -> None:
    server = Server()
    with tempfile.TemporaryDirectory() as folder:
        output = asyncio.run(play(Path(folder), server, moments, ends))

    first = int(a_stage().created_at.timestamp()) * 1_000_000
    told = [(index - first, log) for index, log, _ in sorted(server.blocks)]
    places = [0, *(place for place, _ in told[1:]), len(output)] if told else [0]
    pieces = [output[start:end] for start, end in pairwise(places)]
    assert b"".join(pieces) == output
    assert [piece.removesuffix(b"\n").decode() for piece in pieces] == [log for _, log in told]


async def test_a_piece_of_a_process_that_sent_larger_ones_is_sent_again_as_it_was(tmp_path: Path) -> None:
    server, clock = Server(), FakeClock(datetime(2026, 1, 1, tzinfo=UTC))
    (tmp_path / "output").write_text("one\ntwo\nthree\nfour\n")
    server.step = "killed after"
    with pytest.raises(Killed):
        await Telling(Journal(tmp_path), a_place(server, clock), 2 * PIECE_BYTES).more(False)
    before, server.step = set(server.blocks), "tells"

    await Telling(Journal(tmp_path), a_place(server, clock), PIECE_BYTES).more(False)

    assert (server.blocks, [text for _, text, _ in before]) == (before, ["one\ntwo\nthree"])


class Counter:
    """Takes blocks and keeps none of them."""

    def __init__(self) -> None:
        self.told = 0

    async def take(self, blocks: Sequence[LogBlock], _completed: bool) -> None:
        self.told += sum(len(block.log) for block in blocks)


async def test_a_gigabyte_is_told_and_only_pieces_of_it_are_ever_in_memory(tmp_path: Path) -> None:
    size, counter = 2**30, Counter()
    (tmp_path / "status").write_text("0\n")
    with (tmp_path / "output").open("wb") as output:
        # A file with a hole, which takes no room: to whoever reads it, one endless line of a script that has ended.
        output.truncate(size)
    place = Place(a_stage(), StageLog(counter.take, FakeClock(datetime(2026, 1, 1, tzinfo=UTC))), 0)

    tracemalloc.start()
    try:
        telling = Telling(Journal(tmp_path), place)
        await telling.all(telling.journal.ended())
        await place.log.close()
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert counter.told == size
    assert most < 10 * PIECE


async def test_the_last_line_is_not_earlier_than_what_the_script_has_written(tmp_path: Path) -> None:
    (tmp_path / "output").write_text("done\n")
    (tmp_path / "status").write_text("0\n")
    ended_at = int((tmp_path / "status").stat().st_mtime)
    server, clock = Server(), FakeClock(datetime.fromtimestamp(ended_at + 1, UTC))
    place = a_place(server, clock)
    telling = Telling(Journal(tmp_path), place)

    await telling.more(at_the_end=True)
    telling.close("exit status 0", LogSeverity.SUCCESS)
    await place.log.flush()

    assert [(text, int(at.timestamp()) - ended_at) for _, text, at in sorted(server.blocks)] == [
        ("done", 1),
        ("exit status 0", 1),
    ]
