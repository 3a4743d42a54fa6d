"""The agent's end of the pipe to its launcher."""

import contextlib
import os
from collections.abc import MutableMapping

import msgspec

from fairway.agent.launcher.child import ENVIRONMENT


class Link:
    """What an agent tells its launcher. Without one, nobody hears it."""

    def __init__(self, pipe: int | None = None) -> None:
        self._pipe = pipe

    @classmethod
    def of(cls, environment: MutableMapping[str, str]) -> "Link":
        """The link that a launcher has left for this process, and for none that this process starts."""
        kept = [int(each) for each in environment.pop(ENVIRONMENT, "").split(",") if each.isdecimal()]
        for each in kept:
            os.set_inheritable(each, False)
        return cls(kept[0] if kept else None)

    @property
    def is_launched(self) -> bool:
        """Whether a launcher keeps this process."""
        return self._pipe is not None

    def ready(self) -> None:
        """Everything is watched, and the server knows us."""
        self._say({"ready": True})

    def restart(self) -> None:
        """Start me again; somebody has asked for it."""
        self._say({"restart": True})

    def switch(self, key: str, ready_seconds: float, settle_seconds: float) -> None:
        """Run that version in my place, and leave it again when it is not ready in time."""
        self._say({"switch": key, "ready_seconds": ready_seconds, "settle_seconds": settle_seconds})

    def _say(self, said: object) -> None:
        if self._pipe is not None:
            # A launcher that is gone takes us with it in a moment.
            with contextlib.suppress(BrokenPipeError):
                os.write(self._pipe, msgspec.json.encode(said) + b"\n")
