"""A disk that is full: nothing is lost, the reason is said, and work goes on when there is room again."""

from pathlib import Path

import pytest

from fairway.model.deployment import DeploymentStatus
from fairway.model.stage import StageStatus
from tests.acceptance.agent.disks import a_small_disk
from tests.acceptance.agent.sites import How, a_site, alive_with, until
from tests.integration.agent.running import an_application_file, script

LINES = [str(number) for number in range(1, 301)]


def test_a_push_waits_for_room_and_the_agent_says_why(tmp_path: Path) -> None:
    file = an_application_file(script(f"cat version >> {tmp_path}/ran"))
    with (
        a_small_disk(tmp_path / "agent") as disk,
        a_site(tmp_path, {"web/app.pipecd.yaml": file, "web/version": "1\n"}, How(disk=disk)) as site,
    ):
        site.add_applications("web")
        site.ended()
        disk.fill()
        site.origin.commit({"web/version": "2\n", "web/large": "x" * 100_000})
        until(lambda: "No space left" in site.said.read_text())
        disk.free()
        deployment = site.ended(2)

    assert deployment.status is DeploymentStatus.SUCCEEDED, deployment.status_reason
    assert (tmp_path / "ran").read_text() == "1\n2\n"


@pytest.mark.parametrize("away", [pytest.param(False, id="alone"), pytest.param(True, id="with the server away")])
def test_what_a_script_did_on_a_full_disk_is_known_when_there_is_room(tmp_path: Path, away: bool) -> None:
    mark, go = tmp_path / "mark", tmp_path / "go"
    holds = f"seq 300; touch {mark}; while [ ! -e {go} ]; do sleep 0.02; done; exit 3"
    file = an_application_file(script(holds, onRollback=f"echo undone >> {tmp_path}/ran; seq 300"))
    with (
        a_small_disk(tmp_path / "agent") as disk,
        a_site(tmp_path, {"web/app.pipecd.yaml": file}, How(disk=disk)) as site,
    ):
        site.add_applications("web")
        until(mark.exists)
        disk.fill()
        if away:
            site.server.kill()
        go.touch()
        until(lambda: not alive_with(str(site.data / "plugins")))
        disk.free()
        if away:
            site.start_server()
        deployment = site.ended()
        site.all_told()

        assert deployment.status is DeploymentStatus.FAILED
        assert [stage.status for stage in deployment.stages] == [StageStatus.FAILED, StageStatus.SUCCEEDED]
        assert "exit status 3" in deployment.stages[0].status_reason
        assert [line for line in site.log(deployment, 0).splitlines() if line.isdigit()] == LINES
        assert [line for line in site.log(deployment, 1).splitlines() if line.isdigit()] == LINES
    assert (tmp_path / "ran").read_text() == "undone\n"
