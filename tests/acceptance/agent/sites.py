"""A server process, an agent process and a repository, as a person starts them; each can be killed and come back."""

import base64
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from fairway.cli.agent import NewAgent
from fairway.cli.profiles import Profile
from fairway.cli.remote import Remote, Unreachable, segments
from fairway.model.deployment import Deployment
from tests.acceptance.agent.disks import SmallDisk
from tests.acceptance.agent.lines import Line
from tests.acceptance.server.processes import FAIRWAY, ServerProcess, a_server
from tests.integration.git.repositories import Origin, an_origin
from tests.patience import PATIENCE_SECONDS

T = TypeVar("T")

#: Succeeds when an outbox has nothing left to send.
_NOTHING_KEPT = """
import sqlite3, sys
file = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
sys.exit(file.execute("SELECT COUNT(*) FROM kept").fetchone() != (0,))
"""


class Site:
    """One server with one agent, which watches one repository."""

    def __init__(self, folder: Path, origin: Origin, stack: ExitStack, how: "How | None" = None) -> None:
        self.folder = folder
        self.origin = origin
        self._stack = stack
        self._how = how or How()
        self.server = self._serve("127.0.0.1:0", "127.0.0.1:0")
        #: Between the agent and the server.
        self.line = stack.enter_context(Line.to(self.server.address))
        self._remote = Remote(Profile(server=self.server.http, api_key=self.server.api_key))
        stack.enter_context(self._remote)
        made = msgspec.json.decode(self._remote.send("POST", "/agents", {"name": "near"}), type=NewAgent)
        self.agent_id = made.agent.id
        self.config = folder / "agent.yaml"
        self.config.write_text(self._config(made.key))
        self.agent = self.start_agent()

    def _config(self, key: str) -> str:
        return f"""
apiVersion: pipecd.dev/v1beta1
kind: Piped
spec:
  projectID: default
  pipedID: {self.agent_id}
  pipedKeyData: {base64.b64encode(key.encode()).decode()}
  apiAddress: {self.line.address}
  repositories: {self._how.repositories or f"[{{repoId: r-1, remote: {self.origin.bare}, branch: main}}]"}
  plugins: {self._how.plugins}
  {self._how.settings}
"""

    def start_agent(self, *before: str) -> subprocess.Popen[bytes]:
        """Start an agent with the data of the one before; `before` stands in front of its command."""
        command: tuple[str | Path, ...] = (
            *(self._how.disk.inside if self._how.disk else ()),
            *before,
            FAIRWAY,
            "agent",
            *(() if self._how.file_in_environment else ("--config-file", self.config)),
            "--insecure",
            "--data",
            self.data,
        )
        environment = {**os.environ, "PYTHONUNBUFFERED": "1", **self._how.environment}
        if self._how.file_in_environment:
            environment["FAIRWAY_AGENT_CONFIG"] = base64.b64encode(self.config.read_bytes()).decode()
        with open(self.said, "ab") as said:
            said.write(b"-- start\n")
            self.agent = subprocess.Popen(command, stdout=said, stderr=said, env=environment)
        self._stack.callback(_stop, self.agent)
        return self.agent

    @property
    def agent_proper(self) -> int:
        """The process that does the work; what was started keeps it running."""
        return until(lambda: next((each for each in descendants(self.agent.pid) if _is_agent(each)), None))

    def start_server(self) -> None:
        """Start the server where the one before was."""
        self.server = self._serve(self.server.address, self.server.http.removeprefix("http://"))

    @property
    def data(self) -> Path:
        """Where the agent keeps its files."""
        return self.folder / "agent"

    @property
    def said(self) -> Path:
        """What the agents have said, one after the other."""
        return self.folder / "agent-said"

    def add_applications(self, *names: str, repository: str = "r-1") -> None:
        """Register the applications in the directories of the same names, once the agent has told its repositories."""
        until(lambda: self._get(f"/agents/{self.agent_id}")["repositories"])
        for name in names:
            place = {"agent_id": self.agent_id, "repository_id": repository, "path": name}
            self._remote.send("POST", "/applications", {"name": name, "kind": "kubernetes", **place})

    def deployments(self) -> tuple[Deployment, ...]:
        """All deployments, oldest first."""
        found: list[Deployment] = []
        query: dict[str, str | int] = {"limit": 100}
        while True:
            page = msgspec.json.decode(self._remote.get("/deployments", query), type=_Page)
            found += page.items
            if not page.next_cursor:
                return tuple(sorted(found, key=lambda each: (each.created_at, each.id)))
            query["cursor"] = page.next_cursor

    def ended(self, number: int = 1) -> Deployment:
        """The deployment of that number, once it has ended."""

        def look() -> Deployment | None:
            found = self.deployments()
            return found[number - 1] if len(found) >= number and found[number - 1].status.is_terminal else None

        return until(look)

    def all_told(self) -> None:
        """Wait until the server has been told everything: logs may come behind the end of their deployment."""

        inside = self._how.disk.inside if self._how.disk else ()
        looking = (*inside, sys.executable, "-c", _NOTHING_KEPT, f"{self.data}/outbox.db")
        until(lambda: subprocess.run(looking, check=False).returncode == 0)

    def log(self, deployment: Deployment, stage: int) -> str:
        """What a stage has logged."""
        path = segments("deployments", deployment.id, "stages", deployment.stages[stage].id, "log.txt")
        return self._remote.get(path).decode()

    def ask(self, *path: str, body: Mapping[str, object] | None = None) -> None:
        """Ask for a change."""
        self._remote.send("POST", segments(*path), body or {})

    def _get(self, path: str) -> dict[str, object]:
        found: dict[str, object] = msgspec.json.decode(self._remote.get(path))
        return found

    def _serve(self, listen: str, http_listen: str) -> ServerProcess:
        server = a_server(self.folder / "server", "--http-listen", http_listen, listen=listen)
        return self._stack.enter_context(server)


class How(NamedTuple):
    """How a site differs from the usual one."""

    #: Further plugins, as YAML in one line.
    plugins: str = "[]"
    #: Other repositories than the site's own, the same way.
    repositories: str = ""
    #: What else the agent's file says.
    settings: str = ""
    #: For the agent's data.
    disk: SmallDisk | None = None
    #: On top of the agent's environment.
    environment: Mapping[str, str] = {}
    #: Tell the agent what its file says by its environment.
    file_in_environment: bool = False


class _Page(msgspec.Struct):
    items: tuple[Deployment, ...]
    next_cursor: str = ""


@contextmanager
def a_site(folder: Path, files: Mapping[str, str | bytes], how: How | None = None) -> Iterator[Site]:
    """A site with a repository of these files; everything is ended with the block."""
    with ExitStack() as stack:
        yield Site(folder, an_origin(folder, files), stack, how)


def until(look: Callable[[], T | None], pause: float = 0.02, patience: float = PATIENCE_SECONDS) -> T:
    """What `look` finds, as soon as it finds something; looks that cost much are made with longer pauses."""
    deadline = time.monotonic() + patience
    while True:
        try:
            if found := look():
                return found
        except Unreachable:
            pass
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(pause)


def kill(process: subprocess.Popen[bytes]) -> None:
    """As a power cut would."""
    process.kill()
    process.wait()


def terminate(process: subprocess.Popen[bytes]) -> int:
    """As systemd does; how the process ended."""
    process.send_signal(signal.SIGTERM)
    return process.wait(timeout=PATIENCE_SECONDS)


def alive_with(word: str) -> list[str]:
    """The command lines of living processes in which a word stands."""
    return [line for _, line in alive_processes() if word in line]


def alive_processes() -> list[tuple[int, str]]:
    """All living processes with their command lines."""
    return [(int(each.name), command_line(int(each.name))) for each in Path("/proc").iterdir() if each.name.isdigit()]


def descendants(pid: int) -> list[int]:
    """The processes that a process has started, and those that they have."""
    found: list[int] = []
    # Any of them may end while it is looked at.
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            found += map(int, task.read_text().split())
    return [each for child in found for each in (child, *descendants(child))]


def plugin_hosts(agent: int) -> list[int]:
    """The processes of plugins that an agent has started."""
    return [each for each in descendants(agent) if "fairway.sdk.host" in command_line(each)]


def _is_agent(pid: int) -> bool:
    return " agent --data " in command_line(pid)


def command_line(pid: int) -> str:
    """What a process was started with; empty when it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        process.wait(timeout=PATIENCE_SECONDS)
