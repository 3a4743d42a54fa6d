"""Which other applications are there: those that the agent has asked about, or deployed, a short while ago.

Nobody tells a plugin that an application was deleted; the agent only does not speak of it any more. One that was
deleted and registered anew has the same name and another id, and gets the objects of the one before.
"""

from typing import Final

import msgspec

#: Ours asks about each application every ten minutes.
_ALIVE_SECONDS: Final = 900.0


class _Seen(msgspec.Struct):
    name: str
    first_at: float
    last_at: float


class Applications:
    """What all plugins of a process know of applications. It belongs to one event loop."""

    def __init__(self) -> None:
        #: By id.
        self._seen: dict[str, _Seen] = {}

    def see(self, application_id: str, name: str, now: float) -> None:
        """The agent speaks of an application."""
        known = self._seen.setdefault(application_id, _Seen(name, now, now))
        known.name, known.last_at = name, now
        self._seen = {id: each for id, each in self._seen.items() if now - each.last_at < _ALIVE_SECONDS}

    def name_of(self, application_id: str, beside: str, now: float) -> str:
        """What an application is called that is there beside that other one; empty where there may be none."""
        known, other = self._seen.get(application_id), self._seen.get(beside)
        if known is None or now - known.last_at >= _ALIVE_SECONDS:
            return ""
        if other is not None and other.name == known.name and known.last_at <= other.first_at:
            return ""
        return known.name
