"""Two agents with the same id: one is at work, the other stands by; never both."""

import os
import subprocess
from pathlib import Path

from fairway.model.deployment import DeploymentStatus
from tests.acceptance.agent.pairs import Pair, a_pair, ran, ran_one_after_the_other
from tests.acceptance.agent.sites import kill, plugin_hosts, terminate, until


def both_begin(pair: Pair) -> None:
    """Both scripts run, under the first agent."""
    pair.add_applications("fail", "run-again")
    until(lambda: ran(pair.folder, "fail") and ran(pair.folder, "run-again"))


def both_end_under_the_second(pair: Pair) -> None:
    """One is found interrupted; the other runs once more, when nothing of it is left under the first agent."""
    until(lambda: len([word for word in ran(pair.folder, "run-again") if word != "ended"]) > 1)
    (pair.folder / "go").touch()
    ended = {each.application_name: each.status for each in (pair.ended(1), pair.ended(2))}

    assert ended == {"fail": DeploymentStatus.FAILED, "run-again": DeploymentStatus.SUCCEEDED}
    assert ran_one_after_the_other(ran(pair.folder, "run-again")), ran(pair.folder, "run-again")
    assert set(ran(pair.folder, "fail")) <= {"began", "ended"}
    assert pair.role(pair.second_data) == "active"


def test_when_the_one_at_work_is_killed_its_scripts_end_before_the_other_takes_over(tmp_path: Path) -> None:
    with a_pair(tmp_path, lease_seconds=8) as pair:
        both_begin(pair)
        kill(pair.agent)

        both_end_under_the_second(pair)
        pair.origin.commit({"fail/other": "another commit"}, "again")
        assert pair.ended(3).status is DeploymentStatus.SUCCEEDED


def test_one_that_is_cut_off_has_ended_its_scripts_before_the_other_takes_over(tmp_path: Path) -> None:
    with a_pair(tmp_path, lease_seconds=8) as pair:
        both_begin(pair)
        pair.line.cut()

        both_end_under_the_second(pair)
        pair.line.mend()
        until(lambda: pair.role(pair.data) == "standby")
        assert f"another agent is active on host {os.uname().nodename}, pid" in pair.reason(pair.data)


def mirrored(data: Path) -> str:
    """The newest commit that an agent has fetched."""
    newest = ("git", f"--git-dir={data}/mirrors/r-1", "rev-parse", "--quiet", "--verify", "main")
    return subprocess.run(newest, capture_output=True, text=True, check=False).stdout.strip()


def test_one_that_stands_by_fetches_and_does_nothing_else_until_the_other_stops_and_is_not_waited_for(
    tmp_path: Path,
) -> None:
    # Longer than the test is patient: nobody is waited for until nothing has been heard of it.
    with a_pair(tmp_path, lease_seconds=600) as pair:
        newest = pair.origin.commit({"fail/other": "another commit"}, "again")
        until(lambda: mirrored(pair.second_data) == newest)
        assert (plugin_hosts(pair.second.pid), pair.role(pair.second_data)) == ([], "standby")
        assert terminate(pair.agent) == 0

        until(lambda: pair.role(pair.second_data) == "active")


def test_a_restarted_server_knows_who_is_at_work_and_its_script_goes_on(tmp_path: Path) -> None:
    with a_pair(tmp_path, lease_seconds=120) as pair:
        both_begin(pair)
        before = pair.reason(pair.data)
        pair.server.kill()
        pair.start_server()
        (tmp_path / "go").touch()
        ended = [pair.ended(number).status for number in (1, 2)]

        assert ended == [DeploymentStatus.SUCCEEDED] * 2
        assert [ran(tmp_path, kind) for kind in ("fail", "run-again")] == [["began", "done"]] * 2
        assert (pair.reason(pair.data), pair.role(pair.second_data)) == (before, "standby")
