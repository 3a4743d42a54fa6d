"""A script whose agent must make room for another one: ended, and found interrupted by whoever goes on."""

import asyncio
from pathlib import Path

import pytest

from fairway.model.stage import StageStatus
from fairway.plugins.scriptrun.plugin import ScriptRun
from fairway.sdk.testing import plugin_under_test
from tests.integration.agent.running import until

STUBBORN = "trap '' TERM; echo started >> seen; while :; do sleep 0.05; done"


async def started(folder: Path, times: int = 1) -> None:
    seen = folder / "application" / "seen"

    async def look() -> bool:
        return seen.exists() and len(seen.read_text().split()) == times

    await until(look)


def groups(folder: Path) -> list[int]:
    """Processes in whose arguments a directory below the folder stands."""
    found = [each for each in Path("/proc").iterdir() if each.name.isdigit()]
    return [int(each.name) for each in found if bytes(folder) in _arguments(each)]


def _arguments(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


async def test_nothing_of_a_script_is_left_when_it_was_handed_over_however_stubborn(tmp_path: Path) -> None:
    async with plugin_under_test(ScriptRun, tmp_path) as plugin:
        running = asyncio.create_task(plugin.run("SCRIPT_RUN", {"run": STUBBORN}, id="s"))
        await started(tmp_path)
        assert groups(tmp_path)

        assert await plugin.hand_over("s", 0.2)

        assert groups(tmp_path) == []
        await running


@pytest.mark.parametrize(
    ("on_interrupted", "status", "times"),
    [
        pytest.param("fail", StageStatus.FAILED, 1, id="which fails"),
        pytest.param("run-again", StageStatus.SUCCEEDED, 2, id="which is run again because it may"),
    ],
)
async def test_whoever_goes_on_finds_it_interrupted(
    tmp_path: Path, on_interrupted: str, status: StageStatus, times: int
) -> None:
    script = "echo started >> seen; test $(wc -l < seen) = 2 || sleep 600"
    options = {"run": script, "onInterrupted": on_interrupted}
    async with plugin_under_test(ScriptRun, tmp_path) as plugin:
        running = asyncio.create_task(plugin.run("SCRIPT_RUN", options, id="s"))
        await started(tmp_path)
        await plugin.hand_over("s", 0.2)
        await running

        again = await plugin.run("SCRIPT_RUN", options, id="s")

    assert again.status is status
    if status is StageStatus.FAILED:
        assert again.message.startswith(
            "interrupted: the agent handed over to another one; ended by signal 15 (SIGTERM)"
        )
    assert (tmp_path / "application" / "seen").read_text().split() == ["started"] * times


async def test_a_script_that_had_ended_is_not_interrupted(tmp_path: Path) -> None:
    async with plugin_under_test(ScriptRun, tmp_path) as plugin:
        first = await plugin.run("SCRIPT_RUN", {"run": "echo started >> seen"}, id="s")

        assert not await plugin.hand_over("s", 0.2)
        again = await plugin.run("SCRIPT_RUN", {"run": "echo started >> seen"}, id="s")

    assert (first.status, again.status) == (StageStatus.SUCCEEDED, StageStatus.SUCCEEDED)
    assert (tmp_path / "application" / "seen").read_text() == "started\n"
