"""Which stages may be asked for twice."""

import pytest
from grpc import aio

from fairway.agent.plugins.client import PluginClient
from fairway.agent.plugins.repeating import may_repeat
from tests.unit.model.builders import a_stage


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
