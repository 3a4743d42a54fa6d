"""Scripts that outlive whoever started them, with real shells."""

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fairway.plugins.scriptrun.disk import JournalError
from fairway.plugins.scriptrun.journal import Journal, Order, was_started
from fairway.plugins.scriptrun.script import KEEPER
from tests.patience import PATIENCE_SECONDS


def a_directory(tmp_path: Path) -> Path:
    """Where the journal of a script is."""
    return tmp_path / "state" / "deployment" / "stage-0-0"


def an_order(tmp_path: Path, text: str) -> Order:
    return Order(text=text, shell="/bin/sh", directory=tmp_path)


async def test_of_two_who_start_a_script_one_does(tmp_path: Path) -> None:
    order = an_order(tmp_path, f"echo once >> {tmp_path}/ran; exit 7")
    journals = [Journal(a_directory(tmp_path)) for _ in range(5)]

    await asyncio.gather(*(journal.start(order) for journal in journals))
    await asyncio.gather(*(journal.ended() for journal in journals))

    assert (tmp_path / "ran").read_text() == "once\n"
    assert [journal.status for journal in journals] == [7] * 5


async def test_a_script_that_was_ended_before_it_began_never_begins(tmp_path: Path) -> None:
    journal = Journal(a_directory(tmp_path))

    await journal.end(1.0)
    await journal.start(an_order(tmp_path, f"touch {tmp_path}/ran"))

    assert (journal.status, journal.came_to_life, (tmp_path / "ran").exists()) == (None, False, False)


async def test_a_script_that_never_begins_is_not_waited_for(tmp_path: Path) -> None:
    journal = Journal(a_directory(tmp_path))
    await journal.end(1.0)

    ended = asyncio.create_task(journal.ended())
    await asyncio.sleep(0)

    assert ended.done()


async def test_a_script_that_another_place_has_begun_is_not_begun_here_and_is_nobodys_to_end(tmp_path: Path) -> None:
    journal = Journal(a_directory(tmp_path))

    journal.give_up()
    await journal.start(an_order(tmp_path, f"touch {tmp_path}/ran"))
    await journal.ended()
    await journal.end(1.0)
    await journal.end_rest(0.0)

    assert (journal.status, journal.process(), (tmp_path / "ran").exists()) == (None, None, False)


async def test_a_script_without_its_journal_is_not_started_again(tmp_path: Path) -> None:
    order = an_order(tmp_path, f"echo ran >> {tmp_path}/ran")
    first = Journal(a_directory(tmp_path))
    await first.start(order)
    await first.ended()
    shutil.rmtree(a_directory(tmp_path))

    await Journal(a_directory(tmp_path)).start(order)

    assert (tmp_path / "ran").read_text() == "ran\n"
    assert was_started(tmp_path / "state", "deployment", "stage")


async def test_a_script_that_is_forbidden_before_it_begins_was_not_started(tmp_path: Path) -> None:
    journal = Journal(a_directory(tmp_path))

    assert journal.forbid()

    assert not was_started(tmp_path / "state", "deployment", "stage")


async def test_a_script_that_cannot_be_started_was_not_started(tmp_path: Path) -> None:
    journal = Journal(a_directory(tmp_path))

    with pytest.raises(JournalError, match="cannot be started"):
        await journal.start(an_order(tmp_path / "missing", "true"))

    assert not was_started(tmp_path / "state", "deployment", "stage")


@pytest.mark.parametrize("text", ["", "\0\0\0", "14", "x\n", "1234\n", "²\n"])
def test_a_damaged_status_is_none(tmp_path: Path, text: str) -> None:
    a_directory(tmp_path).mkdir(parents=True)
    (a_directory(tmp_path) / "status").write_text(text)

    assert Journal(a_directory(tmp_path)).status is None


async def test_a_script_that_runs_here_is_not_given_up(tmp_path: Path) -> None:
    journal = Journal(a_directory(tmp_path))
    await journal.start(an_order(tmp_path, "exit 7"))
    await journal.ended()

    journal.give_up()

    assert (journal.status, journal.came_to_life) == (7, True)


async def test_a_script_that_is_slow_to_come_to_life_is_ended_before_it_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As on a machine that is out of breath, until somebody lets it go on.
    monkeypatch.setattr(
        "fairway.plugins.scriptrun.journal.KEEPER", KEEPER.replace("set +C\n", "set +C\nkill -STOP $$\n")
    )
    monkeypatch.setattr("fairway.plugins.scriptrun.journal._SIGN_OF_LIFE_SECONDS", 0.1)
    journal = Journal(a_directory(tmp_path))
    await journal.start(an_order(tmp_path, f"touch {tmp_path}/ran"))
    await asyncio.to_thread(wait_until, (a_directory(tmp_path) / "started").exists)

    await journal.end(0.1)

    assert (journal.status, journal.came_to_life, (tmp_path / "ran").exists()) == (None, False, False)


async def test_a_script_that_is_asked_to_end_right_before_it_begins_has_ended_by_that_and_never_ran(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(group: int, number: int) -> None:
        signals.append(number)
        kill(group, number)
        kill(group, signal.SIGCONT)

    signals: list[int] = []
    kill = os.killpg
    monkeypatch.setattr(os, "killpg", ask)
    # Who runs it is known, and it has not begun: here the polite signal meets the keeper alone, which outlives it.
    monkeypatch.setattr("fairway.plugins.scriptrun.journal.KEEPER", KEEPER.replace("\n( ", "\nkill -STOP $$\n( "))
    journal = Journal(a_directory(tmp_path))
    await journal.start(an_order(tmp_path, f"touch {tmp_path}/ran; exec sleep 1000"))
    await asyncio.to_thread(wait_until, lambda: state(str(journal.process())) == "T")

    await journal.end(PATIENCE_SECONDS)

    assert (signals, journal.status, (tmp_path / "ran").exists()) == ([signal.SIGTERM], 143, False)


async def test_a_cancel_in_the_very_moment_in_which_a_script_is_started_leaves_it_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Cancelled(subprocess.Popen[bytes]):
        """Started, and running, when whoever has started it is cancelled."""

        def __init__(self, *arguments: Any, **more: Any) -> None:
            super().__init__(*arguments, **more)
            if KEEPER in arguments[0]:
                wait_for(tmp_path / "runs")
                starting.cancel()

    text = f"echo yes > {tmp_path}/runs; while [ ! -e {tmp_path}/go ]; do sleep 0.02; done; exit 7"
    with monkeypatch.context() as patched:
        patched.setattr(subprocess, "Popen", Cancelled)
        starting = asyncio.create_task(Journal(a_directory(tmp_path)).start(an_order(tmp_path, text)))
        with contextlib.suppress(asyncio.CancelledError):
            await starting
    (tmp_path / "go").touch()
    # Whoever is asked for the stage again.
    journal = Journal(a_directory(tmp_path))
    await journal.ended()

    assert journal.status == 7


async def test_a_script_that_is_being_written_when_its_start_is_cancelled_is_not_left_where_it_was_removed(
    tmp_path: Path,
) -> None:
    class Slow(Journal):
        def _make_room(self) -> None:
            writes.set()
            go.wait(PATIENCE_SECONDS)
            super()._make_room()

    writes, go = threading.Event(), threading.Event()
    journal = Slow(a_directory(tmp_path))
    starting = asyncio.create_task(journal.start(an_order(tmp_path, "export TOKEN=hush-hush")))
    await asyncio.to_thread(writes.wait, PATIENCE_SECONDS)
    starting.cancel()
    for _ in range(100):
        await asyncio.sleep(0)
    left_it_alone = starting.done()
    go.set()
    await asyncio.gather(starting, return_exceptions=True)

    await journal.end(1.0)

    assert (left_it_alone, (a_directory(tmp_path) / "script").exists(), journal.came_to_life) == (False, False, False)


#: Starts a script with a guard, and ends. By itself Python waits for children like this from 3.12 on.
PROGRAM = """\
import asyncio, sys
from pathlib import Path
from fairway.plugins.scriptrun.guard import Guard
from fairway.plugins.scriptrun.disk import JournalError
from fairway.plugins.scriptrun.journal import Journal, Order, was_started

async def main(folder):
    guard = Guard(folder / "state", folder / "times")
    text = f"echo $PPID > {folder}/runs; while [ ! -e {folder}/go ]; do sleep 0.02; done; exit 7"
    order = Order(text=text, shell="/bin/sh", directory=folder)
    await Journal(folder / "state" / "deployment" / "stage-0-0").start(order, guard.stand)
    while not (folder / "runs").exists():
        await asyncio.sleep(0.01)
    await guard.close()

if sys.version_info < (3, 12):
    asyncio.set_child_watcher(asyncio.PidfdChildWatcher())
asyncio.run(main(Path(sys.argv[1])))
"""


async def ended_program(folder: Path) -> Journal:
    """The journal of a script whose program has ended."""
    program = await asyncio.create_subprocess_exec(sys.executable, "-W", "ignore", "-c", PROGRAM, str(folder))
    assert await program.wait() == 0
    return Journal(folder / "state" / "deployment" / "stage-0-0")


async def test_a_script_outlives_the_program_that_has_started_it(tmp_path: Path) -> None:
    journal = await ended_program(tmp_path)
    (tmp_path / "go").touch()
    await journal.ended()

    assert journal.status == 7


async def test_a_guard_outlives_the_program_that_has_started_it(tmp_path: Path) -> None:
    journal = await ended_program(tmp_path)
    (tmp_path / "times").write_text("0 0\n")
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await journal.ended()
    finally:
        await journal.end(0.0)

    assert (journal.status, journal.came_to_life) == (None, True)


async def test_the_end_of_a_script_takes_all_of_its_group_along(tmp_path: Path) -> None:
    journal = Journal(a_directory(tmp_path))
    await journal.start(an_order(tmp_path, f"trap '' TERM; sleep 1000 & echo $! > {tmp_path}/child; wait; sleep 1000"))
    await asyncio.to_thread(wait_for, tmp_path / "child")

    await journal.end(0.2)

    assert is_dead((tmp_path / "child").read_text().strip())
    assert journal.process() is None


async def test_a_script_that_outlives_sigterm_ends_by_sigkill_and_its_keeper_says_so(tmp_path: Path) -> None:
    journal = Journal(a_directory(tmp_path))
    await journal.start(an_order(tmp_path, f"trap '' TERM; echo $$ > {tmp_path}/pid; exec sleep 1000"))
    await asyncio.to_thread(wait_for, tmp_path / "pid")

    ended = await journal.end(0.0)

    assert is_dead((tmp_path / "pid").read_text().strip())
    assert (journal.status, ended.killed) == (137, ("sleep",))


#: Ways to leave a process behind: `$1` is where that says its number.
LEAVING = {
    "in the background": "sleep 1000 & echo $! > {0}/child",
    "nohup": "nohup sleep 1000 > /dev/null 2>&1 & echo $! > {0}/child",
    "a session of its own": "setsid sh -c 'echo $$ > {0}/child; exec sleep 1000' > /dev/null 2>&1 &",
    "a daemon": "(setsid sh -c 'sleep 1000 & echo $! > {0}/child' > /dev/null 2>&1 &)",
    "deaf": "setsid sh -c 'trap \"\" TERM; echo $$ > {0}/child; while :; do sleep 0.05; done' &",
    "a child without environment": "setsid sh -c 'env -i sleep 1000 & echo $! > {0}/child; wait' &",
}


@pytest.mark.parametrize("leaving", [pytest.param(text, id=name) for name, text in LEAVING.items()])
@pytest.mark.parametrize("end", ["ended", "by itself", "keeper killed"])
async def test_no_process_of_a_script_is_left(tmp_path: Path, leaving: str, end: str) -> None:
    waits = f"while [ ! -s {tmp_path}/child ]; do sleep 0.02; done"
    stays = "" if end == "by itself" else "; sleep 1000"
    journal = Journal(a_directory(tmp_path))
    await journal.start(an_order(tmp_path, f"{leaving.format(tmp_path)}\n{waits}{stays}"))
    await asyncio.to_thread(wait_for, tmp_path / "child")

    if end == "ended":
        await journal.end(0.05)
    else:
        if end == "keeper killed":
            os.kill(journal.process() or 0, signal.SIGKILL)
        await journal.ended()
        await journal.end_rest(0.05)

    assert is_dead((tmp_path / "child").read_text().strip())


async def test_what_another_script_started_is_left_alone(tmp_path: Path) -> None:
    first, tenth = (Journal(a_directory(tmp_path).with_name(f"stage-0-{number}")) for number in (1, 10))
    await tenth.start(an_order(tmp_path, f"echo $$ > {tmp_path}/other; sleep 1000"))
    await asyncio.to_thread(wait_for, tmp_path / "other")
    await first.start(an_order(tmp_path, "true"))
    await first.ended()

    ended = await first.end_rest(0.0)

    assert (ended.names, tenth.process() is None) == ((), False)
    await tenth.end(0.0)


async def test_neither_script_nor_variables_stand_on_a_command_line(tmp_path: Path) -> None:
    journal = Journal(a_directory(tmp_path))
    await journal.start(an_order(tmp_path, f"export TOKEN=hush-hush; echo $$ > {tmp_path}/pid; exec sleep 1000"))
    await asyncio.to_thread(wait_for, tmp_path / "pid")

    shown = command_line(str(journal.process())) + command_line((tmp_path / "pid").read_text().strip())
    mode = (a_directory(tmp_path) / "script").stat().st_mode & 0o777
    await journal.end(1.0)

    assert b"fairway-script" in shown
    assert b"hush-hush" not in shown
    assert mode == 0o600


def command_line(pid: str) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def is_dead(pid: str) -> bool:
    """Whether the process is gone, or is only waiting to be buried."""
    return state(pid) in {"", "Z"}


def state(pid: str) -> str:
    """The letter for what the process does; none when it is gone."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    return ""


def wait_until(holds: Callable[[], bool]) -> None:
    """Until something is so."""
    while not holds():
        os.sched_yield()


def wait_for(file: Path) -> None:
    """Until a script has written the file."""
    while not file.exists() or not file.read_text():
        os.sched_yield()
