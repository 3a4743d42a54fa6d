"""A server process with one agent's work on it, and the `fairway` command of a person who uses it.

The agent is played over gRPC, call by call, so that a test decides what happens when.
"""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import grpc

from fairway.agent import reports
from fairway.model.application import ApplicationKind, SyncState
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.live_state import Health, LiveState, LiveStateVersion, Resource
from fairway.model.log_block import LogBlock, LogSeverity
from fairway.model.plan import Plan
from fairway.model.stage import Stage, StageStatus
from fairway.model.trigger import SyncStrategy
from fairway.rpc.agent_api import AgentStub
from fairway.rpc.agent_api import messages as agent_messages
from fairway.rpc.convert.deployment import DEPLOYMENT_STATUSES, to_wire_deployment, to_wire_planned
from fairway.rpc.convert.log_block import to_wire_log_block
from fairway.rpc.convert.stage import STAGE_STATUSES
from fairway.rpc.user_api import UserStub
from fairway.rpc.user_api import messages as user_messages
from tests.acceptance.server.processes import FAIRWAY, ServerProcess, a_server
from tests.patience import PATIENCE_SECONDS
from tests.unit.model.builders import a_commit, a_deployment, a_git_path, a_stage, a_trigger

#: Runs the rest of its arguments as a program that Ctrl-C ends.
_INTERRUPTIBLE = (
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
)
#: Variables that would change what a command does or how it looks.
_FOREIGN = ("FAIRWAY_", "XDG_", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TERM")


class Site:
    """One server, one person with a home directory."""

    def __init__(self, server: ServerProcess, home: Path, key: str) -> None:
        self.server = server
        self.home = home
        self.key = key

    def environment(self, **more: str) -> dict[str, str]:
        """What a command finds: nothing of what the person who runs the tests has set for it."""
        ours = {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}
        known = {"HOME": str(self.home), "FAIRWAY_SERVER": self.server.http, "FAIRWAY_API_KEY": self.key}
        return {**ours, **known, "LANG": "C.UTF-8", "TZ": "UTC", **more}

    def run(self, *arguments: str | Path, stdin: str | bytes = b"", **more: str) -> subprocess.CompletedProcess[str]:
        """Call the command and wait for its end."""
        given = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run(
            [FAIRWAY, *arguments], input=given, capture_output=True, env=self.environment(**more), check=False
        )
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    def ok(self, *arguments: str | Path, stdin: str | bytes = b"", **more: str) -> str:
        """What the command prints when it ends well."""
        done = self.run(*arguments, stdin=stdin, **more)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def shell(self, command: str, stdin: str = "", **more: str) -> str:
        """What a person sees of a line typed into a shell; the server is known by a profile or not at all."""
        environment = self.environment(FAIRWAY_SERVER="", FAIRWAY_API_KEY="", **more)
        environment["PATH"] = f"{FAIRWAY.parent}:{environment['PATH']}"
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    @contextmanager
    def running(self, *arguments: str, **more: str) -> Iterator["Running"]:
        """Call the command and let it run; it is killed at the end of the block, or when it hangs."""
        process = subprocess.Popen(
            # A shell in the background lets nobody be interrupted, and processes inherit that. Undone by a program and
            # not between fork and exec: gRPC in this process writes to the child's output when it is forked.
            [sys.executable, "-c", _INTERRUPTIBLE, FAIRWAY, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment(**more),
        )
        watchdog = threading.Timer(2 * PATIENCE_SECONDS, process.kill)
        watchdog.start()
        try:
            yield Running(process)
        finally:
            watchdog.cancel()
            process.kill()
            process.communicate()


class Running(NamedTuple):
    """A command under way."""

    process: "subprocess.Popen[str]"

    def line(self) -> str:
        """Its next line, without the break; empty once it has ended."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip("\n")

    def end(self) -> tuple[int, str, str]:
        """How it ends, and what it says until then."""
        said, complained = self.process.communicate()
        return self.process.returncode, said, complained


@contextmanager
def a_site(folder: Path) -> Iterator[Site]:
    """A new server, and an empty home."""
    (folder / "home").mkdir()
    with a_server(folder / "data") as server:
        yield Site(server, folder / "home", server.api_key)


@contextmanager
def started_again(site: Site, folder: Path) -> Iterator[None]:
    """The same server at the same addresses, after somebody has killed it."""
    http = site.server.http.removeprefix("http://")
    with a_server(folder / "data", "--http-listen", http, listen=site.server.address):
        yield


class PlayedAgent:
    """An agent, one call at a time."""

    def __init__(self, address: str, id: str, key: str) -> None:
        self.id = id
        self.key = key
        self._stub = AgentStub(grpc.insecure_channel(address))  # type: ignore[arg-type]  # serves both ways of calling
        self._metadata = (("authorization", f"PIPED-TOKEN default,{id},{key}"),)

    def call(self, method: str, request: Any) -> Any:
        return getattr(self._stub, method)(request, metadata=self._metadata, wait_for_ready=True)

    def start(self, public_key: str = "") -> None:
        meta = agent_messages.ReportPipedMetaRequest(version="v1.2.3", config="kind: Piped")
        for name in ("cluster", "another"):
            meta.platform_providers.add(name=name, type="KUBERNETES")
        repository = meta.repositories.add()
        repository.id, repository.remote, repository.branch = "shop", "https://git.example.com/shop.git", "main"
        if public_key:
            meta.secret_encryption.type, meta.secret_encryption.public_key = "KEY_PAIR", public_key
        self.call("ReportPipedMeta", meta)

    def deploy(self, application_id: str, id: str, stages: tuple[Stage, ...], **fields: Any) -> Deployment:
        """Create a deployment, plan it and say that it runs."""
        now = datetime.now(UTC)
        begun = a_deployment(
            id=id,
            application_id=application_id,
            agent_id=self.id,
            project_id="default",
            kind=ApplicationKind.KUBERNETES,
            platform_provider="cluster",
            git_path=a_git_path(),
            trigger=a_trigger(commit=a_commit(hash="c0ffee1234", created_at=now), at=now),
            created_at=now,
            updated_at=now,
            **fields,
        )
        self.call("CreateDeployment", agent_messages.CreateDeploymentRequest(deployment=to_wire_deployment(begun)))
        plan = Plan(sync_strategy=SyncStrategy.PIPELINE, summary="Version 2 of cart", stages=stages)
        self.call("ReportDeploymentPlanned", to_wire_planned(begun, plan))
        self.report(id, DeploymentStatus.RUNNING)
        return begun

    def look(self, application_id: str, sync: SyncState, health: Health, *resources: Resource) -> None:
        """Say how what runs compares with Git, and what runs."""
        live = LiveState(
            application_id=application_id,
            agent_id=self.id,
            project_id="default",
            version=LiveStateVersion(at=sync.at),
            health=health,
            resources=resources,
        )
        for report in (reports.sync_state(application_id, sync), reports.live_state(live)):
            self.call(report.method, report.request)

    def report(self, id: str, status: DeploymentStatus, reason: str = "") -> None:
        request = agent_messages.ReportDeploymentStatusChangedRequest(deployment_id=id, status_reason=reason)
        request.status = DEPLOYMENT_STATUSES.to_wire(status)
        self.call("ReportDeploymentStatusChanged", request)

    def complete(self, id: str, status: DeploymentStatus, reason: str = "") -> None:
        request = agent_messages.ReportDeploymentCompletedRequest(deployment_id=id, status_reason=reason)
        request.status = DEPLOYMENT_STATUSES.to_wire(status)
        request.completed_at = int(datetime.now(UTC).timestamp())
        self.call("ReportDeploymentCompleted", request)

    def stage(self, id: str, stage_id: str, status: StageStatus, reason: str = "") -> None:
        request = agent_messages.ReportStageStatusChangedRequest(
            deployment_id=id, stage_id=stage_id, status_reason=reason, visible=True
        )
        request.status = STAGE_STATUSES.to_wire(status)
        # Agents send a time always; it counts only with an end.
        request.completed_at = int(datetime.now(UTC).timestamp())
        if status.is_terminal:
            ended = agent_messages.ReportStageLogsFromLastCheckpointRequest(deployment_id=id, stage_id=stage_id)
            ended.completed = True
            self.call("ReportStageLogsFromLastCheckpoint", ended)
        self.call("ReportStageStatusChanged", request)

    def log(
        self, id: str, stage_id: str, *lines: str, first: int = 1, severity: LogSeverity = LogSeverity.INFO
    ) -> None:
        request = agent_messages.ReportStageLogsRequest(deployment_id=id, stage_id=stage_id)
        for index, line in enumerate(lines, first):
            block = LogBlock(index=index, log=line, created_at=datetime.now(UTC), severity=severity)
            request.blocks.append(to_wire_log_block(block))
        self.call("ReportStageLogs", request)


def an_agent(site: Site, name: str = "near") -> PlayedAgent:
    """Register an agent and let it introduce itself."""
    stub, metadata = _user(site)
    made = stub.RegisterPiped(user_messages.RegisterPipedRequest(name=name), metadata=metadata)
    agent = PlayedAgent(site.server.address, made.id, made.key)
    agent.start()
    return agent


def an_application(site: Site, agent: PlayedAgent, name: str = "cart") -> str:
    """Register an application of that agent."""
    stub, metadata = _user(site)
    request = user_messages.AddApplicationRequest(name=name, piped_id=agent.id, platform_provider="cluster")
    request.git_path.repo.id, request.git_path.path = "shop", f"apps/{name}"
    return str(stub.AddApplication(request, metadata=metadata).application_id)


def stages(*names: str) -> tuple[Stage, ...]:
    """Stages in this order, each after the one before."""
    now = datetime.now(UTC)
    return tuple(
        a_stage(f"stage-{number}", name=name, index=number, created_at=now, updated_at=now)
        for number, name in enumerate(names)
    )


def _user(site: Site) -> tuple[Any, tuple[tuple[str, str], ...]]:
    return UserStub(grpc.insecure_channel(site.server.address)), (("authorization", f"API-KEY {site.key}"),)  # type: ignore[arg-type]  # as above
