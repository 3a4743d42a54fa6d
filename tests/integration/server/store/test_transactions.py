"""What `read` and `write` promise, whatever the work: durable when acknowledged, undone when it raised."""

import asyncio
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa

from fairway.server.store import projects
from fairway.server.store.errors import StoreUnavailable, UnusableInput
from fairway.server.store.projects import Project
from fairway.server.store.store import Store
from tests.integration.server.store.nouns import a_project
from tests.patience import PATIENCE_SECONDS

WRITER = """
import asyncio, sys
from datetime import UTC, datetime
from fairway.server.store.projects import Project, insert_project
from fairway.server.store.store import Store

async def main():
    store = await Store.open(sys.argv[1])
    async def write(lane):
        for number in range(100_000):
            project = Project(id=f"{lane}-{number}", created_at=datetime.now(UTC), updated_at=datetime.now(UTC))
            await store.write(lambda connection: insert_project(connection, project))
            print(project.id, flush=True)
    await asyncio.gather(*(write(lane) for lane in range(8)))

asyncio.run(main())
"""


def inserting(id: str) -> Callable[[sa.Connection], None]:
    return lambda connection: projects.insert_project(connection, a_project(id))


async def stored_ids(store: Store) -> set[str]:
    return {project.id for project in await store.read(projects.list_projects)}


async def test_work_that_raises_leaves_nothing_behind(store: Store) -> None:
    def half_done(connection: sa.Connection) -> None:
        projects.insert_project(connection, a_project("half"))
        raise LookupError("in the middle")

    with pytest.raises(LookupError, match="in the middle"):
        await store.write(half_done)

    assert await stored_ids(store) == set()


async def test_of_many_writes_at_once_only_those_that_raise_are_undone(store: Store) -> None:
    def failing(id: str) -> Callable[[sa.Connection], None]:
        def work(connection: sa.Connection) -> None:
            projects.insert_project(connection, a_project(id))
            connection.execute(sa.text("SELECT nothing FROM nowhere"))

        return work

    works = [failing(str(number)) if number % 7 == 0 else inserting(str(number)) for number in range(100)]
    outcomes = await asyncio.gather(*map(store.write, works), return_exceptions=True)

    failed = {str(number) for number, outcome in enumerate(outcomes) if outcome is not None}
    assert failed == {str(number) for number in range(0, 100, 7)}
    assert await stored_ids(store) == {str(number) for number in range(100)} - failed


async def test_writes_that_wait_share_one_commit(sqlite_url: str) -> None:
    store = await Store.open(sqlite_url)
    queued = threading.Event()
    transactions: set[sa.RootTransaction | None] = set()

    def work(connection: sa.Connection) -> None:
        assert queued.wait(PATIENCE_SECONDS)
        transactions.add(connection.get_transaction())

    writes = [asyncio.ensure_future(store.write(work)) for _ in range(50)]
    await asyncio.sleep(0)  # each has been put into the queue
    queued.set()
    await asyncio.gather(*writes)
    await store.close()

    # Also with the first, which was at work already.
    assert len(transactions) == 1


@pytest.mark.parametrize(
    ("writes_first", "runs"),
    [
        pytest.param(False, 1, id="nothing was written"),
        pytest.param(True, 2, id="something was written and is undone"),
    ],
)
async def test_who_shares_a_commit_with_work_that_fails_is_done_again_only_to_undo_it(
    sqlite_url: str, writes_first: bool, runs: int
) -> None:
    store = await Store.open(sqlite_url)
    queued = threading.Event()
    began: list[bool] = []

    def neighbour(connection: sa.Connection) -> int:
        assert queued.wait(PATIENCE_SECONDS)
        projects.insert_project(connection, a_project("neighbour"))
        began.append(True)
        return len(began)

    def failing(connection: sa.Connection) -> None:
        if writes_first:
            projects.insert_project(connection, a_project("half"))
        raise LookupError("refused")

    writes = [asyncio.ensure_future(store.write(work)) for work in (neighbour, failing)]
    await asyncio.sleep(0)  # each has been put into the queue
    queued.set()
    result, refusal = await asyncio.gather(*writes, return_exceptions=True)

    assert (result, str(refusal), len(began)) == (runs, "refused", runs)
    assert await stored_ids(store) == {"neighbour"}
    await store.close()


async def test_everybody_is_told_when_the_database_undoes_a_whole_group(sqlite_url: str) -> None:
    store = await Store.open(sqlite_url)
    queued = threading.Event()

    def undo(connection: sa.Connection) -> None:
        # What SQLite does by itself when a disk fails in the middle.
        connection.exec_driver_sql("ROLLBACK")
        raise StoreUnavailable("the disk failed")

    first = asyncio.ensure_future(store.write(lambda connection: queued.wait(PATIENCE_SECONDS)))
    group = [asyncio.ensure_future(store.write(work)) for work in (inserting("a"), undo, inserting("b"))]
    await asyncio.sleep(0)  # each has been put into the queue
    queued.set()
    _, *outcomes = await asyncio.gather(first, *group, return_exceptions=True)
    await store.write(inserting("afterwards"))

    assert [str(outcome) for outcome in outcomes] == ["the disk failed"] * 3
    assert await stored_ids(store) == {"afterwards"}
    await store.close()


async def test_a_caller_who_leaves_does_not_disturb_the_others(store: Store) -> None:
    first, second = (asyncio.ensure_future(store.write(inserting(id))) for id in ("first", "second"))
    await asyncio.sleep(0)

    first.cancel()
    await second

    assert "second" in await stored_ids(store)


async def test_a_caller_whose_event_loop_has_ended_does_not_disturb_the_others(sqlite_url: str) -> None:
    store = await Store.open(sqlite_url)
    queued = threading.Event()

    def call_and_leave() -> asyncio.Task[None]:
        loop = asyncio.new_event_loop()
        task = loop.create_task(store.write(inserting("left")))
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
        return task

    first = asyncio.ensure_future(store.write(lambda connection: queued.wait(PATIENCE_SECONDS)))
    await asyncio.sleep(0)  # it has been put into the queue
    left = await asyncio.to_thread(call_and_leave)
    queued.set()
    await asyncio.gather(first, store.write(inserting("stayed")))

    assert not left.done()
    assert await stored_ids(store) == {"left", "stayed"}
    await store.close()


async def test_a_reader_cannot_write(store: Store) -> None:
    with pytest.raises(sa.exc.DBAPIError, match=r"read-?only"):
        await store.read(inserting("x"))

    assert await stored_ids(store) == set()


async def test_a_reader_sees_one_moment(store: Store) -> None:
    looked, written = threading.Event(), threading.Event()

    def look_twice(connection: sa.Connection) -> list[tuple[Project, ...]]:
        before = projects.list_projects(connection)
        looked.set()
        assert written.wait(PATIENCE_SECONDS)
        return [before, projects.list_projects(connection)]

    reading = asyncio.ensure_future(store.read(look_twice))
    assert await asyncio.to_thread(looked.wait, PATIENCE_SECONDS)
    await store.write(inserting("x"))
    written.set()

    assert await reading == [(), ()]


async def test_what_was_acknowledged_survives_the_kill_of_the_writer(url: str) -> None:
    command = (sys.executable, "-c", WRITER, url)
    writer = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert writer.stdout is not None
    acknowledged = [await writer.stdout.readline() for _ in range(200)]
    writer.kill()
    acknowledged += [line async for line in writer.stdout if line.endswith(b"\n")]
    await writer.wait()

    store = await Store.open(url)
    found = await stored_ids(store)
    await store.write(inserting("afterwards"))
    await store.close()

    assert {line.decode().strip() for line in acknowledged} - found == set()


async def test_closing_finishes_the_writes_that_wait(url: str) -> None:
    store = await Store.open(url)
    writes = [asyncio.ensure_future(store.write(inserting(str(number)))) for number in range(50)]
    await asyncio.sleep(0)

    await store.close()
    await asyncio.gather(*writes)

    reopened = await Store.open(url)
    assert await stored_ids(reopened) == {str(number) for number in range(50)}
    await reopened.close()


async def test_a_closed_store_says_so(url: str) -> None:
    store = await Store.open(url)
    await store.close()
    await store.close()

    for call in (store.write(inserting("x")), store.read(projects.list_projects)):
        with pytest.raises(StoreUnavailable, match="has been closed"):
            await call


async def test_text_that_postgresql_cannot_look_for_is_the_callers_fault(postgres_url: str) -> None:
    store = await Store.open(postgres_url)

    with pytest.raises(UnusableInput, match="without NUL"):
        await store.read(lambda connection: projects.load_project(connection, "a\x00b"))

    await store.close()


async def test_a_new_database_is_on_disk_with_every_folder_that_leads_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    folder = tmp_path / "new"
    folder.mkdir()
    # Only the kernel knows what is on disk; what it was asked for is all that can be seen.
    monkeypatch.setattr(os, "fsync", lambda opened: synced.append(os.readlink(f"/proc/self/fd/{opened}")))

    store = await Store.open(f"sqlite:///{folder}/fairway.db")
    kept = await store.write(
        lambda c: [c.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("journal_mode", "synchronous")]
    )
    await store.close()
    first = len(synced)
    await (await Store.open(f"sqlite:///{folder}/fairway.db")).close()

    # FULL: a commit waits for the disk.
    assert kept == ["wal", 2]
    assert synced[:2] == [str(folder), str(tmp_path)]
    assert len(synced) == first
