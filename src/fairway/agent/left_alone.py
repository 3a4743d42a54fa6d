"""Writes the deadlines of an agent's lease to a file, for its plugins and for the guard of its scripts.

The deadlines lie before the moment at which another agent may take over (`standing.decide_left_alone`). The agent moves
them on at each renewal. The format is in `sdk/lease_file`; `plugins/scriptrun/guard` enforces it for scripts.
"""

import contextlib
import math
import os
from pathlib import Path

import structlog

from fairway.agent.standing import Ends
from fairway.sdk.lease_file import lease_text, uptime

_log = structlog.get_logger()


class LeftAlone:
    """The file in an agent's data."""

    def __init__(self, data: Path) -> None:
        self.path = data / "left-alone"

    def until(self, ends: Ends, fencing_token: int) -> None:
        """Move the deadlines on."""
        try:
            now = uptime()
            # SIGTERM not before the agent itself would send it, SIGKILL not after.
            text = lease_text(math.ceil(now + ends.asked), math.floor(now + ends.made), fencing_token)
            file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.pwrite(file, text.encode(), 0)
            finally:
                os.close(file)
        except (OSError, ValueError) as error:
            _log.warning("the deadline of scripts cannot be written", reason=str(error))

    def for_ever(self) -> None:
        """No other agent can take over."""
        with contextlib.suppress(OSError):
            self.path.unlink(missing_ok=True)
