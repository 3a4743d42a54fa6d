"""How often a remote is asked that tells nothing by itself."""

from datetime import timedelta

import pytest

from fairway.agent.repositories import ASK_SECONDS, decide_ask_seconds


@pytest.mark.parametrize(
    ("interval", "seconds"),
    [
        pytest.param(timedelta(minutes=1), ASK_SECONDS, id="not written, or as PipeCD has it"),
        pytest.param(timedelta(seconds=3), 3.0, id="more often"),
        pytest.param(timedelta(minutes=5), 300.0, id="less often"),
    ],
)
def test_a_remote_is_asked_as_often_as_the_agents_file_says(interval: timedelta, seconds: float) -> None:
    assert decide_ask_seconds(interval) == seconds
