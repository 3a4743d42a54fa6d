"""Two agents with the same id: one is at work, the other stands by; never both."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from fairway.agent.status import NoStatus, read_state
from fairway.model.deployment import DeploymentStatus
from tests.acceptance.agent.lines import Line
from tests.acceptance.agent.sites import Site, kill, plugin_hosts, terminate, until
from tests.acceptance.server.processes import FAIRWAY, ServerProcess, a_server
from tests.integration.agent.running import an_application_file, script
from tests.integration.git.repositories import Origin, an_origin
from tests.patience import PATIENCE_SECONDS


class Pair(Site):
    """A site with a second agent, which has data and a line to the server of its own."""

    def __init__(self, folder: Path, origin: Origin, stack: ExitStack, lease_seconds: int) -> None:
        self._lease_seconds = lease_seconds
        super().__init__(folder, origin, stack)
        until(lambda: self.role(self.data) == "active")
        self.second_data = folder / "second"
        second = stack.enter_context(Line.to(self.server.address))
        config = folder / "second.yaml"
        config.write_text(self.config.read_text().replace(self.line.address, second.address))
        command = (FAIRWAY, "agent", "--config-file", config, "--insecure", "--data", self.second_data)
        with open(folder / "second-said", "wb") as said:
            self.second = subprocess.Popen(
                command, stdout=said, stderr=said, env={**os.environ, "PYTHONUNBUFFERED": "1"}
            )
        stack.callback(self.second.wait, timeout=PATIENCE_SECONDS)
        stack.callback(self.second.terminate)
        # Both know of each other now, so that the first one makes room in time.
        until(lambda: self.role(self.second_data) == "standby")
        until(lambda: "another agent stands by" in self.reason(self.data))

    def role(self, data: Path) -> str:
        """How an agent stands, as `fairway agent status` says it."""
        return self._told(data)[0]

    def reason(self, data: Path) -> str:
        """The same in words."""
        return self._told(data)[1]

    def _told(self, data: Path) -> tuple[str, str]:
        try:
            lease = read_state(data).lease
        except NoStatus:
            return "", ""
        return lease.role, lease.reason

    def _serve(self, listen: str, http_listen: str) -> ServerProcess:
        options = ("--http-listen", http_listen, "--lease-seconds", str(self._lease_seconds))
        return self._stack.enter_context(a_server(self.folder / "server", *options, listen=listen))


#: Tells each of its beginnings, whether it runs a second time meanwhile, and, when it is asked to end, its end; goes on
#: until it is let go. The kernel lets go of the lock with the last process that has it, however that ends.
PATIENT = (
    "trap 'echo ended >> {0}/ran-{1}; exit 1' TERM; exec 9> {0}/lock-{1}; "
    "if flock -n 9; then echo began >> {0}/ran-{1}; else echo twice >> {0}/ran-{1}; fi; "
    "while [ ! -e {0}/go ]; do sleep 0.05; done; echo done >> {0}/ran-{1}"
)


@contextmanager
def a_pair(folder: Path, lease_seconds: int) -> Iterator[Pair]:
    """Two agents and two applications, each with a script that waits: one may be run again, the other may not."""
    files = {
        f"{kind}/app.pipecd.yaml": an_application_file(script(PATIENT.format(folder, kind), onInterrupted=kind))
        for kind in ("fail", "run-again")
    }
    origin = an_origin(folder, files)
    with ExitStack() as stack:
        # Also what nobody waits for any more comes to its end.
        stack.callback((folder / "go").touch)
        yield Pair(folder, origin, stack, lease_seconds)


def ran(folder: Path, kind: str) -> list[str]:
    """What the scripts of an application have told."""
    file = folder / f"ran-{kind}"
    return file.read_text().split() if file.exists() else []


def ran_one_after_the_other(told: list[str]) -> bool:
    """Whether a script that was ended was run again, never twice at once, and ended well in the end."""
    *before, last = [word for word in told if word != "ended"]
    return len(before) > 1 and set(before) == {"began"} and last == "done"


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
