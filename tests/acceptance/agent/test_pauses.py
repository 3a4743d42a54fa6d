"""Processes of an agent that are stopped for a while (SIGSTOP, SIGCONT) while a second agent is on standby.

A short pause changes nothing. A pause beyond the lease means that the standby takes over: scripts of the paused agent
have ended before, and it starts and reports nothing when it continues.
"""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fairway.model.deployment import DeploymentStatus
from fairway.sdk.lease_file import read_lease
from tests.acceptance.agent.pairs import Pair, a_pair, ran, ran_one_after_the_other
from tests.acceptance.agent.sites import alive_processes, descendants, plugin_hosts, until


class Paused:
    """The processes of one agent."""

    def __init__(self, launcher: subprocess.Popen[bytes], data: Path) -> None:
        self._launcher = launcher
        self.data = data

    def agent(self) -> list[int]:
        return [each for each in descendants(self._launcher.pid) if each not in {*self.hosts(), *self.keepers()}][:1]

    def hosts(self) -> list[int]:
        return plugin_hosts(self._launcher.pid)

    def keepers(self) -> list[int]:
        folder = f"{self.data}/plugins/"
        return [pid for pid, line in alive_processes() if line.startswith("/bin/sh -c") and folder in line]

    def all(self) -> list[int]:
        return [*self.keepers(), *self.hosts(), *self.agent()]


@contextmanager
def stopped(pids: list[int]) -> Iterator[None]:
    assert pids
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            # The guard ends keepers also while they are stopped.
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def renewed(data: Path) -> None:
    """Wait until an agent has renewed its lease."""
    before = read_lease(data / "left-alone")
    until(lambda: read_lease(data / "left-alone") != before)


def begun(pair: Pair) -> int:
    """How often the script that may run again has begun."""
    return len([word for word in ran(pair.folder, "run-again") if word != "ended"])


def test_a_paused_agent_plugin_host_or_keeper_never_makes_a_script_run_twice_at_once(tmp_path: Path) -> None:
    with a_pair(tmp_path, lease_seconds=6) as pair:
        first, second = Paused(pair.agent, pair.data), Paused(pair.second, pair.second_data)
        pair.add_applications("fail", "run-again")
        until(lambda: ran(tmp_path, "fail") and ran(tmp_path, "run-again"))
        for short in (first.keepers(), first.hosts()):
            with stopped(short):
                renewed(pair.data)
        assert [ran(tmp_path, kind) for kind in ("fail", "run-again")] == [["began"]] * 2

        with stopped(first.agent()):
            until(lambda: begun(pair) == 2)
        until(lambda: pair.role(pair.data) == "standby")
        renewed(pair.second_data)
        with stopped(second.all()):
            until(lambda: begun(pair) == 3)
        until(lambda: pair.role(pair.second_data) == "standby")
        (tmp_path / "go").touch()
        ended = {each.application_name: each.status for each in (pair.ended(1), pair.ended(2))}

        assert ended == {"fail": DeploymentStatus.FAILED, "run-again": DeploymentStatus.SUCCEEDED}
        assert ran_one_after_the_other(ran(tmp_path, "run-again")), ran(tmp_path, "run-again")
        assert set(ran(tmp_path, "fail")) <= {"began", "ended"}
