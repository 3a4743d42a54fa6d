"""What was rendered, remembered by what it was made of: planning, every stage, drift and preview ask for the same.

What depends on more than its files, such as the newest version of a chart, is remembered for some minutes only. Those
who ask for the same at once share one rendering.
"""

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Final

import msgspec

from fairway.errors import UserError
from fairway.kube.manifest import Manifest

#: How many renderings are remembered, and of how many bytes of text they may have been made; they take some nine times
#: as many.
MOST_RENDERINGS: Final = 512
MOST_BYTES: Final = 8 << 20
#: How long a rendering holds that depends on something that can change elsewhere.
FLOATING_SECONDS: Final = 300.0


class Rendering(msgspec.Struct, frozen=True, kw_only=True):
    """The objects of an application, and what people should know about them."""

    manifests: tuple[Manifest, ...]
    #: Such as that a chart has hooks, which are not run.
    notes: tuple[str, ...] = ()
    #: How much text it was.
    size: int = 0
    #: Whether the same files may be rendered otherwise tomorrow.
    floating: bool = False


class Renderings:
    """A bounded memory of renderings; those that were not asked for the longest are forgotten first."""

    def __init__(
        self, most: int = MOST_RENDERINGS, most_bytes: int = MOST_BYTES, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._now = now
        self._most = most
        self._most_bytes = most_bytes
        self._bytes = 0
        self._known: dict[str, tuple[Rendering, float]] = {}
        self._being_made: dict[str, asyncio.Task[Rendering]] = {}

    async def get(self, key: str, make: Callable[[], Awaitable[Rendering]]) -> Rendering:
        """The rendering with this key, made if need be; an error is not remembered."""
        known = self._known.pop(key, None)
        if known is not None:
            if not known[0].floating or self._now() - known[1] < FLOATING_SECONDS:
                self._known[key] = known
                return known[0]
            self._bytes -= known[0].size
        if key in self._being_made:
            try:
                return await asyncio.shield(self._being_made[key])
            except UserError:
                # It was made of somebody else's files, which may have gone with them: one's own are to tell.
                return await self.get(key, make)
        task = self._being_made[key] = asyncio.ensure_future(self._make(key, make))
        # Nobody may be left to hear of an error.
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Break off what is being made."""
        tasks = tuple(self._being_made.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _make(self, key: str, make: Callable[[], Awaitable[Rendering]]) -> Rendering:
        try:
            rendering = await make()
        finally:
            del self._being_made[key]
        self._known[key] = (rendering, self._now())
        self._bytes += rendering.size
        while len(self._known) > self._most or (self._bytes > self._most_bytes and len(self._known) > 1):
            forgotten, _ = self._known.pop(next(iter(self._known)))
            self._bytes -= forgotten.size
        return rendering


def digest(parts: Iterable[tuple[str, bytes]]) -> str:
    """What named contents are; the same only for the same names and contents."""
    total = hashlib.sha256()
    for name, content in parts:
        encoded = name.encode("utf-8", "surrogateescape")
        total.update(f"{len(encoded)} {len(content)}\0".encode())
        total.update(encoded)
        total.update(content)
    return total.hexdigest()
