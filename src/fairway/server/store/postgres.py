"""PostgreSQL: a pool of connections with a thread for each; the server orders the writers.

Rows are locked while they are changed (`SELECT … FOR UPDATE`), so the weakest isolation is enough. Two pieces of work
that lock rows in opposite order are told apart by the server, which gives one of them up: that one is run again.
Waiting for a lock and running a statement are bounded, so a stuck neighbour costs an error and not a hang.
What a transaction changed is recorded in it, for the other replicas.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Self, TypeVar

import psycopg
import sqlalchemy as sa
import structlog

from fairway.server.store.changes import Change, Listener, collect, record
from fairway.server.store.errors import CLOSED, StoreUnavailable, in_our_words
from fairway.server.store.migrate import LOCK_MILLISECONDS, migrate

T = TypeVar("T")

_log = structlog.get_logger()

_CONNECTIONS = 8
#: A piece of work that the server gave up for another's sake is run at most this often.
_ATTEMPTS = 4
#: Any number, as long as no other program uses it on this database: "fairway" by its letters' places.
_MIGRATION_LOCK = 6_01_09_18_23_01_25
#: Between two looks whether a migration can go on, in seconds.
_PAUSE = 0.1
#: How long another transaction that has locked a row is waited for.
LOCK_SECONDS = 5.0
#: What a server says that only follows another, to a write and to the wish for one.
_READ_ONLY = (psycopg.errors.ReadOnlySqlTransaction, psycopg.errors.FeatureNotSupported)
#: So that a server, or a way to it, that is gone without a word is noticed within half a minute.
LINE: Mapping[str, str | int] = {
    "connect_timeout": 5,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}
_OTHER_LIMITS = "-c statement_timeout=30s -c idle_in_transaction_session_timeout=60s"


class PostgresDatabase:
    """One database on a server."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine
        self._reader = engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        self._threads = ThreadPoolExecutor(_CONNECTIONS, thread_name_prefix="store")
        self._listeners: list[Listener] = []
        self._closed = False

    @classmethod
    def open(cls, url: sa.URL) -> Self:
        """The database that the URL names, migrated."""
        engine = sa.create_engine(
            url.set(drivername="postgresql+psycopg"),
            pool_size=_CONNECTIONS,
            max_overflow=0,
            pool_pre_ping=True,
            connect_args={
                **LINE,
                "options": f"-c lock_timeout={int(LOCK_SECONDS * 1000)}ms {_OTHER_LIMITS}",
            },
        )
        try:
            _migrate(engine)
        except _Unreachable as error:
            engine.dispose()
            # Whoever starts the server may know where its database is.
            raise StoreUnavailable(f"{error} ({error.said})") from error
        except BaseException:
            engine.dispose()
            raise
        return cls(engine)

    async def read(self, work: Callable[[sa.Connection], T]) -> T:
        """Run the work in a transaction that sees one moment and cannot write."""
        return await self._in_thread(lambda engine: _attempt(engine, work), self._reader)

    async def write(self, work: Callable[[sa.Connection], T]) -> T:
        """Run the work in a transaction."""
        loop = asyncio.get_running_loop()

        def recorded(connection: sa.Connection) -> tuple[T, list[Change]]:
            changes = collect(connection)
            result = work(connection)
            record(connection, changes)
            return result, changes

        def written(engine: sa.Engine) -> T:
            result, changes = _attempt(engine, _written(recorded))
            # From here, because a caller who has gone away meanwhile keeps nobody from hearing of it.
            if changes:
                with contextlib.suppress(RuntimeError):  # the loop has been closed: nobody listens there
                    loop.call_soon_threadsafe(self._tell, changes)
            return result

        return await self._in_thread(written, self._engine)

    def listen(self, listener: Listener) -> None:
        """Tell the listener what was changed through this process."""
        self._listeners.append(listener)

    @property
    def shared_url(self) -> str:
        """As psycopg takes it, with the password."""
        return self._engine.url.set(drivername="postgresql").render_as_string(hide_password=False)

    def close(self) -> None:
        """Finish what runs, then let the connections go."""
        self._closed = True
        self._threads.shutdown()
        self._engine.dispose()

    async def _in_thread(self, run: Callable[[sa.Engine], T], engine: sa.Engine) -> T:
        if self._closed:
            raise StoreUnavailable(CLOSED)
        return await asyncio.get_running_loop().run_in_executor(self._threads, run, engine)

    def _tell(self, changes: list[Change]) -> None:
        for listener in self._listeners:
            listener(changes)


def _migrate(engine: sa.Engine) -> None:
    with _in_our_errors(), engine.connect() as connection:
        # A large table takes its time; but what must be alone with one waits only so long, as others wait behind it.
        for setting in ("statement_timeout = 0", f"lock_timeout = {LOCK_MILLISECONDS}"):
            connection.execute(sa.text(f"SET {setting}"))
        connection.commit()
        try:
            while not _migrated(connection):
                time.sleep(_PAUSE)
        finally:
            connection.invalidate()  # it ends, and with it what was set and locked here


def _migrated(connection: sa.Connection) -> bool:
    """Whether nobody was in the way of the migration."""
    try:
        migrate(connection, partial(_wait_for_turn, connection))
    except sa.exc.DBAPIError as error:
        if not isinstance(error.orig, psycopg.errors.LockNotAvailable | psycopg.errors.DeadlockDetected):
            raise
        connection.rollback()
        _log.info("the database is in use; its tables are changed as soon as they can be", said=str(error.orig))
        return False
    return True


def _wait_for_turn(connection: sa.Connection) -> None:
    """Wait until no other replica migrates. By asking: a transaction that waits would hold up the one that migrates."""
    mine = sa.select(sa.func.pg_try_advisory_lock(_MIGRATION_LOCK))
    while not connection.execute(mine).scalar_one():
        connection.commit()
        time.sleep(_PAUSE)
    connection.commit()


def _written(work: Callable[[sa.Connection], T]) -> Callable[[sa.Connection], T]:
    """The work, for a server that may be about to hand over to another: it then takes no more writes."""

    def run(connection: sa.Connection) -> T:
        try:
            return work(connection)
        except sa.exc.DBAPIError as error:
            if not isinstance(error.orig, _READ_ONLY):
                raise
            connection.invalidate()  # the next one may lead to the server that has taken over
            raise StoreUnavailable("the database takes no writes now; try again") from error

    return run


def _attempt(engine: sa.Engine, work: Callable[[sa.Connection], T]) -> T:
    for _ in range(_ATTEMPTS - 1):
        with contextlib.suppress(_GivenUp):
            return _once(engine, work)
    return _once(engine, work)


def _once(engine: sa.Engine, work: Callable[[sa.Connection], T]) -> T:
    with _in_our_errors(), engine.begin() as connection:
        return work(connection)


@contextlib.contextmanager
def _in_our_errors() -> Iterator[None]:
    try:
        yield
    except sa.exc.SQLAlchemyError as error:
        if _was_given_up(error):
            raise _GivenUp("another change of the same rows came first; try again") from error
        if (said := _no_connection(error)) is not None:
            _log.warning("the database server cannot be reached", said=said)
            raise _Unreachable(said) from error
        ours = in_our_words(error)
        if ours is None and isinstance(error, sa.exc.DBAPIError) and error.connection_invalidated:
            # Whatever the server calls that: to end a transaction that is idle, it calls an internal error.
            ours = StoreUnavailable("the connection to the database was lost; try again")
        if ours is None:
            raise
        raise ours from error


class _GivenUp(StoreUnavailable):
    """The server gave this transaction up so that another could go on."""


class _Unreachable(StoreUnavailable):
    """There is no connection. Callers from outside are not told where the server is, or who we are there."""

    def __init__(self, said: str) -> None:
        self.said = said
        super().__init__("the database server cannot be reached now; try again")


def _was_given_up(error: sa.exc.SQLAlchemyError) -> bool:
    given_up = psycopg.errors.DeadlockDetected | psycopg.errors.SerializationFailure
    return isinstance(error, sa.exc.DBAPIError) and isinstance(error.orig, given_up)


def _no_connection(error: sa.exc.SQLAlchemyError) -> str | None:
    """What the driver says when it is not the server that speaks, for then there is no SQL state."""
    original = error.orig if isinstance(error, sa.exc.OperationalError) else None
    unreachable = isinstance(original, psycopg.OperationalError) and original.sqlstate is None
    return str(original).partition("\n")[0] if unreachable else None
