"""WAIT as PipeCD's agent and plugin know it: the start in whole seconds, and never without a duration."""

from pathlib import Path

import pytest
from grpc import StatusCode, aio

from fairway.clock import SystemClock
from fairway.model.stage import StageStatus
from fairway.plugins.wait import STARTED, Wait
from fairway.sdk.testing import plugin_under_test


async def test_the_start_is_noted_in_whole_seconds(tmp_path: Path) -> None:
    before = int(SystemClock().now().timestamp())
    async with plugin_under_test(Wait, tmp_path) as wait:
        ended = await wait.run("WAIT", {"duration": "1ms"}, id="stage")
        noted = wait.agent.stage_notes["stage"][STARTED]

    assert ended.status is StageStatus.SUCCEEDED
    assert before <= int(noted) <= SystemClock().now().timestamp()


@pytest.mark.parametrize("noted", ["1700000000", "1700000000.250"], ids=["PipeCD's plugin", "earlier versions"])
async def test_a_wait_whose_time_is_over_ends_at_once(tmp_path: Path, noted: str) -> None:
    async with plugin_under_test(Wait, tmp_path) as wait:
        wait.agent.stage_notes["stage"] = {STARTED: noted}
        ended = await wait.run("WAIT", {"duration": "1h"}, id="stage")

    assert (ended.status, ended.log) == (StageStatus.SUCCEEDED, ("Waited 1h",))


async def test_a_note_that_is_no_time_begins_the_wait_anew(tmp_path: Path) -> None:
    async with plugin_under_test(Wait, tmp_path) as wait:
        wait.agent.stage_notes["stage"] = {STARTED: "soon"}
        await wait.run("WAIT", {"duration": "1ms"}, id="stage")

        assert wait.agent.stage_notes["stage"][STARTED].isdecimal()


@pytest.mark.parametrize("options", [{}, {"duration": "0s"}])
async def test_a_wait_without_a_duration_is_refused_and_fails(tmp_path: Path, options: dict[str, str]) -> None:
    async with plugin_under_test(Wait, tmp_path) as wait:
        with pytest.raises(aio.AioRpcError) as refused:
            await wait.plan("WAIT", options)
        ended = await wait.run("WAIT", options)

    reason = 'WAIT has no duration; write a duration such as "30s", "5m" or "1h30m"'
    assert (refused.value.code(), refused.value.details()) == (StatusCode.INVALID_ARGUMENT, reason)
    assert (ended.status, ended.message, ended.log) == (StageStatus.FAILED, reason, (reason,))
