"""What other applications want, of those that the agent has asked about or deployed a short while ago.

What an application wants at the newest commit is known once the agent has asked how it differs from Git, at each of its
deploy targets. Whoever is about to take an object from it may wait for newer words. Which applications there are at all
is another question (`registered`): the agent does not speak of each.
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
    last_at: float
    #: None where it was not asked about yet.
    wants: dict[At, Wants | None] = {}


class Applications:
    """What all plugins of a process know of applications. It belongs to one event loop."""

    def __init__(self) -> None:
        #: By id.
        self._seen: dict[str, _Seen] = {}
        self._news = asyncio.Event()

    def see(self, application_id: str, now: float) -> None:
        """The agent speaks of an application."""
        self._seen.setdefault(application_id, _Seen(now)).last_at = now
        self._seen = {id: each for id, each in self._seen.items() if now - each.last_at < _ALIVE_SECONDS}

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
