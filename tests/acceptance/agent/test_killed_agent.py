"""An agent that is killed or replaced while deployments are in every state: nothing is done twice, lost, or left."""

import functools
import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
import pytest

from fairway.agent.plugins.identity import Identity, identity_of
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.stage import StageStatus
from tests.acceptance.agent.sites import (
    How,
    Site,
    a_site,
    alive_with,
    command_line,
    descendants,
    kill,
    plugin_hosts,
    terminate,
    until,
)
from tests.integration.agent.foreign import a_foreign_plugin
from tests.integration.agent.running import an_application_file, script

#: Lines that a script writes before and after its agent ends.
LINES = 2000


class Work:
    """Four applications: one in a script, one being planned, one being undone, and one that waits for an approval."""

    def __init__(self, folder: Path, kind: str) -> None:
        self.go, self.over, self.ran = (folder / name for name in ("go", "over", "ran"))
        self._diary = folder / "diary"
        holds = f"while [ ! -e {self.go} ]; do sleep 0.02; done"
        runs = f"echo script >> {self.ran}; seq {LINES}; {holds}; seq {LINES}; touch {self.over}"
        undoes = f"echo undo >> {self.ran}; seq {LINES}; {holds}; seq {LINES}"
        stages = {
            "script": script(runs, onRollback=f"echo undone >> {self.ran}"),
            "planned": "{name: FOREIGN_RUN, with: {}}",
            "undone": script(f"echo fails >> {self.ran}; exit 1", onRollback=undoes),
            "approved": "{name: WAIT_APPROVAL, with: {}}",
        }
        self.files = {f"{name}/app.pipecd.yaml": an_application_file(stage) for name, stage in stages.items()}
        for name in ("script", "undone", "approved"):
            file = f"{name}/app.pipecd.yaml"
            self.files[file] = self.files[file].replace("kind: Application", f"kind: {kind}")
        plugin = {"diary": str(self._diary), "plansWhen": str(self.go)}
        entry = {"name": "foreign", "url": str(a_foreign_plugin(folder / "made")), "config": plugin}
        self.plugins = msgspec.json.encode([entry]).decode()

    def is_under_way(self, site: Site) -> bool:
        """Whether each of the four is where it should be."""
        return lines(self.ran, 3) and lines(self._diary, 1) and self.waiting(site) is not None

    def waiting(self, site: Site) -> Deployment | None:
        """The deployment that waits for an approval."""
        found = [each for each in site.deployments() if each.application_name == "approved" and each.stages]
        return next((each for each in found if each.stages[0].status is StageStatus.RUNNING), None)

    def stages_of_the_plugin(self) -> list[str]:
        """Which stages the foreign plugin has run."""
        found = self._diary.read_text().splitlines()
        return [line.split()[0] for line in found if line.startswith("FOREIGN_")]


def lines(file: Path, number: int) -> bool:
    return file.exists() and len(file.read_text().splitlines()) >= number


def kill_launcher(site: Site) -> None:
    """The agent goes with what keeps it running."""
    kill(site.agent)


def kill_both(site: Site) -> None:
    os.kill(site.agent_proper, signal.SIGKILL)
    kill(site.agent)


def kill_agent(site: Site) -> None:
    """What keeps it running starts it again."""
    before = site.agent_proper
    os.kill(before, signal.SIGKILL)
    until(lambda: site.agent_proper != before)


def ask(site: Site) -> None:
    assert terminate(site.agent) == 0


@pytest.mark.parametrize(
    ("end", "back", "kind"),
    [
        pytest.param(kill_launcher, "after", "Application", id="launcher killed, back when the script is over"),
        pytest.param(kill_both, "in", "Application", id="launcher and agent killed"),
        pytest.param(kill_both, "in", "KubernetesApp", id="launcher and agent killed, first generation"),
        pytest.param(kill_agent, "", "Application", id="agent killed"),
        pytest.param(ask, "in", "Application", id="asked to stop"),
        pytest.param(ask, "after", "KubernetesApp", id="asked to stop, back when the script is over"),
    ],
)
def test_whatever_a_deployment_is_doing_when_its_agent_ends_is_done_once_and_its_log_is_whole(
    tmp_path: Path, end: Callable[[Site], None], back: str, kind: str
) -> None:
    work = Work(tmp_path, kind)
    with a_site(tmp_path, work.files, How(plugins=work.plugins)) as site:
        site.add_applications("script", "planned", "undone", "approved")
        until(lambda: work.is_under_way(site))
        end(site)
        if back == "after":
            work.go.touch()
            until(work.over.exists)
        if back:
            site.start_agent()
        work.go.touch()
        waiting = until(lambda: work.waiting(site))
        site.ask("deployments", waiting.id, "stages", waiting.stages[0].id, "approve")
        ended = {each.application_name: each for each in (site.ended(number) for number in range(1, 5))}
        site.all_told()

        assert {name: each.status for name, each in ended.items()} == {
            "script": DeploymentStatus.SUCCEEDED,
            "planned": DeploymentStatus.SUCCEEDED,
            "undone": DeploymentStatus.FAILED,
            "approved": DeploymentStatus.SUCCEEDED,
        }, site.said.read_text()
        assert sorted(work.ran.read_text().split()) == ["fails", "script", "undo"]
        assert work.stages_of_the_plugin() == ["FOREIGN_RUN"]
        numbers = [str(number) for number in range(1, LINES + 1)] * 2
        assert site.log(ended["script"], 0).splitlines()[:-1] == numbers
        assert site.log(ended["undone"], 1).splitlines()[:-1] == numbers
        terminate(site.agent)
        assert alive_with(str(site.data)) == []


def all_gone(processes: Mapping[int, Identity | None]) -> bool:
    """Whether none of them lives; their numbers may be others' by now."""
    return not any(command_line(each) and identity_of(each) == identity for each, identity in processes.items())


def test_an_agent_that_is_killed_leaves_no_plugins_behind(tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    with a_site(tmp_path, {"web/app.pipecd.yaml": an_application_file(script(f"echo ran >> {ran}"))}) as site:
        site.add_applications("web")
        for number, end in enumerate((kill_launcher, kill_both), 1):
            if number > 1:
                site.start_agent()
                site.origin.commit({"web/version": f"{number}\n"})
            # After a script, so that there is also what guards scripts.
            until(functools.partial(lines, ran, number))
            site.ended(number)
            left = {each: identity_of(each) for each in descendants(site.agent.pid)}
            assert any("fairway-script-guard" in command_line(each) for each in left)
            assert plugin_hosts(site.agent.pid)

            end(site)

            until(functools.partial(all_gone, left))


@pytest.mark.parametrize("kind", ["Application", "KubernetesApp"])
def test_what_is_still_to_be_undone_is_undone_by_an_agent_that_comes_back(tmp_path: Path, kind: str) -> None:
    ran, go = tmp_path / "ran", tmp_path / "go"
    first = script("true", onRollback=f"echo first >> {ran}; while [ ! -e {go} ]; do sleep 0.02; done")
    second = script("exit 1", onRollback=f"echo second >> {ran}")
    file = an_application_file(first, second).replace("kind: Application", f"kind: {kind}")
    with a_site(tmp_path, {"web/app.pipecd.yaml": file}) as site:
        site.add_applications("web")
        until(functools.partial(lines, ran, 1))
        kill_both(site)
        site.start_agent()
        go.touch()
        ended = site.ended()

    assert (ended.status, ran.read_text().split()) == (DeploymentStatus.FAILED, ["first", "second"])
