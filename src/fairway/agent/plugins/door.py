"""The door of a foreign plugin: a port on the loopback address by which nobody but that plugin comes in.

Plugins of other makers know ports only and have no token to show, and a port is anybody's on this machine to call. So
each has a port of its own, and of every connection the kernel is asked whose it is. What comes in goes on to a socket
that only this user can open.
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Self

import structlog

from fairway.agent.plugins.identity import Identity
from fairway.agent.plugins.whose import holds, other_end

_log = structlog.get_logger()

_CHUNK_BYTES = 64 * 1024
#: How long a connection may be ahead of the news that its process was started.
_NEWS_SECONDS = 5.0


class Door:
    """One port for one plugin. It belongs to one event loop."""

    def __init__(self, plugin: str, inside: Path) -> None:
        self._plugin = plugin
        self._inside = inside
        self._process: Identity | None = None
        self._known = asyncio.Event()
        self._refused: set[str] = set()
        self._carrying: set[asyncio.Task[None]] = set()
        self.port = 0

    @classmethod
    @asynccontextmanager
    async def open(cls, plugin: str, inside: Path) -> AsyncIterator[Self]:
        """A door to the socket `inside`, for as long as the block lasts."""
        door = cls(plugin, inside)
        server = await asyncio.start_server(door._come_in, "127.0.0.1", 0)
        door.port = int(server.sockets[0].getsockname()[1])
        try:
            yield door
        finally:
            server.close()
            for task in door._carrying:
                task.cancel()
            await asyncio.gather(*door._carrying, return_exceptions=True)

    @property
    def address(self) -> str:
        """Where it is, as a plugin is told."""
        return f"127.0.0.1:{self.port}"

    def admit(self, process: Identity | None) -> None:
        """Let in that process and what it starts, and nobody else; None: it is about to be started."""
        self._process = process
        if process is None:
            self._known.clear()
        else:
            self._known.set()

    async def _come_in(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._carrying.add(task)
            task.add_done_callback(self._carrying.discard)
        try:
            if why_not := await self._why_not(int(writer.get_extra_info("peername")[1])):
                self._refuse(why_not)
                writer.transport.abort()
            else:
                await self._carry(reader, writer)
        finally:
            writer.close()

    async def _why_not(self, their_port: int) -> str:
        """Why somebody is not let in; empty when it is the plugin."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_NEWS_SECONDS):
                await self._known.wait()
        return await asyncio.to_thread(self._stranger, self._process, their_port)

    def _stranger(self, process: Identity | None, their_port: int) -> str:
        owner = other_end(their_port, self.port)
        if process is None or owner is None:
            return "it cannot be told who calls"
        if owner.user != os.getuid():
            return f"user {owner.user} called, not the user of this agent"
        # Where the kernel keeps the plugin's files from us, its user is all that can be known.
        return "" if holds(process, owner.inode) is not False else "another process of this user called"

    def _refuse(self, why: str) -> None:
        if why not in self._refused:
            self._refused.add(why)
            _log.warning("a call at the port of a plugin was refused", plugin=self._plugin, reason=why)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers, onward = await asyncio.open_unix_connection(self._inside)
        both = {asyncio.create_task(_copy(source, sink)) for source, sink in ((reader, onward), (answers, writer))}
        try:
            # Neither has anything more to say when the other is gone.
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in both:
                task.cancel()
            await asyncio.gather(*both, return_exceptions=True)
            onward.close()


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    while data := await source.read(_CHUNK_BYTES):
        sink.write(data)
        await sink.drain()
