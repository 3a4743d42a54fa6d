"""The wheel of a version, brought from where the agent's file says and compared with its checksum on the way."""

import asyncio
import hashlib
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import IO
from urllib.parse import unquote, urlsplit

from fairway.agent.launcher.wanted import Wanted
from fairway.agent.launcher.wheel import BadWheel
from fairway.config.upgrade import VERSION_PLACE
from fairway.errors import TemporaryError
from fairway.git.retry import Retry

#: A wheel has a megabyte or two.
MOST_BYTES = 64 * 1024 * 1024
_PIECE = 1024 * 1024
_SECONDS = 60.0


class FetchFailed(TemporaryError):
    """A wheel that could not be fetched now."""


@asynccontextmanager
async def fetched(wanted: Wanted, source: str, folder: Path, patience: Retry | None = None) -> AsyncIterator[Path]:
    """The wheel of a version in a file that is there while the block lasts; BadWheel when it is another."""
    address = source.replace(VERSION_PLACE, wanted.version)
    with tempfile.NamedTemporaryFile(prefix=".wheel-", dir=folder) as file:

        async def fetch() -> str:
            file.seek(0)
            file.truncate()
            return await _fetch(address, file)

        found = await (patience or Retry()).run(fetch)
        if found != wanted.sha256:
            raise BadWheel(f"{address} has the checksum sha256:{found}; expected sha256:{wanted.sha256}")
        yield Path(file.name)


async def _fetch(address: str, file: IO[bytes]) -> str:
    """Write what is at an address to a file; its checksum."""
    digest, size = hashlib.sha256(), 0
    async with aclosing(_local(address) if address.startswith("file:") else _remote(address)) as pieces:
        async for piece in pieces:
            size += len(piece)
            if size > MOST_BYTES:
                raise BadWheel(f"{address} is larger than {MOST_BYTES // 1024**2} MiB; it is no wheel of ours")
            digest.update(piece)
            await asyncio.to_thread(file.write, piece)
    await asyncio.to_thread(file.flush)
    return digest.hexdigest()


async def _local(address: str) -> AsyncGenerator[bytes]:
    path = unquote(urlsplit(address).path)
    try:
        file = await asyncio.to_thread(open, path, "rb")
    except OSError as error:
        raise FetchFailed(f"{path} cannot be read ({error.strerror})") from error
    with file:
        while piece := await asyncio.to_thread(file.read, _PIECE):
            yield piece


async def _remote(address: str) -> AsyncGenerator[bytes]:
    # Some megabytes, for something that seldom happens.
    import httpx2

    try:
        async with (
            httpx2.AsyncClient(timeout=httpx2.Timeout(_SECONDS), follow_redirects=True) as client,
            client.stream("GET", address) as answer,
        ):
            if answer.status_code != httpx2.codes.OK:
                raise FetchFailed(f"{address} answered {answer.status_code} {answer.reason_phrase}")
            async for piece in answer.aiter_bytes(_PIECE):
                yield piece
    except (httpx2.InvalidURL, ValueError) as error:
        raise BadWheel(f"{address} is no address from which something can be fetched: {error}") from error
    except (httpx2.HTTPError, ExceptionGroup) as error:
        # A group is for a port that there is not, to which whoever was asked has sent us.
        raise FetchFailed(f"{address} cannot be fetched: {error}") from error
