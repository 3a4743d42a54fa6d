"""Reports that cannot be sent by what is wrong with the agent hold up no others, and are not lost."""

import asyncio
import contextlib
import sqlite3
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from fairway.agent.outbox import Outbox
from fairway.git.retry import Retry
from tests.integration.agent.test_outbox import AWAY, PATIENCE, RecordingServer, a_report
from tests.patience import PATIENCE_SECONDS


async def test_a_defect_that_keeps_a_report_from_being_sent_is_told_and_it_is_tried_again(tmp_path: Path) -> None:
    server = RecordingServer()
    server.problem = AWAY

    async def back_later(_seconds: float) -> None:
        server.problem = ZeroDivisionError("by nought") if server.problem is AWAY else None

    with capture_logs() as said:
        async with Outbox.open(tmp_path / "outbox.db", server, Retry(sleep=back_later)) as outbox:
            await outbox.deliver("d-1", a_report("1"))
            async with asyncio.timeout(PATIENCE_SECONDS):
                await outbox.drained()

    assert server.taken == ["1"]
    assert [str(each["exc_info"]) for each in said if each["log_level"] == "error"] == ["by nought"]


@pytest.mark.parametrize(
    ("method", "request_"),
    [
        pytest.param("ReportTomorrow", a_report("2").request.SerializeToString(), id="a method of a later version"),
        pytest.param(a_report("2").method, b"\xff", id="no message"),
    ],
)
async def test_a_kept_report_that_cannot_be_read_is_told_of_and_left_for_an_agent_that_can(
    tmp_path: Path, method: str, request_: bytes
) -> None:
    server, path = RecordingServer(), tmp_path / "outbox.db"
    server.problem = AWAY
    async with Outbox.open(path, server, PATIENCE) as outbox:
        for id in "123":
            await outbox.deliver("d-1", a_report(id))
    change(path, "UPDATE kept SET method = ?, request = ? WHERE number = 2", method, request_)
    server.problem = None
    with capture_logs() as said:
        async with Outbox.open(path, server, PATIENCE) as outbox, asyncio.timeout(PATIENCE_SECONDS):
            await outbox.drained()
            await outbox.deliver("d-1", a_report("4"))
    told = [each["method"] for each in said if each["log_level"] == "error"]
    taken = list(server.taken)
    # A version that knows what it says comes back.
    readable = a_report("2")
    change(path, "UPDATE kept SET method = ?, request = ?", readable.method, readable.request.SerializeToString())
    async with Outbox.open(path, server, PATIENCE) as outbox, asyncio.timeout(PATIENCE_SECONDS):
        await outbox.drained()

    assert (taken, told, server.taken) == (["1", "3", "4"], [method], ["1", "3", "4", "2"])


def set_aside(folder: Path) -> Path:
    """The damaged database itself, without what SQLite has beside it."""
    (found,) = (each for each in folder.glob("*.damaged-*") if each.name[-4:] not in {"-shm", "-wal"})
    return found


def change(path: Path, statement: str, *values: object) -> None:
    """Change what is kept, as no agent does."""
    with contextlib.closing(sqlite3.connect(path)) as file, file:
        file.execute(statement, values)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"no database" * 1000, id="something else"),
        pytest.param(None, id="pages overwritten"),
        pytest.param(b"SQLite format 3\0" + b"\xff" * 84, id="cut off"),
    ],
)
async def test_a_damaged_outbox_is_set_aside_and_reported(tmp_path: Path, content: bytes | None) -> None:
    server, path = RecordingServer(), tmp_path / "outbox.db"
    server.problem = AWAY
    async with Outbox.open(path, server, PATIENCE) as outbox:
        for number in range(50):
            await outbox.deliver(f"d-{number}", a_report(str(number)))
    written = path.read_bytes()
    damaged = content or written[:4096] + b"\xff" * (len(written) - 4096)
    path.write_bytes(damaged)

    server.problem = None
    async with Outbox.open(path, server, PATIENCE) as outbox, asyncio.timeout(PATIENCE_SECONDS):
        await outbox.deliver("d-1", a_report("new"))
        await outbox.drained()
        damage = outbox.damage

    aside = set_aside(tmp_path)
    assert server.taken == ["new"]
    assert aside.read_bytes() == damaged
    assert damage.startswith("outbox.db was damaged (")
    assert f"is now {aside.name}; " in damage
    assert "reports in it did not reach the server" in damage


async def test_an_outbox_damaged_while_in_use_is_replaced(tmp_path: Path) -> None:
    server, path = RecordingServer(), tmp_path / "outbox.db"
    async with Outbox.open(path, server, PATIENCE) as outbox, asyncio.timeout(PATIENCE_SECONDS):
        change(path, "PRAGMA wal_checkpoint(TRUNCATE)")
        path.write_bytes(b"\xff" * path.stat().st_size)
        server.problem = AWAY
        await outbox.deliver("d-1", a_report("1"))
        server.problem = None
        outbox.try_now()
        await outbox.drained()
        damage = outbox.damage

    assert server.taken == ["1"]
    assert damage.startswith("outbox.db was damaged (")
