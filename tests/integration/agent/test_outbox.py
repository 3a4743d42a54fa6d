"""Reports reach the server in order, whatever happens to server, disk and agent meanwhile."""

import asyncio
import sqlite3
import threading
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from fairway.agent.control_plane import KeyRefused, ServerAway, ServerHasIt, ServerRefused
from fairway.agent.outbox import Outbox, log_stream
from fairway.agent.outbox_file import OutboxError
from fairway.agent.reports import Report, deploying
from fairway.git.retry import Retry
from tests.patience import PATIENCE_SECONDS


class RecordingServer:
    """Takes reports while it is there."""

    def __init__(self) -> None:
        self.taken: list[str] = []
        self.calls: list[int] = []
        self.problem: Exception | None = None

    async def send(self, *reports: Report) -> None:
        # Another task may run here, as it may during a real call.
        await asyncio.sleep(0)
        if self.problem is not None:
            raise self.problem
        self.calls.append(len(reports))
        self.taken += [id_of(report.request) for report in reports]


class SilentServer(RecordingServer):
    """Answers nobody until it speaks."""

    def __init__(self) -> None:
        super().__init__()
        self.speaks = asyncio.Event()

    async def send(self, *reports: Report) -> None:
        await self.speaks.wait()
        await super().send(*reports)


AWAY = ServerAway("nobody there")


def id_of(request: Message) -> str:
    return str(getattr(request, "application_id", ""))


def a_report(id: str) -> Report:
    return deploying(id, deploying=True)


async def _at_once(_seconds: float) -> None:
    await asyncio.sleep(0)


PATIENCE = Retry(sleep=_at_once, chance=lambda: 0.0)


def never_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have it that a server that is away has said so at once, also on a machine that is out of breath."""
    monkeypatch.setattr("fairway.agent.outbox.monotonic", lambda: 0.0)


async def test_what_was_kept_is_sent_at_once_when_somebody_has_heard_of_the_server(tmp_path: Path) -> None:
    server, pausing = RecordingServer(), asyncio.Event()
    server.problem = AWAY

    async def for_ever(_seconds: float) -> None:
        pausing.set()
        await asyncio.Event().wait()

    async with Outbox.open(tmp_path / "outbox.db", server, Retry(sleep=for_ever)) as outbox:
        await outbox.deliver("d-1", a_report("1"))
        await pausing.wait()
        server.problem = None
        outbox.try_now()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await outbox.drained()

    assert server.taken == ["1"]


async def test_a_report_goes_straight_to_a_server_that_answers(tmp_path: Path) -> None:
    server = RecordingServer()
    async with Outbox.open(tmp_path / "outbox.db", server, PATIENCE) as outbox:
        assert await outbox.deliver("d-1", a_report("1")) is True

    assert server.taken == ["1"]


async def test_what_was_kept_is_sent_in_order_when_the_server_is_back(tmp_path: Path) -> None:
    server = RecordingServer()
    server.problem = AWAY
    async with Outbox.open(tmp_path / "outbox.db", server, PATIENCE) as outbox:
        assert [await outbox.deliver("d-1", a_report(id)) for id in "123"] == [False] * 3
        server.problem = None
        assert await outbox.deliver("d-1", a_report("4")) is False
        await outbox.drained()

    assert server.taken == ["1", "2", "3", "4"]


async def test_reports_of_one_moment_are_told_in_one_go_or_kept_in_their_order(tmp_path: Path) -> None:
    server = RecordingServer()
    async with Outbox.open(tmp_path / "outbox.db", server, PATIENCE) as outbox:
        assert await outbox.deliver("d-1", *map(a_report, "12")) is True
        server.problem = AWAY
        assert await outbox.deliver("d-1", *map(a_report, "345")) is False
        server.problem = None
        await outbox.drained()

    assert (server.taken, server.calls) == (["1", "2", "3", "4", "5"], [2, 1, 1, 1])


@pytest.mark.parametrize("seconds", [pytest.param(0, id="was refused"), pytest.param(15, id="was silent")])
async def test_on_a_full_disk_a_report_goes_to_the_server_that_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: int
) -> None:
    server, looks = RecordingServer(), count(step=seconds)
    server.problem = AWAY
    monkeypatch.setattr("fairway.agent.outbox.monotonic", lambda: next(looks))
    report = a_report("x" * 100_000)
    async with Outbox.open(tmp_path / "outbox.db", server, PATIENCE) as outbox:
        # SQLite gives the file no more room than it has.
        outbox._file.execute("PRAGMA max_page_count = 1")
        delivering = asyncio.create_task(outbox.deliver("d-1", report))
        waiting, _ = await asyncio.wait({delivering}, timeout=0.1)
        server.problem = None

        assert (waiting, await delivering) == (set(), True)

    assert server.taken == [id_of(report.request)]


async def test_what_was_kept_survives_the_agent(tmp_path: Path) -> None:
    away, back = RecordingServer(), RecordingServer()
    away.problem = AWAY
    async with Outbox.open(tmp_path / "outbox.db", away, PATIENCE) as outbox:
        await outbox.deliver("d-1", a_report("1"))
        await outbox.deliver("d-2", a_report("2"))

    async with Outbox.open(tmp_path / "outbox.db", back, PATIENCE) as outbox:
        await outbox.drained()
        assert outbox.kept_streams == 0

    assert sorted(back.taken) == ["1", "2"]


async def test_work_does_not_wait_for_a_server_that_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fairway.agent.outbox._PROMPT_SECONDS", 0.01)
    server = SilentServer()
    async with asyncio.timeout(PATIENCE_SECONDS), Outbox.open(tmp_path / "outbox.db", server, PATIENCE) as outbox:
        assert [await outbox.deliver("d-1", a_report(id)) for id in "12"] == [False, False]
        server.speaks.set()
        await outbox.drained()

    assert server.taken == ["1", "2"]


async def test_one_stream_does_not_wait_for_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    never_slow(monkeypatch)
    server = RecordingServer()
    server.problem = AWAY
    never = asyncio.Event()

    async def wait_for_ever(_seconds: float) -> None:
        await never.wait()

    async with Outbox.open(tmp_path / "outbox.db", server, Retry(sleep=wait_for_ever)) as outbox:
        await outbox.deliver("d-1", a_report("1"))
        await asyncio.sleep(0)
        server.problem = None
        assert await outbox.deliver("d-2", a_report("2")) is True

    assert server.taken == ["2"]


@pytest.mark.parametrize(
    ("seconds", "at_once"),
    [pytest.param(15, False, id="not when it is cut without a word"), pytest.param(0, True, id="when it is refused")],
)
async def test_whether_others_try_a_line_that_has_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: int, at_once: bool
) -> None:
    server, tried, never = RecordingServer(), asyncio.Event(), asyncio.Event()
    server.problem = AWAY
    looks = count(step=seconds)
    monkeypatch.setattr("fairway.agent.outbox.monotonic", lambda: next(looks))

    async def for_ever(_seconds: float) -> None:
        tried.set()
        await never.wait()

    async with Outbox.open(tmp_path / "outbox.db", server, Retry(sleep=for_ever)) as outbox:
        await outbox.deliver("d-1", a_report("1"))
        await tried.wait()
        server.problem = None

        assert await outbox.deliver("d-2", a_report("2")) is at_once


@pytest.mark.parametrize("returns", [pytest.param(1, id="to the deployment"), pytest.param(2, id="to its log")])
async def test_a_log_comes_behind_its_deployment_whenever_the_server_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, returns: int
) -> None:
    never_slow(monkeypatch)
    server = RecordingServer()
    server.problem = AWAY
    wake = asyncio.Event()

    async def until_woken(_seconds: float) -> None:
        await wake.wait()

    async with Outbox.open(tmp_path / "outbox.db", server, Retry(sleep=until_woken)) as outbox:
        for number, stream in enumerate(("d-1", log_stream("d-1", "s-1"), log_stream("d-2", "s-1"))):
            server.problem = None if number >= returns else AWAY
            await outbox.deliver(stream, a_report(stream))
        before = list(server.taken)
        wake.set()
        await outbox.drained()

    assert before == ["log of d-2 s-1"]
    assert server.taken[1:] == ["d-1", "log of d-1 s-1"]


@pytest.mark.parametrize(
    ("problem", "kept"),
    [
        pytest.param(KeyRefused("disabled"), True, id="an agent that was locked out may be let in again"),
        pytest.param(ServerRefused("no such deployment"), False, id="what is refused for good is not kept"),
    ],
)
async def test_what_becomes_of_a_refused_report(tmp_path: Path, problem: Exception, kept: bool) -> None:
    server = RecordingServer()
    server.problem = problem
    async with Outbox.open(tmp_path / "outbox.db", server, PATIENCE) as outbox:
        if kept:
            assert await outbox.deliver("d-1", a_report("1")) is False
        else:
            with pytest.raises(ServerRefused, match="no such deployment"):
                await outbox.deliver("d-1", a_report("1"))
        assert outbox.kept_streams == int(kept)


async def test_a_kept_report_that_is_refused_later_does_not_hold_up_the_rest(tmp_path: Path) -> None:
    server = RecordingServer()
    server.problem = AWAY
    async with Outbox.open(tmp_path / "outbox.db", server, PATIENCE) as outbox:
        await outbox.deliver("d-1", a_report("1"))
        server.problem = ServerRefused("has ended")
        await outbox.drained()
        server.problem = None
        assert await outbox.deliver("d-1", a_report("2")) is True


async def test_a_kept_report_that_the_server_has_already_is_nothing_to_complain_of(tmp_path: Path) -> None:
    # PipeCD's server was too slow to answer in time, and says of a deployment that is made again that it exists.
    server = RecordingServer()
    server.problem = AWAY
    with capture_logs() as said:
        async with Outbox.open(tmp_path / "outbox.db", server, PATIENCE) as outbox:
            await outbox.deliver("d-1", a_report("1"))
            server.problem = ServerHasIt("exists already")
            await outbox.drained()
    assert [each["event"] for each in said if each["log_level"] == "error"] == []


async def test_a_file_that_cannot_be_made_is_said_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(OutboxError, match=r"cannot be stored in .*missing"):
        async with Outbox.open(tmp_path / "missing" / "outbox.db", RecordingServer(), PATIENCE):
            pass


async def test_only_the_owner_can_read_what_is_kept(tmp_path: Path) -> None:
    async with Outbox.open(tmp_path / "outbox.db", RecordingServer(), PATIENCE):
        assert (tmp_path / "outbox.db").stat().st_mode & 0o777 == 0o600


@settings(max_examples=30)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.booleans()), max_size=20))
def test_each_stream_arrives_whole_and_in_order_whenever_the_server_comes_and_goes(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, bool]]
) -> None:
    async def play() -> list[str]:
        server = RecordingServer()
        path = tmp_path_factory.mktemp("outbox") / "outbox.db"
        async with Outbox.open(path, server, PATIENCE) as outbox:
            for number, (stream, away) in enumerate(steps):
                server.problem = AWAY if away else None
                await outbox.deliver(stream, a_report(f"{stream}{number}"))
            server.problem = None
            await outbox.drained()
        return server.taken

    taken = asyncio.run(play())

    for stream in "ab":
        expected = [f"{stream}{number}" for number, (of, _) in enumerate(steps) if of == stream]
        assert [id for id in taken if id.startswith(stream)] == expected


async def test_nothing_is_sent_or_kept_before_the_gate_is_open(tmp_path: Path) -> None:
    server, gate = RecordingServer(), asyncio.Event()

    async def opened() -> None:
        await gate.wait()

    async with Outbox.open(tmp_path / "outbox.db", server, PATIENCE, gate=opened) as outbox:
        delivering = asyncio.create_task(outbox.deliver("d-1", a_report("1")))
        for _ in range(10):
            await asyncio.sleep(0)
        assert (server.taken, outbox.kept_streams) == ([], 0)
        gate.set()
        assert await delivering is True

    assert server.taken == ["1"]


async def test_the_log_of_what_runs_is_kept_while_nothing_new_may_begin(tmp_path: Path) -> None:
    server, gate = RecordingServer(), asyncio.Event()
    server.problem = AWAY

    async def opened() -> None:
        await gate.wait()

    async def at_work() -> None: ...

    async with Outbox.open(tmp_path / "outbox.db", server, PATIENCE, gate=opened, log_gate=at_work) as outbox:
        log = asyncio.create_task(outbox.deliver(log_stream("d-1", "s-1"), a_report("log")))
        beginning = asyncio.create_task(outbox.deliver("d-2", a_report("beginning")))
        done, _ = await asyncio.wait({log, beginning}, timeout=PATIENCE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        kept = outbox.kept_streams
        server.problem = None
        gate.set()
        await asyncio.gather(log, beginning)
        await outbox.drained()

    assert (done, kept, sorted(server.taken)) == ({log}, 1, ["beginning", "log"])


async def test_what_was_kept_before_another_agent_was_at_work_is_dropped_but_its_log_is_sent(tmp_path: Path) -> None:
    away, back = RecordingServer(), RecordingServer()
    away.problem = AWAY
    async with Outbox.open(tmp_path / "outbox.db", away, PATIENCE) as outbox:
        await outbox.deliver("d-1", a_report("1"))
        await outbox.deliver(log_stream("d-1", "s"), a_report("log"))

    async with Outbox.open(tmp_path / "outbox.db", back, PATIENCE, only_logs=True) as outbox:
        await outbox.drained()

    assert back.taken == ["log"]


class SlowToKeep(sqlite3.Connection):
    """A file that takes a new report when it may."""

    at_it, go = threading.Event(), threading.Event()

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        if sql.startswith("INSERT"):
            self.at_it.set()
            self.go.wait()
        return super().execute(sql, parameters)


async def test_a_report_whose_sender_is_cancelled_while_it_is_kept_is_sent_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = RecordingServer()
    server.problem = AWAY
    monkeypatch.setattr("fairway.agent.outbox_file.sqlite3.connect", partial(sqlite3.connect, factory=SlowToKeep))
    async with Outbox.open(tmp_path / "outbox.db", server, PATIENCE) as outbox:
        delivering = asyncio.create_task(outbox.deliver("d-1", a_report("1")))
        await asyncio.to_thread(SlowToKeep.at_it.wait)
        delivering.cancel()
        await asyncio.gather(delivering, return_exceptions=True)
        SlowToKeep.go.set()
        server.problem = None
        await outbox.deliver("d-1", a_report("2"))
        await outbox.drained()

    assert server.taken == ["1", "2"]
