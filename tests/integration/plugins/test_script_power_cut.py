"""A power cut of the agent's machine: a script that may have been started is interrupted, and is undone."""

import asyncio
import itertools
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from fairway.model.stage import Stage, StageStatus
from fairway.plugins.scriptrun import journal
from fairway.plugins.scriptrun.plugin import ScriptRun
from fairway.sdk.testing import Ended, PluginUnderTest, plugin_under_test
from tests.integration.plugins.power_cut import RecordedDisk

OPTIONS = {"run": "echo done >> {0}/seen", "onRollback": "echo undone >> {0}/seen"}
FEW = settings(max_examples=20, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))


class Machine:
    """An agent's machine whose script has run once; the recorded disk knows what a power cut leaves of it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._folder, self._images = folder, itertools.count()
        self.options = {name: text.format(folder) for name, text in OPTIONS.items()}
        self._disk = RecordedDisk(folder / "first" / "state")
        self._disk.record(monkeypatch)
        #: What was synced when the script began, and when its stage had ended.
        self.moments: list[RecordedDisk] = []
        self._notes: dict[str, dict[str, str]] = {}
        self._stages: tuple[Stage, ...] = ()
        monkeypatch.setattr(journal, "_SIGN_OF_LIFE_SECONDS", 0.0)
        start = journal.Journal.start

        async def noted_start(self_: journal.Journal, order: journal.Order, guard: Callable[[], None]) -> None:
            await start(self_, order, guard)
            self.moments.append(self._disk.now())

        with monkeypatch.context() as patched:
            patched.setattr(journal.Journal, "start", noted_start)
            asyncio.run(self._run_once())
        self.moments.append(self._disk.now())

    @property
    def seen(self) -> list[str]:
        file = self._folder / "seen"
        return file.read_text().split() if file.exists() else []

    async def _run_once(self) -> None:
        (self._folder / "first").mkdir()
        async with plugin_under_test(ScriptRun, self._folder / "first") as plugin:
            script, undo = await plugin.plan("SCRIPT_RUN", self.options)
            self._stages = (
                replace(script, id="script", status=StageStatus.RUNNING),
                replace(undo, id="undo"),
            )
            plugin.stages = self._stages
            assert (await plugin.run("SCRIPT_RUN", self.options, id="script")).status is StageStatus.SUCCEEDED
            self._notes = plugin.agent.plugin_notes

    def after(self, data: st.DataObject, stage: str, **more: str) -> Ended:
        """How a stage ends that is asked for after a power cut in a moment."""
        folder = self._folder / f"image-{next(self._images)}"
        folder.mkdir()
        moment = data.draw(st.sampled_from(range(len(self.moments))))
        self.moments[moment].image(folder / "state", lambda options: data.draw(st.sampled_from(options)))
        try:
            return asyncio.run(self._ask(folder, stage, more))
        finally:
            shutil.rmtree(folder)

    async def _ask(self, folder: Path, stage: str, more: Mapping[str, str]) -> Ended:
        async with plugin_under_test(ScriptRun, folder) as plugin:
            plugin.stages = self._stages
            plugin.agent.plugin_notes = {name: dict(notes) for name, notes in self._notes.items()}
            return await self._run(plugin, stage, more)

    async def _run(self, plugin: PluginUnderTest, stage: str, more: Mapping[str, str]) -> Ended:
        name = {"script": "SCRIPT_RUN", "undo": "SCRIPT_RUN_ROLLBACK"}[stage]
        return await plugin.run(name, {**self.options, **more}, id=stage)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(tmp_path, monkeypatch)


@given(data=st.data())
@FEW
def test_a_script_that_was_started_is_not_started_again(machine: Machine, data: st.DataObject) -> None:
    before = machine.seen

    ended = machine.after(data, "script")

    assert machine.seen == before
    assert ended.status in {StageStatus.SUCCEEDED, StageStatus.FAILED}


@given(data=st.data())
@FEW
def test_a_script_that_was_started_is_undone(machine: Machine, data: st.DataObject) -> None:
    before = machine.seen

    ended = machine.after(data, "undo")

    assert (ended.status, machine.seen) == (StageStatus.SUCCEEDED, [*before, "undone"])
