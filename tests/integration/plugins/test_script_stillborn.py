"""A script whose shell is killed before it has done anything: a verdict in words, and not a defect."""

from pathlib import Path

import pytest

from fairway.model.stage import StageStatus
from fairway.plugins.scriptrun import journal
from fairway.plugins.scriptrun.plugin import ScriptRun
from fairway.sdk.testing import plugin_under_test


async def test_a_script_that_was_killed_before_it_came_to_life_fails_for_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "KEEPER", "kill -KILL $$")
    monkeypatch.setattr(journal, "_SIGN_OF_LIFE_SECONDS", 0.0)
    async with plugin_under_test(ScriptRun, tmp_path) as plugin:
        ended = await plugin.run("SCRIPT_RUN", {"run": f"touch {tmp_path}/ran"})

    why = "interrupted: the record of the script's end is lost; whether its work was done is not known"
    assert (ended.status, ended.message, ended.log) == (StageStatus.FAILED, why, (why,))
    assert not (tmp_path / "ran").exists()
