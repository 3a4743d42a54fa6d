"""The machine's clock is set by hours while deployments run: nothing has taken longer for that, and waits end."""

import os
from pathlib import Path

import pytest

from fairway.model.deployment import DeploymentStatus
from tests.acceptance.agent.sites import How, a_site, until
from tests.acceptance.agent.test_killed_agent import kill_agent
from tests.integration.agent.running import an_application_file, script

#: Has Fairway's clock tell another time than the machine's, by as many seconds as a file says. Not Python's as a whole:
#: gRPC reckons with Python's clock and the machine's at once, which on a machine that is set are the same.
CLOCK = """
import sys, time

def shifted(machine=time.time):
    if sys._getframe(1).f_globals["__name__"] != "fairway.clock":
        return machine()
    with open({file!r}) as file:
        return machine() + float(file.read() or 0)

time.time = shifted
"""
HOURS = 8 * 3600


class SetClock:
    """The clock of every process of Fairway that finds this folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._file = folder / "seconds"
        self._file.touch()
        (folder / "sitecustomize.py").write_text(CLOCK.format(file=str(self._file)))
        path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH", ""))))
        self.environment = {"PYTHONPATH": path}

    def set_by(self, seconds: int) -> None:
        """Set it forward, or back."""
        new = self._file.with_suffix(".new")
        new.write_text(str(seconds))
        new.rename(self._file)


@pytest.mark.parametrize("by", [pytest.param(HOURS, id="forward"), pytest.param(-HOURS, id="back")])
def test_no_stage_takes_too_long_because_the_clock_was_set(tmp_path: Path, by: int) -> None:
    clock, mark, go = SetClock(tmp_path / "clock"), tmp_path / "mark", tmp_path / "go"
    holds = script(f"touch {mark}; while [ ! -e {go} ]; do sleep 0.02; done; seq 300", timeout="1h")
    # Longer than an agent sleeps before it looks at the time again.
    waits = "{name: WAIT, with: {duration: 6s}}"
    files = {"held/app.pipecd.yaml": an_application_file(holds), "waits/app.pipecd.yaml": an_application_file(waits)}
    with a_site(tmp_path, files, How(environment=clock.environment)) as site:
        site.add_applications("held")
        until(mark.exists)
        clock.set_by(by)
        site.add_applications("waits")
        until(lambda: len([each for each in site.deployments() if each.status.is_terminal]) == 1)
        go.touch()
        ended = {each.application_name: each for each in (site.ended(1), site.ended(2))}
        site.all_told()

        assert {each.status for each in ended.values()} == {DeploymentStatus.SUCCEEDED}, ended
        assert site.log(ended["held"], 0).splitlines()[:-1] == [str(number) for number in range(1, 301)]
        assert site.log(ended["waits"], 0).splitlines()[-1] == "Waited 6s"


def test_a_wait_that_is_taken_up_by_a_clock_that_was_set_back_is_no_longer_than_it_should_be(tmp_path: Path) -> None:
    clock, file = SetClock(tmp_path / "clock"), an_application_file("{name: WAIT, with: {duration: 2s}}")
    with a_site(tmp_path, {"web/app.pipecd.yaml": file}, How(environment=clock.environment)) as site:
        site.add_applications("web")
        until(lambda: [each for each in site.deployments() if each.stages and each.stages[0].metadata])
        clock.set_by(-HOURS)
        kill_agent(site)
        deployment = site.ended()

        assert deployment.status is DeploymentStatus.SUCCEEDED, deployment.status_reason
