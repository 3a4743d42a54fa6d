"""The plugins that live state asks about an application."""

from typing import Any

import pytest

from fairway.agent.planning import plugins_with_live_state
from fairway.agent.plugins.client import PluginClient, PluginGone, PluginRefused
from tests.unit.delivery.builders import a_config, a_pipeline
from tests.unit.model.builders import an_application


class Plugins:
    """The plugins of an agent: process has not started, lambda is absent."""

    plugins_of_stage = {"WAIT": ("wait",), "SCRIPT_RUN": ("scriptrun",), "PROCESS_SYNC": ("process",)}
    silent = ()

    def client(self, name: str) -> PluginClient:
        raise PluginGone("it starts") if name == "process" else PluginRefused("this agent has no such plugin")


@pytest.mark.parametrize(
    ("listed", "stages", "asked"),
    [
        pytest.param("lambda", ("SCRIPT_RUN", "WAIT"), (), id="absent, and no stage needs it"),
        pytest.param("lambda", ("SCRIPT_RUN", "LAMBDA_SYNC"), ("lambda",), id="absent, and a stage needs it"),
        pytest.param("lambda", (), ("lambda",), id="absent, and a quick sync needs it"),
        pytest.param("process", ("SCRIPT_RUN",), ("process",), id="not started"),
    ],
)
def test_an_absent_plugin_is_asked_only_where_a_stage_needs_it(
    listed: str, stages: tuple[str, ...], asked: tuple[str, ...]
) -> None:
    plugins: Any = Plugins()
    config = a_config(*a_pipeline(*stages), plugins={listed: {}})

    assert plugins_with_live_state(an_application(), config, plugins) == asked
