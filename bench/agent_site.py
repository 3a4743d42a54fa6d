"""A server, an agent and a repository as a person starts them, and somebody who follows what becomes of deployments.

Deployments are followed by the server's own stream: asking again and again would take the time that is measured.
"""

import asyncio
import base64
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from bench.process import ServerProcess as Process
from fairway.cli.agent import NewAgent
from fairway.cli.profiles import Profile
from fairway.cli.remote import Remote, Unreachable
from fairway.model.application import Application, ApplicationKind, GitPath, Repository
from fairway.model.deployment import DeploymentStatus
from fairway.server.store import applications
from fairway.server.store.store import Store
from tests.acceptance.server.processes import a_server
from tests.integration.git.repositories import Origin, an_origin

_PATIENCE_SECONDS = 300.0
_TICKS = os.sysconf("SC_CLK_TCK")


class AgentSite:
    """One server with one agent, which watches one repository; an application for each directory of it.

    `plugins` are what the agent's file says of them, beside those that every agent has; the applications go to all
    deploy targets of these.
    """

    def __init__(
        self, folder: Path, files: Mapping[str, str], stack: ExitStack, plugins: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        self.folder = folder
        self.origin: Origin = an_origin(folder, files)
        self.server = stack.enter_context(a_server(folder / "server"))
        profile = Profile(server=self.server.http, api_key=self.server.api_key)
        remote = stack.enter_context(Remote(profile))
        made = msgspec.json.decode(remote.send("POST", "/agents", {"name": "near"}), type=NewAgent)
        names = {file.split("/")[0] for file in files}
        targets = {each["name"]: tuple(one["name"] for one in each["deployTargets"]) for each in plugins}
        asyncio.run(_register(folder / "server", made.agent.id, names, targets))
        self.ends = Ends(Remote(profile))
        stack.callback(self.ends.close)
        (folder / "agent.yaml").write_text(_config(self, made, plugins))
        command = (sys.executable, "-m", "fairway.cli", "agent", "--config-file", folder / "agent.yaml", "--insecure")
        with open(folder / "said", "wb") as said:
            self.agent = subprocess.Popen((*command, "--data", folder / "agent"), stdout=said, stderr=said)
        stack.callback(self._stop)

    def processes(self) -> list[Process]:
        """The agent with its launcher and its plugins, without what runs for a moment."""
        found, unseen = [], [self.agent.pid]
        while unseen:
            pid = unseen.pop()
            with suppress(OSError):
                if "python" in os.readlink(f"/proc/{pid}/exe"):
                    found.append(Process(pid, 0, 0, ""))
                    unseen += map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
        return found

    def cpu_seconds(self) -> float:
        """What they and what they have started have computed."""
        return sum(map(_with_children, self.processes()))

    def cpu_share(self, seconds: float) -> float:
        """How much of a core they take, from now on for so long."""
        before, start = self.cpu_seconds(), time.monotonic()
        time.sleep(seconds)
        return (self.cpu_seconds() - before) / (time.monotonic() - start)

    def megabytes(self) -> float:
        """What they hold in memory."""
        return sum(each.megabytes() for each in self.processes())

    def most_megabytes(self) -> float:
        """The most that each of them ever held."""
        return sum(each.most_megabytes() for each in self.processes())

    def _stop(self) -> None:
        self.agent.terminate()
        self.agent.wait(timeout=60)


class Ends(threading.Thread):
    """Hears how deployments end."""

    def __init__(self, remote: Remote) -> None:
        super().__init__(daemon=True)
        self._remote = remote
        self._heard = threading.Condition()
        self._ended: set[str] = set()
        self.start()

    def wait(self, number: int) -> int:
        """How many deployments have ended, once there are so many."""
        with self._heard:
            assert self._heard.wait_for(lambda: len(self._ended) >= number, _PATIENCE_SECONDS), "it did not happen"
            return len(self._ended)

    def run(self) -> None:
        """Listen until closed."""
        with suppress(Unreachable), self._remote.stream("/stream", {"topic": ["deployments"]}) as chunks:
            left = b""
            for chunk in chunks:
                *whole, left = (left + chunk).split(b"\n\n")
                ended = {each.id for each in map(_deployment, whole) if each and each.status.is_terminal}
                with self._heard:
                    self._ended |= ended
                    self._heard.notify_all()

    def close(self) -> None:
        """Hang up."""
        self._remote.__exit__()


class _Deployment(msgspec.Struct):
    id: str
    status: DeploymentStatus


def _deployment(event: bytes) -> _Deployment | None:
    for line in event.split(b"\n"):
        if line.startswith(b"data:") and b'"status"' in line:
            with suppress(msgspec.DecodeError):
                return msgspec.json.decode(line[5:], type=_Deployment)
    return None


@contextmanager
def an_agent_site(
    folder: Path, files: Mapping[str, str], plugins: Sequence[Mapping[str, Any]] = ()
) -> Iterator[AgentSite]:
    """A site with a repository of these files; everything is ended with the block."""
    with ExitStack() as stack:
        yield AgentSite(folder, files, stack, plugins)


async def _register(data: Path, agent_id: str, names: Iterable[str], targets: Mapping[str, tuple[str, ...]]) -> None:
    """Register applications as the server would, but thousands in a moment."""
    store, now = await Store.open(f"sqlite:///{data / 'fairway.db'}"), datetime.now(UTC)
    made = [
        Application(
            id=f"application-{name}",
            name=name,
            agent_id=agent_id,
            project_id="default",
            git_path=GitPath(repository=Repository(id="r-1"), path=name, config_filename="app.pipecd.yaml"),
            kind=ApplicationKind.KUBERNETES,
            deploy_targets_by_plugin=dict(targets),
            created_at=now,
            updated_at=now,
        )
        for name in names
    ]

    async def insert(application: Application) -> None:
        await store.write(lambda connection: applications.insert_application(connection, application))

    await asyncio.gather(*map(insert, made))
    await store.close()


def _config(site: AgentSite, made: NewAgent, plugins: Sequence[Mapping[str, Any]]) -> str:
    return f"""
apiVersion: pipecd.dev/v1beta1
kind: Piped
spec:
  projectID: default
  pipedID: {made.agent.id}
  pipedKeyData: {base64.b64encode(made.key.encode()).decode()}
  apiAddress: {site.server.address}
  repositories:
    - repoId: r-1
      remote: {site.origin.bare}
      branch: main
  plugins: {json.dumps(plugins)}
"""


def _with_children(process: Process) -> float:
    with suppress(OSError):
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / _TICKS
    return 0.0
