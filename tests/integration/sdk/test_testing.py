"""Plugins under test: served over real gRPC, to a double of the agent."""

import asyncio
from pathlib import Path
from typing import Any, cast

import grpc
import msgspec
import pytest
from grpc import aio

from fairway.model.application import SyncStatus
from fairway.model.log_block import LogBlock, LogSeverity
from fairway.plugins.wait import Wait
from fairway.plugins.waitapproval import WaitApproval
from fairway.sdk import (
    Health,
    Live,
    LiveQuestion,
    Outcome,
    Plugin,
    PluginSettings,
    Preview,
    PreviewQuestion,
    Resource,
    Retry,
    StageFailed,
    StageOptions,
    StageRun,
    StageStatus,
    Target,
    TryAgain,
    stage,
)
from fairway.sdk.testing import Ended, plugin_under_test
from tests.integration.agent.running import until


class LeaveOptions(StageOptions, frozen=True):
    """How long a note is."""

    length: int = 0


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


class Repeating(Plugin):
    """Says a line again, as one does who has not heard that it arrived."""

    name = "repeating"

    @stage("REPEAT")
    async def repeat(self, run: StageRun[StageOptions]) -> None:
        """Send one line twice, and another one with the same words."""
        line = LogBlock(index=7, log="hello", created_at=run.log.clock.now(), severity=LogSeverity.INFO)
        for each in (line, line, msgspec.structs.replace(line, index=8)):
            await run.log.send(each)


async def test_a_line_that_is_sent_again_is_the_same_line(tmp_path: Path) -> None:
    async with plugin_under_test(Repeating, tmp_path) as plugin:
        ended = await plugin.run("REPEAT")

    assert ended.log == ("hello", "hello")


async def test_what_a_plugin_keeps_is_there_to_look_at(tmp_path: Path) -> None:
    async with plugin_under_test(Keeping, tmp_path) as plugin:
        (plugin.folder / "file").write_text("hello")
        await plugin.run("KEEP", id="s")
        ended = await plugin.run("KEEP", id="s")

    assert ended == Ended(StageStatus.SUCCEEDED, "", ("hello",))
    assert plugin.agent.stage_notes == {"s": {"count": "2"}}
    assert plugin.agent.plugin_notes == {"keeping": {"last": "s"}}
    assert plugin.agent.objects == {"times": b"2"}


class Leaving(Plugin):
    """Leaves notes with its end."""

    name = "leaving"

    @stage("LEAVE", options=LeaveOptions)
    async def leave(self, run: StageRun[LeaveOptions]) -> Outcome:
        """End well, with a note of that length."""
        return Outcome(notes={"left": "x" * run.options.length})


@pytest.mark.parametrize("length", [pytest.param(5, id="with the answer"), pytest.param(50_000, id="a long one")])
async def test_what_a_stage_leaves_with_its_end_is_kept(tmp_path: Path, length: int) -> None:
    async with plugin_under_test(Leaving, tmp_path) as plugin:
        await plugin.run("LEAVE", {"length": length}, id="s")

    assert plugin.agent.stage_notes == {"s": {"left": "x" * length}}


class Waiting(Plugin):
    """Says what its stage waits for."""

    name = "waiting"

    @stage("WAIT_LONG")
    async def wait(self, run: StageRun[StageOptions]) -> None:
        """Wait at two places at once, until an approval comes."""
        for name in ("east", "west"):
            with run.log.about(name):
                run.waits_for("a pod")
        async for _ in run.commands():
            return


async def test_what_a_stage_waits_for_is_kept_with_it(tmp_path: Path) -> None:
    async with plugin_under_test(Waiting, tmp_path) as plugin:
        running = asyncio.create_task(plugin.run("WAIT_LONG", id="s"))

        async def told() -> bool:
            return "s" in plugin.agent.stage_notes

        await until(told)
        plugin.agent.approve("s", by="ada")
        await running

    assert plugin.agent.stage_notes["s"] == {"fairway/waits-for": "east: a pod; west: a pod"}


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


class TryingOptions(StageOptions, frozen=True, kw_only=True):
    """How it fails."""

    failures: int
    final: bool = False


class Trying(Plugin):
    """Fails as often, and in the way, that its options say."""

    name = "trying"
    retry = Retry(attempts=3, first_delay=0.001, longest_delay=0.001)

    def __init__(self, settings: PluginSettings) -> None:
        super().__init__(settings)
        self.tries = 0

    @stage("TRY", options=TryingOptions)
    async def attempt(self, run: StageRun[TryingOptions]) -> None:
        """Fail, or not any more."""
        self.tries += 1
        run.log.info(f"try {self.tries}")
        if self.tries <= run.options.failures:
            raise StageFailed("never") if run.options.final else TryAgain("not now")


@pytest.mark.parametrize(
    ("options", "status", "message", "tries"),
    [
        pytest.param({"failures": 2}, StageStatus.SUCCEEDED, "", 3, id="it works at last"),
        pytest.param({"failures": 9}, StageStatus.FAILED, "not now", 3, id="it never works"),
        pytest.param({"failures": 9, "final": True}, StageStatus.FAILED, "never", 1, id="no use in another try"),
    ],
)
async def test_an_error_says_whether_the_stage_is_tried_again(
    tmp_path: Path, options: dict[str, Any], status: StageStatus, message: str, tries: int
) -> None:
    async with plugin_under_test(Trying, tmp_path) as plugin:
        ended = await plugin.run("TRY", options)

    assert (ended.status, ended.message) == (status, message)
    assert [line for line in ended.log if line.startswith("try")] == [f"try {each + 1}" for each in range(tries)]


class Mistaken(Plugin):
    """Returns what is no end of a stage."""

    name = "mistaken"

    @stage("NUMBER")
    async def number(self, _run: StageRun[StageOptions]) -> Any:
        """A number, which might be meant as the status of a process."""
        return 7

    @stage("NOTHING")
    async def nothing(self, _run: StageRun[StageOptions]) -> Any:
        """What counts as nothing, and might be meant as a failure."""
        return False

    @stage("NOTES")
    async def notes(self, _run: StageRun[StageOptions]) -> Any:
        """Notes that are none."""
        return Outcome(notes={"replicas": cast(str, 3)})


@pytest.mark.parametrize(
    ("name", "returned"),
    [
        pytest.param("NUMBER", "int 7", id="a number"),
        pytest.param("NOTHING", "bool False", id="what is like nothing"),
        pytest.param("NOTES", "Outcome with what cannot be: Expected `str`, got `int` - at `$.notes[...]`", id="notes"),
    ],
)
async def test_a_stage_that_returns_what_is_no_end_says_so_to_its_author(
    tmp_path: Path, name: str, returned: str
) -> None:
    async with plugin_under_test(Mistaken, tmp_path) as plugin:
        ended = await plugin.run(name)

    reason = f"a defect of plugin mistaken: its stage {name} returned {returned}; expected None or an Outcome"
    assert (ended.status, ended.message) == (StageStatus.FAILED, reason)
    assert reason in ended.log


class Knowing(Plugin):
    """Looks, compares, and works on several deploy targets."""

    name = "knowing"
    retry = Retry(attempts=2, first_delay=0.001, longest_delay=0.001)

    async def live_state(self, question: LiveQuestion) -> Live:
        if not question.targets:
            raise TryAgain("nothing to look at yet")
        resource = Resource(id="r", name=question.application_name, type="Thing", health=Health.HEALTHY)
        return Live(resources=(resource,), drift=(f"{question.targets[0].name} is behind",))

    async def plan_preview(self, question: PreviewQuestion) -> tuple[Preview, ...]:
        if not question.targets:
            raise StageFailed("nothing to compare with")
        return tuple(
            Preview(deploy_target=each.name, summary="1 change", details="+ a")
            if each.config.get("behind")
            else Preview(deploy_target=each.name, summary="no change", changes=False)
            for each in question.targets
        )

    @stage("SPREAD")
    async def spread(self, run: StageRun[StageOptions]) -> None:
        """Bring it to every deploy target."""

        async def bring(target: Target) -> str | None:
            if why := target.config.get("fails"):
                raise StageFailed(str(why))
            return f"on {target.labels['machine']}" if target.labels else None

        await run.on_each_target(bring)


async def test_what_runs_how_it_differs_and_what_a_change_would_do(tmp_path: Path) -> None:
    targets = (Target(name="one", config={"behind": True}), Target(name="two"))
    async with plugin_under_test(Knowing, tmp_path, targets=targets) as plugin:
        resources, sync = await plugin.live_state()
        previews = await plugin.plan_preview()

    assert [(each.name, each.plugin_name, each.health) for each in resources] == [
        ("application", "knowing", Health.HEALTHY)
    ]
    assert all(each.created_at and each.updated_at for each in resources), "PipeCD's control plane insists on them"
    assert (sync.status, sync.short_reason) == (SyncStatus.OUT_OF_SYNC, "one is behind")
    assert previews == (
        Preview(deploy_target="one", summary="1 change", details="+ a"),
        Preview(deploy_target="two", summary="no change", changes=False),
    )


async def test_a_question_that_cannot_be_answered_says_whether_to_ask_again(tmp_path: Path) -> None:
    async with plugin_under_test(Knowing, tmp_path) as plugin:
        with pytest.raises(aio.AioRpcError) as later:
            await plugin.live_state()
        with pytest.raises(aio.AioRpcError) as never:
            await plugin.plan_preview()

    assert (later.value.code(), later.value.details()) == (grpc.StatusCode.UNAVAILABLE, "nothing to look at yet")
    assert never.value.code() is grpc.StatusCode.FAILED_PRECONDITION


async def test_what_a_plugin_does_not_offer_is_not_implemented(tmp_path: Path) -> None:
    async with plugin_under_test(Keeping, tmp_path) as plugin:
        for question in (plugin.live_state, plugin.plan_preview):
            with pytest.raises(aio.AioRpcError) as refused:
                await question()
            assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_each_deploy_target_has_a_result_of_its_own(tmp_path: Path) -> None:
    targets = (
        Target(name="one", labels={"machine": "m1"}),
        Target(name="two", config={"fails": "no space"}),
        Target(name="three"),
    )
    async with plugin_under_test(Knowing, tmp_path, targets=targets) as plugin:
        ended = await plugin.run("SPREAD", id="s")
        again = await plugin.run("SPREAD", id="s")

    assert (ended.status, ended.message) == (StageStatus.FAILED, "1 of 3 deploy targets failed: two: no space")
    assert plugin.agent.stage_notes["s"] == {
        "fairway/target/one": "succeeded: on m1",
        "fairway/target/two": "failed: no space",
        "fairway/target/three": "succeeded",
        "pipecd/stage-display-metadata": "one: succeeded: on m1\ntwo: failed: no space\nthree: succeeded",
    }
    # What was done before is not done again.
    assert again.log == ("two: no space", "1 of 3 deploy targets failed: two: no space")


async def test_a_plugin_without_deploy_targets_cannot_work_on_each(tmp_path: Path) -> None:
    async with plugin_under_test(Knowing, tmp_path) as plugin:
        ended = await plugin.run("SPREAD")

    assert ended.message == "the application names no deploy target of this plugin"


class Rendering(Plugin):
    """Tells what would change by a tool of the agent's."""

    name = "rendering"

    async def plan_preview(self, question: PreviewQuestion) -> tuple[Preview, ...]:
        return (Preview(summary=str(await self.install_tool("render", "1.2", "exit 1"))),)


async def test_a_tool_is_installed_also_for_what_is_asked_outside_of_stages(tmp_path: Path) -> None:
    async with plugin_under_test(Rendering, tmp_path) as plugin:
        plugin.agent.tools = {("render", "1.2"): tmp_path / "render"}
        (preview,) = await plugin.plan_preview()

    assert preview.summary == str(tmp_path / "render")


async def test_a_stage_whose_options_are_wrong_is_named_as_people_count(tmp_path: Path) -> None:
    async with plugin_under_test(Trying, tmp_path) as plugin:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await plugin.plan("TRY", {"failures": "many"})

    assert str(refused.value.details()).startswith("stage 1 (TRY): failures ")
