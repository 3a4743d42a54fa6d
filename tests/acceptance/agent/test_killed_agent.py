"""An agent that is killed or replaced in the middle of a script: it runs once, its log is whole, nothing is left."""

from collections.abc import Callable
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest

from fairway.model.deployment import DeploymentStatus
from tests.acceptance.agent.sites import a_site, alive_with, kill, plugin_hosts, terminate, until
from tests.integration.agent.running import an_application_file, script

#: Lines that a script writes before and after its agent ends.
LINES = 2000


@pytest.mark.parametrize("end", [pytest.param(kill, id="killed"), pytest.param(terminate, id="asked to stop")])
@pytest.mark.parametrize("back", [pytest.param("in", id="while it runs"), pytest.param("after", id="when it is over")])
def test_a_script_whose_agent_ends_runs_once_and_its_log_is_whole(
    tmp_path: Path, end: Callable[[Popen[bytes]], Any], back: str
) -> None:
    mark, go, ran, over = (tmp_path / name for name in ("mark", "go", "ran", "over"))
    lines = f"seq {LINES}"
    run = f"echo once >> {ran}; {lines}; touch {mark}; while [ ! -e {go} ]; do sleep 0.05; done; {lines}; touch {over}"
    undo = f"echo undone >> {ran}"
    with a_site(tmp_path, {"web/app.pipecd.yaml": an_application_file(script(run, onRollback=undo))}) as site:
        site.add_applications("web")
        until(mark.exists)
        end(site.agent)
        if back == "after":
            go.touch()
            until(over.exists)
        site.start_agent()
        go.touch()
        deployment = site.ended()

        assert deployment.status is DeploymentStatus.SUCCEEDED, (deployment.status_reason, site.said.read_text())
        assert ran.read_text() == "once\n"
        assert site.log(deployment, 0).splitlines()[:-1] == [str(number) for number in range(1, LINES + 1)] * 2
        terminate(site.agent)
        assert alive_with(str(site.data)) == []


def test_an_agent_that_is_killed_leaves_no_plugins_behind(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    with a_site(tmp_path, {"web/app.pipecd.yaml": an_application_file(script(f"touch {mark}"))}) as site:
        site.add_applications("web")
        until(mark.exists)
        hosts = plugin_hosts(site.agent.pid)

        kill(site.agent)

        assert hosts
        until(lambda: not any(Path(f"/proc/{each}").exists() for each in hosts))
