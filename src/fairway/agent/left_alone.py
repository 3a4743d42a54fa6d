"""Until when what an agent has started may go on by itself, once nobody hears of the agent any more: a small file.

It says when that is to be asked to end and when it is made to, so that it has ended when another agent may begin. The
agent moves both on for as long as it lives; whoever outlives it reads them (`plugins/scriptrun/guard`). They are in
seconds since the machine started, as `/proc/uptime` has them: a shell reads nothing else so easily, and nobody sets it.
"""

import contextlib
import os
from pathlib import Path

import structlog

from fairway.agent.standing import Ends

_log = structlog.get_logger()

_UPTIME = Path("/proc/uptime")


class LeftAlone:
    """The file in an agent's data."""

    def __init__(self, data: Path) -> None:
        self.path = data / "left-alone"

    def until(self, ends: Ends) -> None:
        """Move the times on."""
        try:
            uptime = float(_UPTIME.read_text().split()[0])
            file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                # Always as long, and written over: a disk that is full takes it too, and nobody finds half of it.
                os.pwrite(file, f"{int(uptime + ends.asked):15} {int(uptime + ends.made):15}\n".encode(), 0)
            finally:
                os.close(file)
        except (OSError, ValueError) as error:
            _log.warning("how long scripts may outlive this agent cannot be noted", reason=str(error))

    def for_ever(self) -> None:
        """Nobody else takes over."""
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)
