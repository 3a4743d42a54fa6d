"""Ending a stage by its plugin, which may have to be started again first."""

import asyncio
from typing import Any, cast

import pytest

from fairway.agent.plugins.client import PluginClient, PluginGone, StopAnswer
from fairway.agent.plugins.stopping import GivenUp, stopped
from fairway.model.stage import Stage
from tests.unit.model.builders import a_stage


class Plugin:
    """Answers as it is told to; nobody is there when there is nothing left to say."""

    def __init__(self, *answers: StopAnswer, resumes: bool = True) -> None:
        self.resumes = resumes
        self.left = list(answers)

    async def stop(self, _deployment_id: str, _stage: Stage, _reason: str, **_how: bool) -> StopAnswer:
        if not self.left:
            raise PluginGone("nobody is there")
        return self.left.pop(0)


async def stopping(first: Plugin, second: Plugin, executing: "asyncio.Task[Any] | None" = None) -> bool:
    async def back() -> PluginClient:
        return cast(PluginClient, second)

    return await stopped(cast(PluginClient, first), back, GivenUp("d-1", a_stage(), "Cancelled by ada"), executing)


@pytest.mark.parametrize(
    ("answer", "ended"),
    [
        pytest.param(StopAnswer.ENDED, True, id="it has gone on with it"),
        pytest.param(StopAnswer.NOT_RUNNING, True, id="it has ended what was left"),
        pytest.param(StopAnswer.UNABLE, False, id="it is another version and cannot"),
    ],
)
async def test_a_stage_whose_plugin_is_just_started_again_is_ended_by_the_new_one(
    answer: StopAnswer, ended: bool
) -> None:
    again = Plugin(answer)

    assert (await stopping(Plugin(), again), again.left) == (ended, [])


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(Plugin(resumes=False), Plugin(StopAnswer.ENDED), id="one that leaves nothing"),
        pytest.param(Plugin(), Plugin(), id="one that does not hold"),
    ],
)
async def test_a_plugin_that_is_gone_cannot_end_anything(first: Plugin, second: Plugin) -> None:
    with pytest.raises(PluginGone):
        await stopping(first, second)


async def test_a_stage_that_its_plugin_has_yet_to_hear_of_is_ended_when_it_has() -> None:
    executing = asyncio.create_task(asyncio.Event().wait())
    plugin = Plugin(StopAnswer.NOT_RUNNING, StopAnswer.NOT_RUNNING, StopAnswer.ENDED)
    try:
        assert (await stopping(plugin, Plugin(), executing), plugin.left) == (True, [])
    finally:
        executing.cancel()
