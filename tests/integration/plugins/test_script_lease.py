"""Scripts and the lease of their agent: no script runs, and no end is reported, after the end of the lease."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from fairway.agent.left_alone import LeftAlone
from fairway.agent.standing import Ends
from fairway.model.stage import StageStatus
from fairway.plugins.scriptrun.plugin import ScriptRun
from fairway.sdk.plugin import PluginSettings
from fairway.sdk.testing import plugin_under_test
from tests.integration.agent.running import until

LATER, OVER = Ends(3600.0, 3600.0), Ends(-1.0, -1.0)
TWICE = "echo $FAIRWAY_FENCING_TOKEN >> seen; test $(wc -l < seen) = 2 || sleep 600"


class Leased(ScriptRun):
    """The plugin as an agent with a lease starts it."""

    def __init__(self, settings: PluginSettings) -> None:
        lease = LeftAlone(settings.state.parent).path
        super().__init__(msgspec.structs.replace(settings, left_alone=lease))


def seen(folder: Path) -> list[str]:
    """The fencing token of each run of the script."""
    file = folder / "application" / "seen"
    return file.read_text().split() if file.exists() else []


@pytest.mark.parametrize(
    ("on_interrupted", "status", "tokens"),
    [
        pytest.param("fail", StageStatus.FAILED, ["4"], id="fail"),
        pytest.param("run-again", StageStatus.SUCCEEDED, ["4", "6"], id="run again"),
    ],
)
async def test_a_script_that_the_guard_has_ended_is_interrupted_once_the_agent_has_a_lease_again(
    tmp_path: Path, on_interrupted: str, status: StageStatus, tokens: list[str]
) -> None:
    lease = LeftAlone(tmp_path)
    lease.until(LATER, 4)

    async def began() -> bool:
        return seen(tmp_path) == ["4"]

    async def ended() -> bool:
        return not _keepers(tmp_path)

    async with plugin_under_test(Leased, tmp_path) as plugin:
        running = asyncio.create_task(plugin.run("SCRIPT_RUN", {"run": TWICE, "onInterrupted": on_interrupted}))
        await until(began)
        lease.until(OVER, 4)
        await until(ended)
        done, _ = await asyncio.wait({running}, timeout=0.5)
        assert (done, seen(tmp_path)) == (set(), ["4"])
        lease.until(LATER, 6)
        again = await running

    assert (again.status, seen(tmp_path)) == (status, tokens)


def _keepers(folder: Path) -> list[str]:
    journals = bytes(folder / "state")
    found = [each for each in Path("/proc").iterdir() if each.name.isdigit()]
    return [each.name for each in found if journals in _arguments(each)]


def _arguments(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


async def test_an_env_entry_of_the_application_does_not_replace_the_fencing_token(tmp_path: Path) -> None:
    LeftAlone(tmp_path).until(LATER, 9)
    options = {"run": "echo $FAIRWAY_FENCING_TOKEN >> seen", "env": {"FAIRWAY_FENCING_TOKEN": "1000"}}
    async with plugin_under_test(Leased, tmp_path) as plugin:
        await plugin.run("SCRIPT_RUN", options)

    assert seen(tmp_path) == ["9"]


async def test_without_a_lease_there_is_no_fencing_token(tmp_path: Path) -> None:
    async with plugin_under_test(Leased, tmp_path) as plugin:
        await plugin.run("SCRIPT_RUN", {"run": "echo ${FAIRWAY_FENCING_TOKEN-none} >> seen"})

    assert seen(tmp_path) == ["none"]
