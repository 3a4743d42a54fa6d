"""PostgreSQL's LISTEN and NOTIFY: two connections of each replica, one that hears and one that tells.

Neither is part of a transaction that stores something, because that would halve how many can be committed in a second.
What is told while nobody hears is lost; `lost` is called whenever that may have happened.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import psycopg
import structlog
from psycopg.conninfo import make_conninfo

from fairway.server.store.postgres import LINE

NAME = "fairway"
#: After so long without a word, the connection is asked whether it still is one, and must answer within so long.
QUIET_SECONDS = 15.0
ANSWER_SECONDS = 5.0
#: From one attempt to connect to the next.
RETRY_SECONDS = 1.0
_TROUBLE = (psycopg.Error, OSError, TimeoutError)

_log = structlog.get_logger()


class Teller:
    """The connection that tells."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection: psycopg.AsyncConnection | None = None

    async def tell(self, texts: list[str]) -> bool:
        """Tell everybody who hears; whether it could be done."""
        try:
            if self._connection is None:
                self._connection = await connect(self._url)
            async with asyncio.timeout(ANSWER_SECONDS):
                for text in texts:
                    await self._connection.execute("SELECT pg_notify(%s, %s)", (NAME, text))
        except _TROUBLE as error:
            _log.warning("other replicas cannot be told now", reason=_first_line(error))
            await self.close()
            return False
        return True

    async def close(self) -> None:
        """Let go of the connection."""
        if self._connection is not None:
            connection, self._connection = self._connection, None
            await connection.close()


async def hear(url: str, heard: Callable[[str], None], lost: Callable[[], None]) -> None:
    """Hand over what is told, until cancelled. `lost` is called each time hearing begins (again)."""
    while True:
        try:
            async with _connected(url) as connection:
                await connection.execute(f"LISTEN {NAME}".encode())
                lost()
                while True:
                    async for notification in connection.notifies(timeout=QUIET_SECONDS):
                        heard(notification.payload)
                    async with asyncio.timeout(ANSWER_SECONDS):
                        await connection.execute("SELECT 1")
        except _TROUBLE as error:
            _log.warning("other replicas cannot be heard now", reason=_first_line(error))
        await asyncio.sleep(RETRY_SECONDS)


@asynccontextmanager
async def _connected(url: str) -> AsyncIterator[psycopg.AsyncConnection]:
    connection = await connect(url)
    try:
        yield connection
    finally:
        await connection.close()


async def connect(url: str) -> psycopg.AsyncConnection:
    """A connection on which each statement is a transaction of its own."""
    return await psycopg.AsyncConnection.connect(make_conninfo(url, **LINE), autocommit=True)


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0] or type(error).__name__
