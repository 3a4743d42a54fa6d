"""Many small deployments, somebody who kills whatever they depend on, and a judge of how each of them went.

The judge derives what must have happened from the stages alone: which scripts ran, once each, and in which order; what
was undone; which logs are whole; and how the deployment ended. When all have ended, nobody waits for a script any more.
"""

import os
import random
import signal
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from fairway.cli.remote import Unreachable
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.stage import Stage, StageStatus
from tests.acceptance.agent.sites import Site, alive_processes, command_line, descendants, kill, plugin_hosts, terminate
from tests.integration.agent.running import an_application_file, script

#: Lines that each script writes.
LINES = 50
WHOLE = [str(number) for number in range(1, LINES + 1)]
SUCCEEDED, FAILED, NOT_STARTED = StageStatus.SUCCEEDED, StageStatus.FAILED, StageStatus.NOT_STARTED


class Kind(NamedTuple):
    """A sort of application: how each of its scripts ends, and how long one takes."""

    ends: tuple[str, ...]
    seconds: float = 0.02
    undo: bool = True


#: The one that takes long is there to be cancelled.
KINDS = {
    "plain": Kind(("true",), undo=False),
    "undone": Kind(("true", "exit 1", "true")),
    "chain": Kind(("true", "true")),
    "slow": Kind(("true", "true"), seconds=2.0),
}


def kind_of(application: str) -> Kind:
    """What sort of application it is, by its name."""
    return KINDS[application.partition("-")[0]]


def a_file(name: str, ran: Path) -> str:
    """The file of an application whose scripts note that they ran, and so does what undoes them."""
    kind = kind_of(name)

    def noting(number: int, end: str) -> str:
        note = f"echo $SR_DEPLOYMENT_ID $SR_APPLICATION_NAME {{}} >> {ran}"
        over = note.format(f"{number}-over")
        run = f"{note.format(number)}; seq {LINES}; sleep {kind.seconds}; {over}; {end}"
        undo = {"onRollback": note.format(f"undo-{number}")} if kind.undo else {}
        return script(run, **undo)

    stages = (noting(number, end) for number, end in enumerate(kind.ends))
    return an_application_file(*stages).replace("name: web", f"name: {name}")


class Killer:
    """Kills one process after the other, and starts again what nobody else does."""

    def __init__(self, site: Site, chance: random.Random) -> None:
        self._site = site
        self._chance = chance
        self.killed: Counter[str] = Counter()
        self._ways: dict[str, Callable[[], bool]] = {
            "agent": lambda: self._kill([site.agent_proper]),
            "launcher": self._launcher,
            "launcher and agent": lambda: self._kill([site.agent_proper]) and self._launcher(),
            "agent, asked": self._asked,
            "plugins": lambda: self._kill(plugin_hosts(site.agent.pid)),
            "server": self._server,
            "launcher and server": self._launcher_and_server,
            "git": lambda: self._kill(self._started_by_agent("git")),
            "script": lambda: self._kill(self.scripts()),
            "agent, paused": lambda: self._pause([site.agent_proper]),
            "plugins, paused": lambda: self._pause(plugin_hosts(site.agent.pid)),
            "script, paused": lambda: self._pause(self.scripts()),
            "all three, paused": self._pause_all,
        }

    def kill_one(self) -> None:
        """Kill or pause a process that is there."""
        while True:
            way = self._chance.choice(list(self._ways))
            if self._ways[way]():
                self.killed[way] += 1
                return

    def _launcher(self) -> bool:
        # The agent goes with it.
        kill(self._site.agent)
        self._site.start_agent()
        return True

    def _asked(self) -> bool:
        terminate(self._site.agent)
        self._site.start_agent()
        return True

    def _server(self) -> bool:
        self._site.server.kill()
        self._site.start_server()
        return True

    def _launcher_and_server(self) -> bool:
        self._site.server.kill()
        self._launcher()
        self._site.start_server()
        return True

    def _started_by_agent(self, program: str) -> list[int]:
        return [each for each in descendants(self._site.agent.pid) if command_line(each).startswith(program)]

    def scripts(self) -> list[int]:
        """Those who run scripts and those who wait for them; not what a script has started, which is its own affair."""
        ours = os.fsdecode(self._site.data / "plugins")
        return [pid for pid, line in alive_processes() if ours in line and line.startswith("/bin/sh ")]

    def _pause_all(self) -> bool:
        return self._pause([*self.scripts(), *plugin_hosts(self._site.agent.pid), self._site.agent_proper])

    def _pause(self, pids: Iterable[int]) -> bool:
        """Stop processes for as long as the server takes for a list; shorter than any lease."""
        found = [pid for pid in pids if _signalled(pid, signal.SIGSTOP)]
        try:
            with suppress(Unreachable):
                self._site.deployments()
        finally:
            for pid in found:
                _signalled(pid, signal.SIGCONT)
        return bool(found)

    def _kill(self, pids: Iterable[int]) -> bool:
        found = sorted(pids)
        if not found:
            return False
        try:
            os.kill(self._chance.choice(found), signal.SIGKILL)
        except ProcessLookupError:
            return False
        return True


def _signalled(pid: int, number: int) -> bool:
    """Send a signal; whether the process was there."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)
        return True
    return False


class Evidence(NamedTuple):
    """What is known of one deployment beside what the server says."""

    deployment: Deployment
    #: How often each script ran, by its mark.
    runs: Counter[str]
    #: Stage id → the numbers in its log.
    logs: dict[str, list[str]]

    def ran(self, mark: object) -> int:
        """How often a script ran."""
        return self.runs[f"{self.deployment.id} {self.deployment.application_name} {mark}"]


def complaints(evidence: Evidence) -> list[str]:
    """What is wrong with a deployment; nothing when it went as its stages imply."""
    deployment = evidence.deployment
    forward = [stage for stage in deployment.stages if not stage.is_rollback]
    undoing = {stage.index: stage for stage in deployment.stages if stage.is_rollback}
    found = [_order(forward), _status(deployment, forward)]
    for stage in forward:
        found.append(_forward(evidence, stage))
        if stage.index in undoing:
            found.append(_undone(evidence, stage, undoing[stage.index]))
    return [f"{deployment.application_name} {deployment.id}: {each}" for each in found if each]


def out_of_turn(notes: list[str]) -> list[str]:
    """Which scripts began or ended beside others of their deployment, or of another one of their application."""
    begun: dict[str, dict[str, list[str]]] = {}
    found = []
    for deployment_id, application, mark in (note.split() for note in notes):
        marks = begun.setdefault(application, {}).setdefault(deployment_id, [])
        if deployment_id != next(reversed(begun[application])):
            found.append(f"{application} {deployment_id}: {mark} ran after the next deployment had begun")
        # From the first to the last, and then what undoes them in the same order.
        if marks and _place(mark) < _place(marks[-1]):
            found.append(f"{application} {deployment_id}: {mark} ran after {marks[-1]}")
        marks.append(mark)
    return found


def _place(mark: str) -> tuple[bool, str]:
    return mark.startswith("undo-"), mark


def _order(forward: list[Stage]) -> str:
    left = [stage.status for stage in forward if stage.status is not SUCCEEDED]
    return f"stages after one that did not succeed: {left}" if set(left[1:]) - {NOT_STARTED} else ""


def _status(deployment: Deployment, forward: list[Stage]) -> str:
    statuses = [stage.status for stage in forward]
    implied = DeploymentStatus.CANCELLED
    if FAILED in statuses:
        implied = DeploymentStatus.FAILED
    elif statuses and set(statuses) == {SUCCEEDED}:
        implied = DeploymentStatus.SUCCEEDED
    if implied is DeploymentStatus.CANCELLED and not deployment.application_name.startswith("slow"):
        return f"nobody cancelled it, and yet: {statuses} ({deployment.status_reason})"
    return "" if deployment.status is implied else f"ended as {deployment.status}, its stages as {statuses}"


def _forward(evidence: Evidence, stage: Stage) -> str:
    ran, log = evidence.ran(stage.index), evidence.logs[stage.id]
    as_written = kind_of(evidence.deployment.application_name).ends[stage.index] == "true"
    said = f"stage {stage.index} ({stage.status.value}: {stage.status_reason}) ran {ran}×, log of {len(log)}"
    if stage.status is NOT_STARTED:
        return said if ran or log else ""
    if stage.status is SUCCEEDED:
        return "" if as_written and ran == 1 and log == WHOLE else said
    if stage.status is StageStatus.CANCELLED or _was_killed(stage):
        return "" if ran <= 1 and log == WHOLE[: len(log)] else said
    return "" if not as_written and ran == 1 and log == WHOLE else said


def _undone(evidence: Evidence, stage: Stage, undo: Stage) -> str:
    ran, undone = evidence.ran(stage.index), evidence.ran(f"undo-{stage.index}")
    said = f"undo of stage {stage.index} ({undo.status.value}: {undo.status_reason}) ran {undone}×, the stage {ran}×"
    if evidence.deployment.status is DeploymentStatus.SUCCEEDED or stage.status is NOT_STARTED:
        return said if undo.status is not NOT_STARTED or undone else ""
    if _was_killed(undo):
        return "" if undone <= 1 else said
    # A script that was ended before its first command may have been noted as started; then it is undone too.
    return "" if undo.status is SUCCEEDED and ran <= undone <= 1 else said


def _was_killed(stage: Stage) -> bool:
    """Whether the script was killed, as its stage says."""
    told = ("ended by signal 9", "interrupted: ")
    return stage.status is FAILED and any(each in stage.status_reason for each in told)
