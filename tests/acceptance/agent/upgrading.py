"""A site whose agent may change its version, and wheels for it to change to."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import msgspec

from fairway.agent.launcher.record import Record, read_record
from tests.acceptance.agent.sites import Site
from tests.integration.agent.launcher.wheels import SOURCE
from tests.integration.agent.running import an_application_file, script
from tests.integration.git.repositories import an_origin
from tests.patience import PATIENCE_SECONDS

#: Lines that a script writes before and after something happens.
LINES = 2000


class UpgradingSite(Site):
    """A site whose agent finds its wheels in the site's folder."""

    ready, settle = f"{PATIENCE_SECONDS:.0f}s", "100ms"

    def _config(self, key: str) -> str:
        source = f"file://{self.folder}/{SOURCE}"
        times = f"readyWithin: {self.ready}, settleFor: {self.settle}"
        return f"{super()._config(key)}  upgrade: {{source: '{source}', {times}}}\n"

    def want(self, version: str) -> None:
        """Say on the server which version the agent should run."""
        self._remote.send("PATCH", f"/agents/{self.agent_id}", {"desired_version": version})

    def restart(self) -> None:
        """Ask for a restart of the agent, on the server."""
        self.ask("agents", self.agent_id, "restart")

    @property
    def version(self) -> str:
        """What the server shows of the agent's version."""
        return str(self._get(f"/agents/{self.agent_id}")["version"])

    @property
    def record(self) -> Record:
        """What the launcher has written down."""
        return read_record(self.data / "versions") or Record("")

    def status(self) -> dict[str, Any]:
        """What `fairway agent status` reads."""
        found: dict[str, Any] = msgspec.json.decode((self.data / "status.json").read_bytes())
        return found

    def runs(self, version: str) -> bool:
        """Whether a version is at work, and neither it nor another is on trial."""
        return self.version == f"fairway-{version}" and self.record.trial is None


@contextmanager
def an_upgrading_site(
    folder: Path, run: str = "true", site: type[UpgradingSite] = UpgradingSite
) -> Iterator[UpgradingSite]:
    """A site with one application of one script."""
    origin = an_origin(folder, {"web/app.pipecd.yaml": an_application_file(script(run))})
    with ExitStack() as stack:
        made = site(folder, origin, stack)
        made.add_applications("web")
        yield made


class LongScript:
    """A script that writes lines, waits until it may go on, and writes as many again."""

    def __init__(self, folder: Path) -> None:
        self.mark, self.go, self.ran, self.has = (folder / name for name in ("mark", "go", "ran", "has"))
        look = f"env > {self.has}; ls -l /proc/$$/fd >> {self.has}"
        wait = f"while [ ! -e {self.go} ]; do sleep 0.05; done"
        self.run = f"echo once >> {self.ran}; {look}; seq {LINES}; touch {self.mark}; {wait}; seq {LINES}"

    def is_whole(self, log: str) -> bool:
        """Whether it ran once, and all lines are there, once."""
        numbers = [str(number) for number in range(1, LINES + 1)] * 2
        assert self.ran.read_text() == "once\n"
        return [each for each in log.split("\n") if each.isdigit()] == numbers
