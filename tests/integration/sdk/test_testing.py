"""Plugins under test: served over real gRPC, to a double of the agent."""

import asyncio
from pathlib import Path

from fairway.plugins.wait import Wait
from fairway.plugins.waitapproval import WaitApproval
from fairway.sdk import Plugin, StageOptions, StageRun, StageStatus, stage
from fairway.sdk.testing import Ended, plugin_under_test
from tests.integration.agent.running import until


class Keeping(Plugin):
    """Keeps and finds things again."""

    name = "keeping"

    @stage("KEEP")
    async def keep(self, run: StageRun[StageOptions]) -> None:
        """Count how often it was asked for, in three places."""
        counted = int(await run.noted("count") or 0) + 1
        await run.note({"count": str(counted)})
        await run.note_for_plugin({"last": run.stage.id})
        before = await run.get_object("times") or b"0"
        await run.put_object("times", str(int(before) + 1).encode())
        run.log.info((run.target.application_directory / "file").read_text())


async def test_what_a_plugin_keeps_is_there_to_look_at(tmp_path: Path) -> None:
    async with plugin_under_test(Keeping, tmp_path) as plugin:
        (plugin.folder / "file").write_text("hello")
        await plugin.run("KEEP", id="s")
        ended = await plugin.run("KEEP", id="s")

    assert ended == Ended(StageStatus.SUCCEEDED, "", ("hello",))
    assert plugin.agent.stage_notes == {"s": {"count": "2"}}
    assert plugin.agent.plugin_notes == {"keeping": {"last": "s"}}
    assert plugin.agent.objects == {"times": b"2"}


async def test_a_stage_waits_for_an_approval(tmp_path: Path) -> None:
    async with plugin_under_test(WaitApproval, tmp_path) as plugin:
        running = asyncio.create_task(plugin.run("WAIT_APPROVAL", id="s"))
        plugin.agent.approve("s", by="ada")
        ended = await running

    assert ended.status is StageStatus.SUCCEEDED
    assert ended.log[-1] == "Approved by ada at 2026-01-01 00:00:00 UTC"


async def test_a_stage_is_stopped(tmp_path: Path) -> None:
    async with plugin_under_test(Wait, tmp_path) as plugin:
        running = asyncio.create_task(plugin.run("WAIT", {"duration": "1h"}, id="s"))

        async def begun() -> bool:
            return "startTime" in plugin.agent.stage_notes.get("s", {})

        await until(begun)
        was_running = await plugin.stop("s", "Cancelled by ada")
        ended = await running

    assert was_running
    assert (ended.status, ended.message) == (StageStatus.CANCELLED, "Cancelled by ada")
