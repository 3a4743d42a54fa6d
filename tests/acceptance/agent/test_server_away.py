"""A server that is killed, slow, or behind a line that is cut: work goes on, and afterwards the server knows all."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.stage import StageStatus
from tests.acceptance.agent.sites import Site, a_site, until
from tests.integration.agent.running import an_application_file, script

LINES = [str(number) for number in range(1, 301)]


def a_site_with_work(folder: Path) -> dict[str, str]:
    """Two applications; each begins with a script that waits, and one of them fails then and is undone."""

    def stages(name: str, last: str) -> tuple[str, ...]:
        note = f"echo {name}-{{}} >> {folder}/ran"
        holds = f"{note.format(0)}; while [ ! -e {folder}/go ]; do sleep 0.02; done; seq 300"
        runs = (holds, f"{note.format(1)}; seq 300", f"{note.format(2)}; {last}")
        return tuple(script(run, onRollback=note.format("undo")) for run in runs)

    ends = {"good": "true", "bad": "exit 1"}
    return {f"{name}/app.pipecd.yaml": an_application_file(*stages(name, end)) for name, end in ends.items()}


def ran(folder: Path) -> Counter[str]:
    """How often each script has run."""
    return Counter((folder / "ran").read_text().split()) if (folder / "ran").exists() else Counter()


#: What must have run in the end, each once but what undoes.
WORK = Counter({f"{name}-{stage}": 1 for name in ("good", "bad") for stage in (0, 1, 2)} | {"bad-undo": 3})


def kill_server(site: Site) -> None:
    site.server.kill()


def cut_line(site: Site) -> None:
    site.line.cut()


def start_server(site: Site) -> None:
    site.start_server()


def mend_line(site: Site) -> None:
    site.line.mend()


@pytest.mark.parametrize(
    ("goes", "returns"),
    [
        pytest.param(kill_server, start_server, id="a server that is killed"),
        pytest.param(cut_line, mend_line, id="a line that is cut"),
    ],
)
def test_work_goes_on_without_a_server_which_learns_everything_afterwards(
    tmp_path: Path, goes: Callable[[Site], None], returns: Callable[[Site], None]
) -> None:
    with a_site(tmp_path, a_site_with_work(tmp_path)) as site:
        site.add_applications("good", "bad")
        until(lambda: ran(tmp_path) == {"good-0": 1, "bad-0": 1})
        goes(site)
        (tmp_path / "go").touch()
        until(lambda: ran(tmp_path) == WORK)
        returns(site)
        ended = {each.application_name: each for each in (site.ended(1), site.ended(2))}
        site.all_told()

        assert how_it_went(site, ended["good"]) == (DeploymentStatus.SUCCEEDED, [StageStatus.SUCCEEDED] * 3)
        assert how_it_went(site, ended["bad"]) == (
            DeploymentStatus.FAILED,
            [*[StageStatus.SUCCEEDED] * 2, StageStatus.FAILED, *[StageStatus.SUCCEEDED] * 3],
        )
        assert ran(tmp_path) == WORK


def test_a_slow_line_costs_time_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "go").touch()
    with a_site(tmp_path, a_site_with_work(tmp_path)) as site:
        site.line.delay = 0.03
        site.add_applications("good", "bad")
        ended = {each.application_name: each.status for each in (site.ended(1), site.ended(2))}

        assert ended == {"good": DeploymentStatus.SUCCEEDED, "bad": DeploymentStatus.FAILED}
        assert ran(tmp_path) == WORK


def how_it_went(site: Site, deployment: Deployment) -> tuple[DeploymentStatus, Sequence[StageStatus]]:
    """Status and those of the stages that were begun; the first two logs are whole."""
    for number in (0, 1):
        assert [line for line in site.log(deployment, number).splitlines() if line.isdigit()] == LINES
    begun = [stage.status for stage in deployment.stages if stage.status is not StageStatus.NOT_STARTED]
    return deployment.status, begun
