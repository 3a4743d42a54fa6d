"""Which stages may be asked for twice, and how often."""

import itertools
from pathlib import Path
from typing import cast

import pytest
from grpc import aio

from fairway.agent.plugins.client import PluginClient, PluginGone, Sources, StageResult, StageWork, StopAnswer
from fairway.agent.plugins.condition import Condition
from fairway.agent.plugins.repeating import Asking, execute_at_last, may_repeat, reconnected
from fairway.agent.workspace import Source
from fairway.model.stage import Stage, StageStatus
from fairway.secrets.template import TemplateValues
from tests.unit.model.builders import a_deployment, a_stage


@pytest.mark.parametrize(
    ("name", "rollback", "resumes", "expected"),
    [
        pytest.param("SCRIPT_RUN", False, True, True, id="a plugin that resumes"),
        pytest.param("SCRIPT_RUN", False, False, False, id="a script of a plugin that does not"),
        pytest.param("SCRIPT_RUN_ROLLBACK", True, False, True, id="a rollback"),
        pytest.param("WAIT", False, False, True, id="a stage that waits"),
        pytest.param("K8S_CANARY_ROLLOUT", False, False, True, id="a stage that brings about a state"),
        pytest.param("TERRAFORM_APPLY", False, False, False, id="a stage of which nothing is known"),
    ],
)
async def test_a_stage_may_be_asked_for_twice(name: str, rollback: bool, resumes: bool, expected: bool) -> None:
    async with aio.insecure_channel("127.0.0.1:1") as channel:
        client = PluginClient("p", channel, resumes)

        assert may_repeat(client, a_stage(name=name, rollback=rollback)) is expected


class Plugin:
    """Ends each time that it is asked for a stage, unless it is told what to answer."""

    name = "greet"

    def __init__(self, *answers: StageResult, shares_process: bool = False) -> None:
        self.resumes = True
        self.condition = Condition(is_shared=shares_process, trouble="ended with status 3")
        self.left = list(answers)
        self.stopped: list[str] = []

    async def execute(self, _work: StageWork) -> StageResult:
        if not self.left:
            raise PluginGone("Socket closed")
        return self.left.pop()

    async def stop(self, _deployment_id: str, _stage: Stage, reason: str, **_how: bool) -> StopAnswer:
        self.stopped.append(reason)
        return StopAnswer.NOT_RUNNING


def some_work() -> StageWork:
    source = Source(
        root=Path("/"),
        commit="c-1",
        application_directory=Path("/"),
        config_filename="app.pipecd.yaml",
        config_text=b"",
        values=TemplateValues(),
    )
    return StageWork(deployment=a_deployment(), stage=a_stage(name="GREET"), config=b"", sources=Sources(source, None))


async def executed(started: list[Plugin], lives: float) -> StageResult:
    """The result of a stage whose plugin is started so often, and lives so long each time."""
    time, starts = itertools.count(0.0, lives), iter(started)

    async def back() -> PluginClient:
        return cast(PluginClient, next(starts))

    return await execute_at_last(await back(), some_work(), Asking(back, steady=lambda: next(time)))


async def test_a_stage_that_ends_its_plugin_three_times_is_not_asked_for_again() -> None:
    started = [Plugin() for _ in range(10)]

    with pytest.raises(PluginGone) as raised:
        await executed(started, lives=1.0)

    reason = "plugin greet ended with status 3 each of the 3 times that it ran GREET"
    assert str(raised.value) == reason
    # What it has started may have outlived its plugin.
    assert [each.stopped for each in started if each.stopped] == [[reason]]


@pytest.mark.parametrize(
    ("shares_process", "lives"),
    [
        pytest.param(True, 1.0, id="in a process that others may have ended"),
        pytest.param(False, 3600.0, id="after its plugin was well for long"),
    ],
)
async def test_a_stage_that_need_not_have_ended_its_plugin_goes_on_however_often(
    shares_process: bool, lives: float
) -> None:
    done = StageResult(StageStatus.SUCCEEDED, "done")
    started = [*(Plugin(shares_process=shares_process) for _ in range(20)), Plugin(done), Plugin(done)]

    assert await executed(started, lives) == done


async def test_a_stage_waits_for_its_plugin_without_a_limit_of_time_and_says_so() -> None:
    answers = iter([PluginGone("it did not come back"), PluginGone("it did not come back"), None])
    client, reported = cast(PluginClient, Plugin()), list[str]()

    async def back() -> PluginClient:
        if error := next(answers):
            raise error
        return client

    async def report(trouble: str) -> None:
        reported.append(trouble)

    assert await reconnected(back, report) is client
    assert reported == ["it did not come back", "it did not come back", ""]
