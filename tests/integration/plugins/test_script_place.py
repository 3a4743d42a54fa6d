"""Where a script runs: said when it is planned, noted with the start of its stage, and what an undo makes of it."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from fairway.model.stage import StageStatus
from fairway.plugins.scriptrun.plugin import ScriptRun
from fairway.rpc.plugin_api import PLACE_KEY
from fairway.sdk.testing import plugin_under_test

OPTIONS = {"run": "echo done >> seen", "onRollback": "echo undone >> seen"}


@pytest.mark.parametrize(
    ("runs", "seen"),
    [
        pytest.param(False, None, id="ended before it could start"),
        pytest.param(True, "done\nundone\n", id="started"),
    ],
)
async def test_a_script_that_was_only_going_to_start_is_not_undone(
    tmp_path: Path, runs: bool, seen: str | None
) -> None:
    async with plugin_under_test(ScriptRun, tmp_path) as plugin:
        script, undo = await plugin.plan("SCRIPT_RUN", OPTIONS)
        plugin.stages = (replace(script, id="script"), replace(undo, id="undo"))
        plugin.agent.plugin_notes["scriptrun"] = {"started-0": script.metadata[PLACE_KEY]}
        if runs:
            await plugin.run("SCRIPT_RUN", OPTIONS, id="script")
        await plugin.run("SCRIPT_RUN_ROLLBACK", OPTIONS, id="undo")

    found = tmp_path / "application" / "seen"
    assert (found.read_text() if found.exists() else None) == seen


async def test_a_script_that_somebody_has_started_elsewhere_is_undone_here(tmp_path: Path) -> None:
    async with plugin_under_test(ScriptRun, tmp_path) as plugin:
        plugin.agent.plugin_notes["scriptrun"] = {"started-0": "another place"}
        await plugin.run("SCRIPT_RUN_ROLLBACK", OPTIONS)

    assert (tmp_path / "application" / "seen").read_text() == "undone\n"


@pytest.mark.parametrize(
    ("status", "seen"),
    [
        pytest.param(StageStatus.FAILED, "undone\n", id="it was started"),
        pytest.param(StageStatus.NOT_STARTED, None, id="it was not"),
    ],
)
async def test_what_an_older_agent_of_pipecd_has_planned_is_undone_where_it_was_started(
    tmp_path: Path, status: StageStatus, seen: str | None
) -> None:
    """It gives all that undoes something the number 0, names the stage instead, and writes no notes."""
    async with plugin_under_test(ScriptRun, tmp_path) as plugin:
        script, undo = await plugin.plan("SCRIPT_RUN", OPTIONS)
        base = {"baseStageID": "script"}
        plugin.stages = (
            replace(script, id="script", index=2, metadata={}, status=status),
            replace(undo, id="undo", metadata=base),
        )
        await plugin.run("SCRIPT_RUN_ROLLBACK", OPTIONS, id="undo")

    found = tmp_path / "application" / "seen"
    assert (found.read_text() if found.exists() else None) == seen
