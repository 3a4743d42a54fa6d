"""For which plugins a deployment that has begun waits."""

from collections.abc import Mapping
from typing import cast

import pytest

from fairway.agent.planning import Plugins
from fairway.agent.plugins.client import PluginGone
from fairway.agent.unready import await_plugins
from fairway.model.stage import StageStatus
from tests.unit.model.builders import a_deployment, a_stage


class Some:
    """Plugins of which some have not started."""

    def __init__(self, serving: Mapping[str, tuple[str, ...]], missing: str = "", down: tuple[str, ...] = ()) -> None:
        self.plugins_of_stage = serving
        self._missing = missing
        self._down = down

    def missing(self) -> str:
        return self._missing

    def client(self, name: str) -> None:
        if name in self._down:
            raise PluginGone(f"plugin {name} has not started yet")


RUNS = a_deployment(
    stages=(a_stage(name="WAIT", status=StageStatus.SUCCEEDED), a_stage(name="SCRIPT_RUN", status=StageStatus.RUNNING))
)


@pytest.mark.parametrize(
    ("plugins", "reason"),
    [
        pytest.param(Some({"SCRIPT_RUN": ("scriptrun",)}), "", id="started"),
        pytest.param(Some({}, missing="plugin host does not start"), "plugin host does not start", id="given up"),
        pytest.param(Some({}), "", id="all have started, and none has the stage"),
        pytest.param(Some({"SCRIPT_RUN": ("a",)}, down=("a",)), "plugin a has not started yet", id="not yet"),
        pytest.param(Some({"SCRIPT_RUN": ("a", "b")}, down=("a",)), "", id="one of two"),
    ],
)
def test_a_stage_that_runs_waits_for_its_plugin(plugins: Some, reason: str) -> None:
    waits = ""
    try:
        await_plugins(RUNS, cast(Plugins, plugins))
    except PluginGone as error:
        waits = str(error)

    assert waits == reason
