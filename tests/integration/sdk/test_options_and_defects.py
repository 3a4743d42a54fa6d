"""Options that a stage does not have, and exceptions that a plugin does not expect."""

from pathlib import Path

import grpc
import pytest

from fairway.sdk import Plugin, StageOptions, StageRun, StageStatus, stage, undo
from fairway.sdk.testing import Ended, plugin_under_test


class DoOptions(StageOptions, frozen=True):
    """What DO may have in its `with`."""

    length: int = 0


async def test_a_misspelt_option_is_an_error_when_a_stage_is_planned_and_when_it_runs(tmp_path: Path) -> None:
    async with plugin_under_test(Undoing, tmp_path) as plugin:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await plugin.plan("DO", {"lenght": 1})
        ended = await plugin.run("DO", {"lenght": 1})

    why = "lenght is not a field of this; did you mean 'length'?"
    assert refused.value.details() == f"stage 1 (DO): {why}"
    assert ended == Ended(StageStatus.FAILED, f"DO: {why}", (f"DO: {why}",))


class Undoing(Plugin):
    """Undoes a stage whose options it does not know."""

    name = "undoing"

    @stage("DO", options=DoOptions)
    async def do(self, _run: StageRun[DoOptions]) -> None:
        """There is nothing to do."""

    @undo("DO_ROLLBACK", of="DO")
    async def undo(self, run: StageRun[StageOptions]) -> None:
        """Say that it was asked for."""
        run.log.info("undone")


async def test_a_stage_that_undoes_another_passes_over_options_that_it_does_not_know(tmp_path: Path) -> None:
    async with plugin_under_test(Undoing, tmp_path) as plugin:
        planned = await plugin.plan("DO", {"length": 3})
        ended = await plugin.run("DO_ROLLBACK", {"length": 3})

    assert [each.name for each in planned] == ["DO", "DO_ROLLBACK"]
    assert ended == Ended(StageStatus.SUCCEEDED, "", ("undone",))


class Defective(Plugin):
    """Has a defect."""

    name = "defective"

    @stage("FALL")
    async def fall(self, _run: StageRun[StageOptions]) -> None:
        """Look for what is not there."""
        try:
            dict[str, str]()["first"]
        except KeyError as error:
            raise RuntimeError("no such\nthing") from error


async def test_the_log_of_a_stage_has_the_message_and_the_traceback_of_a_defect(tmp_path: Path) -> None:
    async with plugin_under_test(Defective, tmp_path) as plugin:
        ended = await plugin.run("FALL")

    assert ended.message == "internal error of plugin defective: RuntimeError: no such thing"
    (said,) = ended.log
    assert said.startswith(f"{ended.message}\nTraceback (most recent call last):\n")
    assert "KeyError: 'first'" in said
    assert f'File "{__file__}"' in said
    assert said.endswith("RuntimeError: no such\nthing")
