"""Brings executables to where they are started from: by their content, checked, whole or not at all.

What lies there is named by what it contains, so a changed file or checksum can never meet yesterday's executable. What
came from a URL without a checksum is remembered by the URL.
"""

import asyncio
import contextlib
import hashlib
import os
import tempfile
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

import msgspec
import structlog

from fairway.agent.plugins.identity import write_file
from fairway.config.agent import PluginConfig
from fairway.config.plugin_source import Artifact, BadPlugin, LocalFile, WebFile

_log = structlog.get_logger()

_PIECE = 1024 * 1024
#: Limit for one executable.
MOST_BYTES = 512 * 1024 * 1024


class Pulled(msgspec.Struct, frozen=True):
    """What came from where."""

    url: str
    sha256: str


class Fetcher:
    """The executables of one agent, in one directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    async def fetch(self, plugin: PluginConfig, source: LocalFile | WebFile | Artifact) -> Path:
        """The executable, ready to be started; BadPlugin when it is not what the file says."""
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        wanted = plugin.sha256.lower().removeprefix("sha256:")
        kept = None if isinstance(source, LocalFile) else await asyncio.to_thread(self._kept, plugin, wanted)
        if kept is None:
            if isinstance(source, WebFile) and not wanted:
                _log.warning("a plugin is downloaded without a checksum; give its sha256", plugin=plugin.name)
            kept = await self._brought(plugin, wanted, source)
        await asyncio.to_thread(self._forget_others, plugin.name, kept)
        return kept

    def _kept(self, plugin: PluginConfig, wanted: str) -> Path | None:
        """What was brought earlier and is still wanted, and still what it was."""
        with contextlib.suppress(OSError, msgspec.DecodeError):
            pulled = msgspec.json.decode(self._record(plugin.name).read_bytes(), type=Pulled)
            path = self._path(plugin.name, pulled.sha256)
            same = pulled.sha256 == wanted if wanted else pulled.url == plugin.url
            if same and _sha256(path) == pulled.sha256:
                return path
        return None

    async def _brought(self, plugin: PluginConfig, wanted: str, source: LocalFile | WebFile | Artifact) -> Path:
        descriptor, name = tempfile.mkstemp(prefix=".unfinished-", dir=self._directory)
        unfinished = Path(name)
        try:
            digest = hashlib.sha256()
            with os.fdopen(descriptor, "wb") as file:
                size = 0
                async with aclosing(_pieces(plugin, source)) as pieces:
                    async for piece in pieces:
                        size += len(piece)
                        if size > MOST_BYTES:
                            raise BadPlugin(
                                f"plugin {plugin.name}: {plugin.url} has more than {MOST_BYTES >> 20} MiB, "
                                "the limit for a plugin; it is not started"
                            )
                        digest.update(piece)
                        await asyncio.to_thread(file.write, piece)
            found = digest.hexdigest()
            if wanted and found != wanted:
                raise BadPlugin(
                    f"plugin {plugin.name}: {plugin.url} has the sha256 {found}, but the agent's file says {wanted}; "
                    "it is not started"
                )
            return await asyncio.to_thread(self._keep, plugin, found, unfinished)
        finally:
            await asyncio.to_thread(unfinished.unlink, missing_ok=True)

    def _keep(self, plugin: PluginConfig, sha256: str, unfinished: Path) -> Path:
        path = self._path(plugin.name, sha256)
        unfinished.chmod(0o755)
        unfinished.rename(path)
        write_file(self._record(plugin.name), msgspec.json.encode(Pulled(plugin.url, sha256)))
        return path

    def _forget_others(self, name: str, kept: Path) -> None:
        """Remove earlier executables of a plugin; one that still runs lives on without a name."""
        length = len(kept.name)
        for other in self._directory.glob(f"{name}-*"):
            if other != kept and len(other.name) == length:
                other.unlink(missing_ok=True)

    def _path(self, name: str, sha256: str) -> Path:
        return self._directory / f"{name}-{sha256[:16]}"

    def _record(self, name: str) -> Path:
        return self._directory / f".{name}.json"


async def _pieces(plugin: PluginConfig, source: LocalFile | WebFile | Artifact) -> AsyncGenerator[bytes]:
    if isinstance(source, WebFile):
        # Loaded where it is needed: an agent whose plugins are all here can spare its memory.
        from fairway.agent.plugins.download import download

        async with aclosing(download(source.url)) as pieces:
            async for piece in pieces:
                yield piece
    elif isinstance(source, Artifact):
        from fairway.agent.plugins.download import download_artifact

        async with aclosing(download_artifact(source, plugin.registry_auth_file)) as pieces:
            async for piece in pieces:
                yield piece
    else:
        try:
            with source.path.open("rb") as file:
                while piece := await asyncio.to_thread(file.read, _PIECE):
                    yield piece
        except OSError as error:
            raise BadPlugin(f"plugin {plugin.name}: {source.path} cannot be read ({error.strerror})") from error


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
