"""A site with two agents of one id, and scripts that note whether they run twice at once."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from fairway.agent.status import NoStatus, read_state
from tests.acceptance.agent.lines import Line
from tests.acceptance.agent.sites import Site, until
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
