"""The store: pieces of work, each a function over a connection, run in threads so that the event loop never waits.

    store = await Store.open("sqlite:////var/lib/fairway/fairway.db")
    deployment = await store.read(lambda connection: load_deployment(connection, id))

`read` sees one moment and can change nothing. `write` is one transaction: when it returns, the change survives a
kill -9 and a power cut; when it raises, nothing of that piece of work remains. A piece of work must be quick,
must do no I/O of its own, and may be run again when the database asks for it. Once it is durable, what it changed is
told to whoever listens. How each database is driven is said in `sqlite` and `postgres`.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Protocol, Self, TypeVar

import sqlalchemy as sa

from fairway.errors import FairwayError
from fairway.server.store.changes import Listener
from fairway.server.store.errors import UnusableDatabase
from fairway.server.store.settings import note_look
from fairway.server.store.sqlite import SQLiteDatabase
from fairway.server.store.tables import PROJECTS

T = TypeVar("T")

#: For how long what was found by looking is taken to hold.
LOOK_SECONDS = 1.0


class Database(Protocol):
    """A database that can run pieces of work."""

    @property
    def shared_url(self) -> str:
        """Where others find the database too; empty when it is ours alone."""
        ...

    async def read(self, work: Callable[[sa.Connection], T]) -> T:
        """Run a piece of work that only looks."""
        ...

    async def write(self, work: Callable[[sa.Connection], T]) -> T:
        """Run a piece of work that changes something, as one durable transaction."""
        ...

    def listen(self, listener: Listener) -> None:
        """Tell the listener from now on what each durable piece of work changed."""
        ...

    def close(self) -> None:
        """Finish what has been asked for, then let go of everything."""
        ...


class Guard(Protocol):
    """Stands in front of pieces of work and may refuse them, in the very transaction of each."""

    def at_read(self, connection: sa.Connection) -> None:
        """Raise for work that may not look."""
        ...

    def at_write(self, connection: sa.Connection) -> None:
        """Raise for work that may not change anything."""
        ...


class Store:
    """The truth, on one database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        #: The last look whether everything works, and when it began.
        self._look: asyncio.Task[FairwayError | None] | None = None
        self._looked_at = 0.0

    def behind(self, guard: Guard) -> "Store":
        """The same store for somebody whom the guard may keep out."""
        return _GuardedStore(self._database, guard)

    @classmethod
    async def open(cls, url: str) -> Self:
        """The store at a URL, brought to the tables of this Fairway."""
        return cls(await asyncio.to_thread(_open, url))

    async def read(self, work: Callable[[sa.Connection], T]) -> T:
        """What `work` returns, having seen one moment of the store."""
        return await self._database.read(work)

    async def write(self, work: Callable[[sa.Connection], T]) -> T:
        """What `work` returns, once what it changed is durable."""
        return await self._database.write(work)

    async def check(self) -> None:
        """Raise what is wrong when the store cannot be read and written now.

        By doing so: a full disk can be read, and nobody knows that it is full before they write. A look serves all who
        ask within a second, so that asking often costs nothing.
        """
        now = time.monotonic()
        if self._look is None or (self._look.done() and now - self._looked_at >= LOOK_SECONDS):
            self._look, self._looked_at = asyncio.ensure_future(self._trouble()), now
        # Whoever stops waiting leaves the look to the others.
        if (trouble := await asyncio.shield(self._look)) is not None:
            raise trouble

    async def _trouble(self) -> FairwayError | None:
        try:
            await self.read(lambda connection: connection.execute(sa.select(PROJECTS.c.id).limit(1)))
            await self.write(note_look)
        except FairwayError as error:
            return error
        return None

    def listen(self, listener: Listener) -> None:
        """Tell the listener from now on what each piece of work of this process changed, once it is durable."""
        self._database.listen(listener)

    @property
    def shared_url(self) -> str:
        """Where the database is that other replicas may write to too; empty when there can be none."""
        return self._database.shared_url

    async def close(self) -> None:
        """Finish the writes that wait, then close."""
        await asyncio.to_thread(self._database.close)


class _GuardedStore(Store):
    def __init__(self, database: Database, guard: Guard) -> None:
        super().__init__(database)
        self._guard = guard

    async def read(self, work: Callable[[sa.Connection], T]) -> T:
        return await super().read(lambda connection: self._passed(connection, self._guard.at_read, work))

    async def write(self, work: Callable[[sa.Connection], T]) -> T:
        return await super().write(lambda connection: self._passed(connection, self._guard.at_write, work))

    def _passed(
        self, connection: sa.Connection, guard: Callable[[sa.Connection], None], work: Callable[[sa.Connection], T]
    ) -> T:
        guard(connection)
        return work(connection)


def _open(url: str) -> Database:
    try:
        parsed = sa.make_url(url)
    except (sa.exc.ArgumentError, ValueError) as error:
        # The URL may hold a password, so it is not repeated.
        raise UnusableDatabase(_WANTED) from error
    match parsed.get_backend_name():
        case "sqlite":
            return SQLiteDatabase.open(parsed)
        case "postgresql" | "postgres":
            # Its driver takes memory that a server on SQLite can spare.
            from fairway.server.store.postgres import PostgresDatabase

            return PostgresDatabase.open(parsed)
        case other:
            raise UnusableDatabase(f"{other!r} is no database that Fairway knows; {_WANTED}")


_WANTED = "the store wants a URL such as sqlite:////var/lib/fairway/fairway.db or postgresql://user@host/name"
