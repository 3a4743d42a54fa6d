"""Any process is killed at any moment, over many deployments; in the end each is in the state that its stages imply.

The seed decides who is killed and after how many scripts; the moments themselves are the machine's.
"""

import functools
import os
import random
import signal
from collections import Counter
from pathlib import Path

from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.stage import StageStatus
from tests.acceptance.agent.sites import Site, a_site, children, kill, until
from tests.integration.agent.running import an_application_file, script

APPLICATIONS = 6
KILLS = int(os.environ.get("FAIRWAY_TEST_KILLS", "6"))
SEED = int(os.environ.get("FAIRWAY_TEST_SEED", "1"))
#: Applications whose second stage fails.
FAILING = {"app-0", "app-3"}
LINES = 100
SUCCEEDED, FAILED, NOT_STARTED = StageStatus.SUCCEEDED, StageStatus.FAILED, StageStatus.NOT_STARTED


def a_file(name: str, ran: Path) -> str:
    """Three scripts; each notes that it ran, and so does what undoes it."""

    def noting(number: int, end: str) -> str:
        note = f"echo $SR_DEPLOYMENT_ID {{}} >> {ran}"
        run = f"{note.format(number)}; seq {LINES}; sleep 0.0{number + 2}; {end}"
        return script(run, onRollback=note.format(f"undo-{number}"))

    ends = ("true", "exit 1" if name in FAILING else "true", "true")
    stages = (noting(number, end) for number, end in enumerate(ends))
    return an_application_file(*stages).replace("name: web", f"name: {name}")


def test_every_deployment_ends_as_its_stages_imply_whatever_is_killed(tmp_path: Path) -> None:
    chance, ran = random.Random(SEED), tmp_path / "ran"
    ran.touch()
    names = [f"app-{number}" for number in range(APPLICATIONS)]
    with a_site(tmp_path, {f"{name}/app.pipecd.yaml": a_file(name, ran) for name in names}) as site:
        site.add_applications(*names)
        for number in range(KILLS):
            until(functools.partial(has_run_or_ended, site, ran, len(lines(ran)) + chance.randrange(12)))
            kill_one(site, chance.choice(["agent", "plugins", "server", "agent and server"]))
            site.origin.commit({f"{name}/version": f"{number}\n" for name in names})
        heads = until(lambda: all_ended(site))

        assert {each.application_name for each in heads} == set(names)
        runs = Counter(lines(ran))
        for deployment in heads:
            assert how_it_went(site, deployment, runs) == as_implied(deployment), site.said.read_text()
        assert not runs, "scripts ran of which no deployment knows"


def has_run_or_ended(site: Site, ran: Path, scripts: int) -> bool:
    """Whether so many scripts have run, or no more will."""
    return len(lines(ran)) >= scripts or all_ended(site) is not None


def how_it_went(site: Site, deployment: Deployment, runs: Counter[str]) -> tuple[object, ...]:
    """Statuses, how often each script ran, and how many lines each log has."""
    stages = [(stage.name, stage.status) for stage in deployment.stages]
    marks = [f"{deployment.id} {each}" for each in (0, 1, 2, "undo-0", "undo-1", "undo-2")]
    logs = [len(site.log(deployment, number).splitlines()) for number in range(3)]
    return deployment.status, stages, [runs.pop(mark, 0) for mark in marks], logs


def as_implied(deployment: Deployment) -> tuple[object, ...]:
    """The same, as it should be."""
    forward, back = "SCRIPT_RUN", "SCRIPT_RUN_ROLLBACK"
    if deployment.application_name in FAILING:
        undone = [(back, SUCCEEDED), (back, SUCCEEDED), (back, NOT_STARTED)]
        stages = [(forward, SUCCEEDED), (forward, FAILED), (forward, NOT_STARTED), *undone]
        return DeploymentStatus.FAILED, stages, [1, 1, 0, 1, 1, 0], [LINES, LINES, 0]
    stages = [(forward, SUCCEEDED)] * 3 + [(back, NOT_STARTED)] * 3
    return DeploymentStatus.SUCCEEDED, stages, [1, 1, 1, 0, 0, 0], [LINES] * 3


def kill_one(site: Site, who: str) -> None:
    """Kill, and start again what nobody else does."""
    if who == "plugins":
        for each in children(site.agent.pid):
            os.kill(each, signal.SIGKILL)
    if "server" in who:
        site.server.kill()
    if "agent" in who:
        kill(site.agent)
        site.start_agent()
    if "server" in who:
        site.start_server()


def all_ended(site: Site) -> tuple[Deployment, ...] | None:
    """All deployments, when there is one of the newest commit for each application, and none is under way."""
    found = site.deployments()
    newest = {each.application_name for each in found if each.trigger.commit.hash == site.origin.head()}
    whole = len(newest) == APPLICATIONS and all(each.status.is_terminal for each in found)
    return found if whole else None


def lines(file: Path) -> list[str]:
    return file.read_text().splitlines()
