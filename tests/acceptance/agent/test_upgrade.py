"""A running agent becomes another version of itself while a script runs; one that is not healthy is left again."""

from pathlib import Path

import fairway.agent.app
from fairway import __version__
from fairway.agent.launcher.record import INSTALLED
from fairway.agent.plugins.identity import memory_of
from fairway.model.deployment import DeploymentStatus
from tests.acceptance.agent.sites import command_line, kill, plugin_hosts, until
from tests.acceptance.agent.upgrading import LongScript, UpgradingSite, an_upgrading_site
from tests.integration.agent.launcher.wheels import a_wheel

APP = "fairway/agent/app.py"


def goes_on(site: UpgradingSite) -> None:
    """The next commit is deployed."""
    number = len(site.deployments()) + 1
    site.origin.commit({"web/version": f"{number}\n"})
    assert site.ended(number).status is DeploymentStatus.SUCCEEDED


def says(site: UpgradingSite, words: str) -> None:
    """The server shows why the wanted version does not run, and so does the agent's own status."""
    until(lambda: words in site.version)
    until(lambda: words in site.status()["upgrade_trouble"])


def test_an_agent_is_upgraded_while_a_script_runs_and_the_script_runs_once(tmp_path: Path) -> None:
    script = LongScript(tmp_path)
    with an_upgrading_site(tmp_path, script.run) as site:
        until(script.mark.exists)
        launcher, before = site.agent.pid, site.agent_proper
        wish = a_wheel(tmp_path, "7.0")
        site.want(wish)
        until(lambda: site.runs("7.0"))
        key = wish.replace("@sha256:", "-")
        assert (site.record.current, site.record.previous, site.record.failures) == (key, INSTALLED, ())
        assert (site.agent.pid, site.agent.poll()) == (launcher, None)
        assert site.agent_proper != before
        ours = [command_line(each) for each in (site.agent_proper, *plugin_hosts(launcher))]
        assert [str(site.data / "versions" / key) in line for line in ours] == [True, True]
        assert memory_of(launcher) < 16e6
        # Back again, and a power cut in the middle.
        site.want(__version__)
        until(lambda: site.record.trial)
        kill(site.agent)
        site.start_agent()
        until(lambda: site.runs(__version__))
        script.go.touch()
        deployment = site.ended()

        assert deployment.status is DeploymentStatus.SUCCEEDED, (deployment.status_reason, site.said.read_text())
        assert script.is_whole(site.log(deployment, 0))
        assert [
            word
            for word in ("FAIRWAY_LAUNCHER", str(site.data / "versions"), "agent.lock")
            if word in script.has.read_text()
        ] == []


def test_a_version_that_is_not_to_be_run_is_not_and_deployments_go_on(tmp_path: Path) -> None:
    with an_upgrading_site(tmp_path) as site:
        site.ended()
        agent = site.agent_proper
        site.want(a_wheel(tmp_path, "7.0")[:-4] + "0000")
        says(site, "7.0 is wanted, but file:///")
        site.want(a_wheel(tmp_path, "7.0", requires=["no-such-thing>=3"]))
        says(site, "7.0 needs what is not installed beside the agent: no-such-thing>=3 (there is none)")
        site.want("7.0")
        says(site, "7.0 is wanted, but its checksum is not known")
        goes_on(site)
        site.want("")
        until(lambda: site.version == f"fairway-{__version__}")

        assert site.agent_proper == agent
        assert [each.name for each in (site.data / "versions").iterdir()] == ["record.json"]


class HastySite(UpgradingSite):
    """A site whose agent has no patience with versions that are never ready."""

    ready = "5s"


def test_a_version_that_does_not_become_healthy_is_left_and_deployments_go_on(tmp_path: Path) -> None:
    blessed = tmp_path / "blessed"
    app = Path(fairway.agent.app.__file__).read_text()
    moody = f"import os\nif not os.path.exists('{blessed}'): raise SystemExit(1)\n{app}"
    with an_upgrading_site(tmp_path, site=HastySite) as site:
        site.ended()
        site.want(a_wheel(tmp_path, "7.1", {APP: "import time\ntime.sleep(1000)\n"}))
        # On a slow machine the installed version is late as well, and the other one is tried once more.
        until(lambda: [each for each in site.record.failures if each.key.startswith("7.1-")])
        says(site, "7.1 was tried and left: it was not ready within 5s")
        goes_on(site)
        assert site.record.current == INSTALLED
        assert site.version.startswith(f"fairway-{__version__} (7.1 was tried and left: ")
        # From here on a slow machine has the time that it needs to see a version end.
        site.config.write_text(site.config.read_text().replace("readyWithin: 5s", "readyWithin: 240s"))
        site.want("")
        site.restart()
        until(lambda: not site.record.failures)
        wish = a_wheel(tmp_path, "7.0", {APP: moody})
        site.want(wish)
        says(site, "7.0 was tried and left: it ended with status 1 before it was healthy, 3 times in a row")
        blessed.touch()
        site.want("")
        until(lambda: site.version == f"fairway-{__version__}")
        site.want(wish)
        says(site, "7.0 was tried and left")

        site.restart()

        until(lambda: site.runs("7.0"))
