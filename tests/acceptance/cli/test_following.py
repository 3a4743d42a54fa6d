"""Following a deployment: logs as they are written, waiting for a status, losing the server in the middle."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from fairway.model.deployment import DeploymentStatus
from fairway.model.stage import StageStatus
from tests.acceptance.cli.sites import PlayedAgent, Site, a_site, an_agent, an_application, stages, started_again


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with a_site(tmp_path_factory.mktemp("site")) as site:
        yield site


def a_running_deployment(site: Site, id: str) -> PlayedAgent:
    """Of an application of its own: its first stage has begun, its second has not."""
    agent = an_agent(site, id)
    agent.deploy(an_application(site, agent, f"of-{id}"), id, stages("CANARY", "PRIMARY"))
    agent.stage(id, "stage-0", StageStatus.RUNNING)
    return agent


def test_logs_are_followed_through_the_stages_to_the_end(site: Site) -> None:
    agent = a_running_deployment(site, "followed")
    agent.log("followed", "stage-0", "one")

    with site.running("deployment", "logs", "-f", "followed") as following:
        assert following.line() == "CANARY  │ one"
        agent.log("followed", "stage-0", "two", first=2)
        assert following.line() == "CANARY  │ two"
        agent.stage("followed", "stage-0", StageStatus.SUCCEEDED)
        agent.stage("followed", "stage-1", StageStatus.RUNNING)
        agent.log("followed", "stage-1", "three\nfour")
        assert [following.line(), following.line()] == ["PRIMARY │ three", "PRIMARY │ four"]
        agent.stage("followed", "stage-1", StageStatus.SUCCEEDED)
        agent.complete("followed", DeploymentStatus.SUCCEEDED)

        assert following.end() == (0, "", "deployment followed succeeded\n")


def test_a_block_that_comes_late_is_not_lost(site: Site) -> None:
    agent = a_running_deployment(site, "late")
    agent.log("late", "stage-0", "three", first=3)

    with site.running("deployment", "logs", "-f", "late", "--stage", "CANARY") as following:
        assert following.line() == "three"
        agent.log("late", "stage-0", "one", "two", first=1)
        agent.stage("late", "stage-0", StageStatus.FAILED, "no pods")
        agent.complete("late", DeploymentStatus.FAILED, "CANARY failed")

        assert following.end() == (1, "one\ntwo\n", "fairway: deployment late failed: CANARY failed\n")


def test_a_server_that_is_killed_and_started_again_costs_no_line_and_repeats_none(tmp_path: Path) -> None:
    with a_site(tmp_path) as site:
        agent = a_running_deployment(site, "d-1")
        agent.log("d-1", "stage-0", "one")
        with site.running("deployment", "logs", "-f", "d-1") as following:
            assert following.line() == "CANARY  │ one"
            site.server.kill()
            with started_again(site, tmp_path):
                agent.log("d-1", "stage-0", "two", first=2)
                assert following.line() == "CANARY  │ two"
                agent.stage("d-1", "stage-0", StageStatus.SUCCEEDED)
                agent.complete("d-1", DeploymentStatus.SUCCEEDED)
                code, said, complained = following.end()

    assert (code, said) == (0, "")
    assert complained.endswith("deployment d-1 succeeded\n")


def test_an_interrupt_leaves_at_once(site: Site) -> None:
    agent = a_running_deployment(site, "left")
    agent.log("left", "stage-0", "one")

    with site.running("deployment", "logs", "-f", "left") as following:
        following.line()
        following.process.send_signal(signal.SIGINT)

        assert following.end() == (130, "", "")


def test_waiting_ends_well_only_with_the_wanted_status(site: Site) -> None:
    agent = a_running_deployment(site, "wanted")

    with site.running("deployment", "wait", "wanted") as waiting:
        assert waiting.line()[9:] == "deployment running"
        assert waiting.line()[9:] == "CANARY running"
        agent.stage("wanted", "stage-0", StageStatus.SUCCEEDED)
        assert waiting.line()[9:] == "CANARY succeeded"
        agent.complete("wanted", DeploymentStatus.SUCCEEDED, "Deployed")

        code, said, complained = waiting.end()

    assert (code, complained) == (0, "")
    assert said.splitlines()[-1][9:] == "deployment succeeded: Deployed"


def test_waiting_for_the_end_sees_the_rollback_through_and_says_the_reason_once(site: Site) -> None:
    agent = a_running_deployment(site, "undone")

    with site.running("deployment", "wait", "undone") as waiting:
        assert [waiting.line()[9:], waiting.line()[9:]] == ["deployment running", "CANARY running"]
        agent.stage("undone", "stage-0", StageStatus.FAILED, "no pods")
        assert waiting.line()[9:] == "CANARY failed: no pods"
        agent.report("undone", DeploymentStatus.ROLLING_BACK, "CANARY failed")
        assert waiting.line()[9:] == "deployment rolling back: CANARY failed"
        agent.complete("undone", DeploymentStatus.FAILED, "CANARY failed; rolled back")
        code, said, complained = waiting.end()

    assert (code, [line[9:] for line in said.splitlines()]) == (1, ["deployment failed"])
    assert complained == "fairway: deployment undone failed: CANARY failed; rolled back\n"


def test_waiting_in_vain_for_a_status_ends_before_the_deployment_does(site: Site) -> None:
    agent = a_running_deployment(site, "in-vain")

    with site.running("deployment", "wait", "in-vain", "--status", "succeeded", "--json") as waiting:
        agent.report("in-vain", DeploymentStatus.ROLLING_BACK, "CANARY failed")
        code, said, complained = waiting.end()

    assert (code, json.loads(said)["status"]) == (1, "rolling_back")
    assert complained == ("fairway: deployment in-vain is rolling back and cannot become succeeded: CANARY failed\n")


def test_waiting_gives_up_in_time(site: Site) -> None:
    a_running_deployment(site, "slow")

    done = site.run("deployment", "wait", "slow", "--timeout", "500ms")

    assert (done.returncode, done.stderr) == (1, "fairway: deployment slow is still running; waited long enough\n")
