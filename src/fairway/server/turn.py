"""Whose turn it is to do what one of several replicas should do, such as keeping house.

On PostgreSQL a lock of the server, held by a connection that does nothing else: who has it keeps it between rounds, and
when that process dies, however it dies, the lock is free. On SQLite it is always our turn.
"""

from typing import TYPE_CHECKING

import structlog

if TYPE_CHECKING:
    import psycopg

#: Any number, as long as nobody else uses it on this database.
HOUSEKEEPING = 8_15_21_19_05

_log = structlog.get_logger()


class Turn:
    """A turn at something, among all replicas on one database."""

    def __init__(self, shared_url: str, number: int = HOUSEKEEPING) -> None:
        self._url = shared_url
        self._number = number
        self._connection: psycopg.AsyncConnection | None = None

    async def is_ours(self) -> bool:
        """Whether it is our turn now; it stays ours until `pass_on`, or until the database forgets us."""
        if not self._url:
            return True
        import psycopg  # it takes memory that a server on SQLite can spare

        from fairway.server.channel import connect

        try:
            if self._connection is not None:
                await self._connection.execute("SELECT 1")
                return True
            self._connection = await connect(self._url)
            found = await self._connection.execute("SELECT pg_try_advisory_lock(%s)", (self._number,))
            if await found.fetchone() == (True,):
                return True
        except (psycopg.Error, OSError) as error:
            _log.warning("whose turn it is cannot be found out now", reason=str(error).partition("\n")[0])
        await self.pass_on()
        return False

    async def pass_on(self) -> None:
        """Let another replica have it."""
        if self._connection is not None:
            connection, self._connection = self._connection, None
            await connection.close()
