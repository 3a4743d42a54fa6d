"""A script whose time ran out while no agent was there: only how it ended is asked for, and nothing begins."""

from pathlib import Path

import pytest

from fairway.model.stage import StageStatus
from fairway.plugins.scriptrun import journal
from fairway.plugins.scriptrun.plugin import ScriptRun
from fairway.sdk.testing import plugin_under_test


async def test_a_script_that_was_not_started_in_time_is_not_started_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "_SIGN_OF_LIFE_SECONDS", 0.0)
    async with plugin_under_test(ScriptRun, tmp_path) as plugin:
        script = {"run": f"touch {tmp_path}/ran"}
        ended = await plugin.run("SCRIPT_RUN", script, id="one", overdue=True)
        again = await plugin.run("SCRIPT_RUN", script, id="one")

    why = "its time was over before the script was started"
    assert (ended.status, ended.message, ended.log) == (StageStatus.FAILED, why, (why,))
    assert again.status is StageStatus.FAILED
    assert not (tmp_path / "ran").exists()


async def test_one_that_has_ended_is_told_as_it_ended(tmp_path: Path) -> None:
    async with plugin_under_test(ScriptRun, tmp_path) as plugin:
        script = {"run": f"echo ran >> {tmp_path}/runs"}
        ended = await plugin.run("SCRIPT_RUN", script, id="one")
        again = await plugin.run("SCRIPT_RUN", script, id="one", overdue=True)

    assert (again.status, again.message) == (StageStatus.SUCCEEDED, ended.message)
    assert (tmp_path / "runs").read_text() == "ran\n"


async def test_one_that_has_failed_in_time_is_not_run_again_after_it(tmp_path: Path) -> None:
    async with plugin_under_test(ScriptRun, tmp_path) as plugin:
        failing = {"run": f"echo ran >> {tmp_path}/runs; false"}
        failed = await plugin.run("SCRIPT_RUN", failing, id="one")
        again = await plugin.run("SCRIPT_RUN", {**failing, "retry": 3}, id="one", overdue=True)

    assert (again.status, again.message) == (StageStatus.FAILED, failed.message)
    assert (tmp_path / "runs").read_text() == "ran\n"
