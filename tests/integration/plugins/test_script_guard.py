"""Scripts of an agent that is gone, with real shells: they end before another agent may run them again."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from fairway.agent.left_alone import LeftAlone
from fairway.agent.standing import Ends
from fairway.plugins.scriptrun.guard import Guard
from fairway.plugins.scriptrun.journal import Journal, Order
from tests.integration.agent.running import until

#: Says that it runs, and when it is asked to end.
POLITE = "trap 'touch {0}/asked; exit 0' TERM; touch {0}/runs; while :; do sleep 0.02; done"
#: Does not hear.
DEAF = "trap '' TERM; touch {0}/runs; while :; do sleep 0.02; done"
LATER, NOW = Ends(3600.0, 3600.0), Ends(-1.0, 3600.0)


class Scripts:
    """One script with a guard, and the agent's file."""

    def __init__(self, folder: Path, text: str) -> None:
        self._folder = folder
        self._text = text
        self.times = LeftAlone(folder)
        self.guard = Guard(folder / "state", self.times.path)
        self.journal = Journal(folder / "state" / "deployment" / "stage-0-0")

    async def begin(self) -> None:
        """Run it."""
        text = self._text.format(self._folder)
        await self.journal.start(Order(text=text, shell="/bin/sh", directory=self._folder))

    async def seen(self, name: str) -> bool:
        return (self._folder / name).exists()

    async def guard_is_gone(self) -> bool:
        process = self.guard._process
        assert process is not None
        return process.has_ended


@asynccontextmanager
async def a_script(folder: Path, text: str, runs: bool = True) -> AsyncIterator[Scripts]:
    """A script that runs, under guard, or will; nothing is left of it at the end."""
    scripts = Scripts(folder, text)
    scripts.times.until(LATER)
    try:
        await scripts.guard.stand()
        if runs:
            await scripts.begin()
            await until(lambda: scripts.seen("runs"))
        yield scripts
    finally:
        await scripts.journal.end(0.0)
        await scripts.guard.close()
        await until(scripts.guard_is_gone)


@pytest.mark.parametrize(
    ("text", "ends", "asked"),
    [
        pytest.param(POLITE, NOW, True, id="asked"),
        pytest.param(DEAF, Ends(-1.0, -1.0), False, id="made to"),
    ],
)
async def test_when_the_time_is_over_a_script_ends_and_nobody_takes_that_for_its_own_end(
    tmp_path: Path, text: str, ends: Ends, asked: bool
) -> None:
    async with a_script(tmp_path, text) as scripts:
        scripts.times.until(ends)
        await scripts.guard.close()
        await until(scripts.guard_is_gone)

        assert (scripts.journal.status, scripts.journal.came_to_life) == (None, True)
        assert await scripts.seen("asked") is asked


async def test_while_there_is_time_a_script_of_one_who_is_gone_runs_to_its_own_end(tmp_path: Path) -> None:
    async with a_script(tmp_path, "touch {0}/runs; while [ ! -e {0}/go ]; do sleep 0.02; done; exit 7") as scripts:
        await scripts.guard.close()
        # Somebody came back, and has moved the times on.
        scripts.times.until(LATER)
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
        scripts.times.until(NOW)
        # As its files are when the keeper has not run yet.
        scripts.journal.directory.mkdir(parents=True)
        for name in ("process", "status", "script"):
            (scripts.journal.directory / name).write_text("\n")
        await scripts.guard.close()
        await scripts.begin()
        await until(scripts.guard_is_gone)

        # It may have been asked before it could hear.
        assert (scripts.journal.status, scripts.journal.came_to_life) == (None, True)
        assert scripts.journal.process() is None


async def test_nobody_else_is_ended_who_has_got_the_number_of_a_keeper(tmp_path: Path) -> None:
    stranger = await asyncio.create_subprocess_exec("sleep", "1000", start_new_session=True)
    async with a_script(tmp_path, POLITE) as scripts:
        other = tmp_path / "state" / "deployment" / "other-0-0"
        other.mkdir()
        (other / "process").write_text(f"{stranger.pid}\n")
        scripts.times.until(Ends(-1.0, -1.0))
        await scripts.guard.close()
        await until(scripts.guard_is_gone)

        assert stranger.returncode is None
    stranger.kill()
    await stranger.wait()


async def test_a_guard_that_was_killed_is_replaced_with_the_next_script(tmp_path: Path) -> None:
    async with a_script(tmp_path, POLITE) as scripts:
        first = scripts.guard._process
        assert first is not None
        os.kill(first.pid, signal.SIGKILL)
        await first.wait()
        await scripts.guard.stand()
        scripts.times.until(NOW)
        await scripts.guard.close()
        await until(scripts.guard_is_gone)

        assert await scripts.seen("asked")
