"""Which other applications are there: those that the agent has asked about, or deployed, a short while ago.

Nobody tells a plugin that an application was deleted; the agent only does not speak of it any more. One that was
deleted and registered anew has the same name and another id, and gets the objects of the one before.

What an application wants at the newest commit is known once the agent has asked how it differs from Git, at each of its
deploy targets. Whoever is about to take an object from it may wait for newer words.
"""

import asyncio
from collections.abc import Callable, Collection
from typing import Final

import msgspec

from fairway.kube.manifest import Key

#: Ours asks about each application every ten minutes.
_ALIVE_SECONDS: Final = 900.0


#: A deploy target, and the plugin whose it is.
At = tuple[str, str]


class Wants(msgspec.Struct, frozen=True):
    """What Git says of an application at one deploy target."""

    commit: str
    #: Asked for only now and then, so that nothing but the caller's own need be kept.
    objects: Callable[[], Collection[Key]]


class _Seen(msgspec.Struct):
    name: str
    first_at: float
    last_at: float
    #: None where it was not asked about yet.
    wants: dict[At, Wants | None] = {}


class Applications:
    """What all plugins of a process know of applications. It belongs to one event loop."""

    def __init__(self) -> None:
        #: By id.
        self._seen: dict[str, _Seen] = {}
        self._news = asyncio.Event()

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

    def go_to(self, application_id: str, plugin: str, targets: Collection[str]) -> None:
        """At which deploy targets of a plugin an application is, which the agent has just spoken of."""
        known = self._seen[application_id]
        others = {at: wants for at, wants in known.wants.items() if at[0] != plugin}
        known.wants = {**others, **{(plugin, each): known.wants.get((plugin, each)) for each in targets}}

    def want(self, application_id: str, at: At, wants: Wants) -> None:
        """What Git says of an application now."""
        if (known := self._seen.get(application_id)) is not None:
            known.wants = {**known.wants, at: wants}
            self._news.set()
            self._news = asyncio.Event()

    def wants(self, application_id: str) -> tuple[Wants, ...] | None:
        """What Git says of an application at all its deploy targets; None where that is not known."""
        known = self._seen.get(application_id)
        found = tuple(known.wants.values()) if known is not None else ()
        whole = tuple(each for each in found if each is not None)
        return whole if whole and len(whole) == len(found) else None

    async def news(self) -> None:
        """Wait until more is known of any application."""
        await self._news.wait()
