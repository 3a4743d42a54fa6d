"""Scripts of an agent that is gone or hangs, with real shells: they end before another agent may run them again."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from fairway.agent.left_alone import LeftAlone
from fairway.agent.standing import Ends
from fairway.plugins.scriptrun.child import Child
from fairway.plugins.scriptrun.guard import Guard
from fairway.plugins.scriptrun.journal import Journal, Order
from tests.integration.agent.running import until
from tests.integration.agent.test_journal import is_dead

#: Says that it runs, and when it is asked to end.
POLITE = "trap 'touch {0}/asked; exit 0' TERM; touch {0}/runs; while :; do sleep 0.02; done"
#: Does not hear.
DEAF = "trap '' TERM; touch {0}/runs; while :; do sleep 0.02; done"
TOKEN = 7
LEASE = "the agent's lease ran out, and the guard ended the script"
LATER, NOW = Ends(3600.0, 3600.0), Ends(-1.0, 3600.0)


class Scripts:
    """One script with a guard, and the agent's file."""

    def __init__(self, folder: Path, text: str) -> None:
        self._folder = folder
        self._text = text
        self.times = LeftAlone(folder)
        self.guard = Guard(folder / "state", self.times.path)
        self.journal = Journal(folder / "state" / "deployment" / "stage-0-0")

    async def begin(self, background: str = "end") -> None:
        """Run it."""
        order = Order(
            text=self._text.format(self._folder),
            shell="/bin/sh",
            directory=self._folder,
            lease=self.times.path,
            background=background,
        )
        await self.journal.start(order, self.guard.stand)

    def until(self, ends: Ends) -> None:
        """Write the agent's file."""
        self.times.until(ends, TOKEN)

    async def seen(self, name: str) -> bool:
        return (self._folder / name).exists()

    async def guard_is_gone(self) -> bool:
        process = self.guard._process
        return process is None or process.has_ended


@asynccontextmanager
async def a_script(folder: Path, text: str, runs: bool = True) -> AsyncIterator[Scripts]:
    """A script that runs, under guard, or will; nothing is left of it at the end."""
    scripts = Scripts(folder, text)
    scripts.until(LATER)
    try:
        if runs:
            await scripts.begin()
            await until(lambda: scripts.seen("runs"))
        yield scripts
    finally:
        await scripts.journal.end(0.0)
        await until(scripts.guard_is_gone)
        await scripts.guard.close()
        await until(scripts.guard_is_gone)


@pytest.mark.parametrize(
    ("text", "ends", "asked"),
    [
        pytest.param(POLITE, NOW, True, id="SIGTERM"),
        pytest.param(DEAF, Ends(-1.0, -1.0), False, id="SIGKILL"),
    ],
)
@pytest.mark.parametrize("host_lives", [True, False], ids=["plugin host lives", "plugin host is gone"])
async def test_when_the_lease_is_over_the_guard_ends_the_script_and_the_journal_has_no_exit_status(
    tmp_path: Path, text: str, ends: Ends, asked: bool, host_lives: bool
) -> None:
    async with a_script(tmp_path, text) as scripts:
        scripts.until(ends)
        if not host_lives:
            await scripts.guard.close()
        await until(scripts.guard_is_gone)

        assert (scripts.journal.status, scripts.journal.interruption) == (None, LEASE)
        assert await scripts.seen("asked") is asked


async def test_a_stopped_keeper_and_a_stopped_script_do_not_outlive_the_lease(tmp_path: Path) -> None:
    async with a_script(tmp_path, POLITE) as scripts:
        keeper = scripts.journal.process()
        assert keeper is not None
        os.killpg(keeper, signal.SIGSTOP)
        scripts.until(Ends(-1.0, -1.0))
        await until(scripts.guard_is_gone)

        assert (scripts.journal.status, scripts.journal.process()) == (None, None)
        with pytest.raises(ProcessLookupError):
            os.killpg(keeper, 0)


async def test_processes_that_left_the_group_of_the_script_end_with_it(tmp_path: Path) -> None:
    leaves = "setsid sh -c 'echo $$ > {0}/pid; exec sleep 1000' & while [ ! -s {0}/pid ]; do sleep 0.02; done; "
    async with a_script(tmp_path, leaves + DEAF) as scripts:
        child = int((tmp_path / "pid").read_text())
        scripts.until(Ends(-1.0, -1.0))
        await until(scripts.guard_is_gone)

        assert is_dead(str(child))


#: Leaves a process running that ignores SIGTERM.
LEAVES = (
    "(trap '' TERM; exec sh -c 'echo $$ > {0}/pid; exec sleep 1000') & "
    "while [ ! -s {0}/pid ]; do sleep 0.02; done; touch {0}/runs"
)
#: The same, in a session of its own.
LEAVES_SESSION = LEAVES.replace("exec sh", "exec setsid sh")


@pytest.mark.parametrize("text", [LEAVES, LEAVES_SESSION], ids=["same session", "own session"])
async def test_processes_of_a_script_that_has_ended_do_not_outlive_the_lease(tmp_path: Path, text: str) -> None:
    """As after a crash of the plugin host before it ended them."""
    async with a_script(tmp_path, text) as scripts:
        await scripts.journal.ended()
        await scripts.guard.close()
        child = (tmp_path / "pid").read_text().strip()
        assert not is_dead(child)
        scripts.until(Ends(-1.0, -1.0))
        await until(scripts.guard_is_gone)

        assert is_dead(child)
        assert (scripts.journal.status, scripts.journal.interruption) == (0, "")


async def test_processes_that_their_stage_keeps_outlive_the_lease(tmp_path: Path) -> None:
    async with a_script(tmp_path, LEAVES, runs=False) as scripts:
        await scripts.begin(background="keep")
        await scripts.journal.ended()
        scripts.until(Ends(-1.0, -1.0))
        await until(scripts.guard_is_gone)

        assert not is_dead((tmp_path / "pid").read_text().strip())


async def test_a_guard_exits_when_the_plugin_host_has_ended_what_a_script_left(tmp_path: Path) -> None:
    async with a_script(tmp_path, LEAVES) as scripts:
        await scripts.journal.ended()
        await scripts.journal.end_rest(0.0)

        assert not (scripts.journal.directory / "background").exists()
        await until(scripts.guard_is_gone)


@pytest.mark.parametrize("guards", [1, 2], ids=["same guard", "another guard"])
async def test_a_script_in_its_own_session_does_not_outlive_the_lease_when_its_keeper_was_killed(
    tmp_path: Path, guards: int
) -> None:
    own_session = "exec setsid sh -c 'trap \"\" TERM; echo $$ > {0}/pid; touch {0}/runs; exec sleep 1000'"
    async with a_script(tmp_path, own_session) as scripts:
        keeper = scripts.journal.process()
        assert keeper is not None
        first = scripts.guard._process
        assert first is not None
        if guards > 1:
            os.kill(first.pid, signal.SIGSTOP)
            await until(lambda: _is_stopped(first))
        os.kill(keeper, signal.SIGKILL)
        await scripts.journal.ended()
        if guards > 1:
            scripts.guard.stand()
            os.kill(first.pid, signal.SIGKILL)
        scripts.until(Ends(-1.0, -1.0))
        await until(scripts.guard_is_gone)

        assert is_dead((tmp_path / "pid").read_text().strip())
        assert (scripts.journal.status, scripts.journal.interruption) == (None, LEASE)


async def test_no_script_starts_after_the_end_of_the_lease(tmp_path: Path) -> None:
    async with a_script(tmp_path, "touch {0}/ran", runs=False) as scripts:
        scripts.until(NOW)
        await scripts.begin()
        await scripts.journal.ended()

        assert (scripts.journal.status, await scripts.seen("ran")) == (None, False)
        assert scripts.journal.interruption == LEASE


async def test_a_renewed_lease_does_not_save_a_script_that_was_asked_to_end(tmp_path: Path) -> None:
    """Its keeper is gone, so that no exit status would ever be written."""
    async with a_script(tmp_path, DEAF) as scripts:
        scripts.until(Ends(-1.0, 1.0))
        await until(lambda: _is_gone(scripts))
        scripts.until(LATER)
        await until(scripts.guard_is_gone)

        assert scripts.journal.status is None


async def _is_gone(scripts: Scripts) -> bool:
    return scripts.journal.process() is None


async def test_a_script_that_got_sigterm_from_the_agent_does_not_get_another_one_from_the_guard(tmp_path: Path) -> None:
    counts = "trap 'echo x >> {0}/asked' TERM; touch {0}/runs; while [ ! -e {0}/go ]; do sleep 0.02; done"
    async with a_script(tmp_path, counts) as scripts:
        ending = asyncio.create_task(scripts.journal.end(3600.0))
        await until(lambda: scripts.seen("asked"))
        scripts.until(NOW)
        await until(lambda: _is_gone(scripts))
        (tmp_path / "go").touch()
        await ending
        await until(scripts.guard_is_gone)

        assert ((tmp_path / "asked").read_text(), scripts.journal.status) == ("x\n", None)


async def test_a_plugin_that_ends_a_script_leaves_it_the_time_that_the_guard_gave_it(tmp_path: Path) -> None:
    slow = "trap 'touch {0}/asked' TERM; touch {0}/runs; while [ ! -e {0}/go ]; do sleep 0.02; done; touch {0}/whole"
    async with a_script(tmp_path, slow) as scripts:
        scripts.until(NOW)
        await until(lambda: scripts.seen("asked"))
        ending = asyncio.create_task(scripts.journal.end(3600.0))
        await asyncio.sleep(0)
        (tmp_path / "go").touch()
        await ending

        assert await scripts.seen("whole")


async def test_scripts_wait_while_the_lease_is_over(tmp_path: Path) -> None:
    async with a_script(tmp_path, POLITE, runs=False) as scripts:
        scripts.until(NOW)
        waiting = asyncio.create_task(scripts.guard.in_time())
        await asyncio.sleep(0)
        assert not waiting.done()
        scripts.until(LATER)
        await waiting


async def test_the_fencing_token_is_that_of_the_lease_file(tmp_path: Path) -> None:
    async with a_script(tmp_path, POLITE, runs=False) as scripts:
        assert scripts.guard.fencing_token == TOKEN
        scripts.times.for_ever()
        assert scripts.guard.fencing_token is None


async def test_a_guard_exits_without_scripts_and_the_next_script_gets_another(tmp_path: Path) -> None:
    async with a_script(tmp_path, "touch {0}/runs", runs=True) as scripts:
        await scripts.journal.ended()
        await until(scripts.guard_is_gone)
        first = scripts.guard._process
        scripts.journal = Journal(tmp_path / "state" / "deployment" / "stage-0-1")
        await scripts.begin()

        assert first is not scripts.guard._process


async def test_while_there_is_time_a_script_of_one_who_is_gone_runs_to_its_own_end(tmp_path: Path) -> None:
    async with a_script(tmp_path, "touch {0}/runs; while [ ! -e {0}/go ]; do sleep 0.02; done; exit 7") as scripts:
        await scripts.guard.close()
        # Somebody came back, and has moved the times on.
        scripts.until(LATER)
        (tmp_path / "go").touch()
        await scripts.journal.ended()
        await until(scripts.guard_is_gone)

        assert scripts.journal.status == 7


async def test_where_nobody_takes_over_a_script_is_left_alone_for_ever(tmp_path: Path) -> None:
    async with a_script(tmp_path, "touch {0}/runs; while [ ! -e {0}/go ]; do sleep 0.02; done") as scripts:
        scripts.times.for_ever()
        await scripts.guard.close()
        (tmp_path / "go").touch()
        await scripts.journal.ended()

        assert scripts.journal.status == 0


async def test_a_script_that_was_just_being_started_is_waited_for(tmp_path: Path) -> None:
    async with a_script(tmp_path, POLITE, runs=False) as scripts:
        # As its files are when the keeper has not run yet.
        scripts.journal.directory.mkdir(parents=True)
        for name in ("process", "status", "script"):
            (scripts.journal.directory / name).write_text("\n")
        scripts.guard.stand()
        await scripts.guard.close()
        await scripts.begin()
        await until(lambda: scripts.seen("runs"))
        scripts.until(NOW)
        await until(scripts.guard_is_gone)

        assert (scripts.journal.status, scripts.journal.came_to_life) == (None, True)
        assert scripts.journal.process() is None


async def test_nobody_else_is_ended_who_has_got_the_number_of_a_keeper(tmp_path: Path) -> None:
    stranger = await asyncio.create_subprocess_exec("sleep", "1000", start_new_session=True)
    async with a_script(tmp_path, POLITE) as scripts:
        other = tmp_path / "state" / "deployment" / "other-0-0"
        other.mkdir()
        (other / "process").write_text(f"{stranger.pid}\n")
        scripts.until(Ends(-1.0, -1.0))
        await scripts.guard.close()
        await until(scripts.guard_is_gone)

        assert stranger.returncode is None
    stranger.kill()
    await stranger.wait()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "stopped"])
async def test_a_guard_that_is_killed_or_stopped_is_replaced(tmp_path: Path, number: signal.Signals) -> None:
    async with a_script(tmp_path, POLITE) as scripts:
        first = scripts.guard._process
        assert first is not None
        os.kill(first.pid, number)
        if number is signal.SIGSTOP:
            # Seen when the next script starts.
            await until(lambda: _is_stopped(first))
            scripts.guard.stand()
        scripts.until(NOW)
        await until(lambda: scripts.seen("asked"))
        os.kill(first.pid, signal.SIGCONT) if number is signal.SIGSTOP else None


async def _is_stopped(child: Child) -> bool:
    return child.is_stopped
