"""SQLite: any number of readers, one writer thread, and one sync of the disk for all writes that wait.

A transaction that reads first and then writes fails under SQLite when somebody else wrote in between; one that says
beforehand that it will write (BEGIN IMMEDIATE) waits instead. A durable commit costs a sync of the disk, some
milliseconds; so the writer takes everything that waits into one transaction and tells nobody of success before the
commit. A piece of work that fails has seldom written anything yet; when it has, the transaction is given up and all of
it done again, each piece in a savepoint of its own: those cost a fifth of all work, so they are not used before they
are needed. WAL lets readers go on meanwhile.
"""

import asyncio
import contextlib
import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import Any, Self, TypeVar, cast

import sqlalchemy as sa

from fairway.errors import FairwayError
from fairway.server.disk import sync_folders_above
from fairway.server.store.changes import Change, Listener, collect
from fairway.server.store.errors import CLOSED, StoreUnavailable, UnusableDatabase, in_our_words
from fairway.server.store.migrate import migrate
from fairway.server.store.sqlite_commits import Commit, CommitNumbers

T = TypeVar("T")

_READERS = 4
#: How long another process that writes is waited for.
BUSY_SECONDS = 5.0
#: So that a flood of writes does not keep its first caller waiting.
_LARGEST_GROUP = 256
#: How long a commit may be in the WAL alone.
_CHECKPOINT_SECONDS = 60.0
#: How long writers may wait for readers that are in the way of a checkpoint.
_CHECKPOINT_BUSY_MILLISECONDS = 50
#: The size to which SQLite cuts the WAL after a checkpoint.
_WAL_LIMIT = f"PRAGMA journal_size_limit={64 << 20}"


class _Piece:
    """A piece of work that waits for the writer, and the caller who waits for it."""

    def __init__(self, work: Callable[[sa.Connection], Any]) -> None:
        self.loop = asyncio.get_running_loop()
        self._answered: asyncio.Future[None] = self.loop.create_future()
        self._work = work
        self._result: Any = None
        self._error: BaseException | None = None
        #: What the work changed; nothing once it failed.
        self.changes: list[Change] = []

    @property
    def is_wanted(self) -> bool:
        """Whether the caller still waits."""
        return not self._answered.cancelled()

    def run(self, connection: sa.Connection) -> None:
        """Do the work; _HalfDone when it failed after it had changed something."""
        driver = _driver(connection)
        before = driver.total_changes
        if not self._succeeds(connection) and driver.total_changes != before:
            raise _HalfDone

    def run_apart(self, connection: sa.Connection) -> None:
        """Do the work in a savepoint; what it raises undoes this piece only."""
        # Straight to the driver: SQLAlchemy's own savepoints cost more than most pieces of work.
        driver = _driver(connection)
        driver.execute("SAVEPOINT piece")
        if not self._succeeds(connection):
            driver.execute("ROLLBACK TO piece")
        driver.execute("RELEASE piece")

    def _succeeds(self, connection: sa.Connection) -> bool:
        self._error = None
        self.changes = collect(connection)
        try:
            self._result = self._work(connection)
        except BaseException as error:  # whatever it is, it is the caller's: the writer goes on
            self.fail(_callers_error(error))
            if not _driver(connection).in_transaction:
                raise  # a full disk made SQLite undo the whole group
        return self._error is None

    def fail(self, error: BaseException) -> None:
        """Nothing that this piece did was kept."""
        self._error = error
        self.changes = []

    def answer(self) -> None:
        """Wake the caller, in the caller's own thread."""
        if not self._answered.done():
            self._answered.set_result(None)

    async def outcome(self) -> Any:
        """What the work returned or raised, once it is durable."""
        await self._answered
        if self._error is not None:
            raise self._error
        return self._result


class _HalfDone(Exception):
    """A piece of work failed, and what it changed before that has to be undone without the others."""


class SQLiteDatabase:
    """One file."""

    #: One server process uses it.
    shared_url = ""

    def __init__(self, readers: sa.Engine, writer: sa.Engine, commits: CommitNumbers) -> None:
        self._readers = readers
        self._writer = writer
        self._commits = commits
        #: When the WAL is to be written back, by the monotonic clock; None while it is empty.
        self._checkpoint_due: float | None = None
        self._reader_threads = ThreadPoolExecutor(_READERS, thread_name_prefix="store-read")
        #: Connections of readers between two reads: to take one out of SQLAlchemy's pool costs more than most reads.
        self._resting: SimpleQueue[sa.Connection] = SimpleQueue()
        self._queue: SimpleQueue[_Piece | None] = SimpleQueue()
        self._listeners: list[Listener] = []
        self._closing = Lock()
        self._closed = False
        self._thread = Thread(target=self._write_groups, name="store-write", daemon=True)
        self._thread.start()

    @classmethod
    def open(cls, url: sa.URL) -> Self:
        """The database in the file that the URL names, migrated."""
        path = url.database or ""
        if not os.path.isabs(path):
            raise UnusableDatabase(
                f"{path!r} is no absolute path: name the file as in sqlite:////var/lib/fairway/fairway.db"
            )
        _make_private(path)
        writer = _engine(path, "BEGIN IMMEDIATE", ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", _WAL_LIMIT))
        commits = CommitNumbers(path)
        try:
            with _alone(path), _translated(), writer.begin() as connection:
                migrate(connection)
                commits.check(_driver(connection))
        except BaseException:
            commits.close()
            writer.dispose()
            raise
        return cls(_engine(path, "", ("PRAGMA query_only=ON",)), writer, commits)

    async def read(self, work: Callable[[sa.Connection], T]) -> T:
        """Run the work in a reader's thread."""
        if self._closed:
            raise StoreUnavailable(CLOSED)
        return await asyncio.get_running_loop().run_in_executor(self._reader_threads, self._read, work)

    async def write(self, work: Callable[[sa.Connection], T]) -> T:
        """Hand the work to the writer and wait for the commit."""
        piece = _Piece(work)
        with self._closing:
            if self._closed:
                raise StoreUnavailable(CLOSED)
            self._queue.put(piece)
        result: T = await piece.outcome()
        return result

    def listen(self, listener: Listener) -> None:
        """Tell the listener what was changed, before the caller who changed it goes on."""
        self._listeners.append(listener)

    def close(self) -> None:
        """Write what waits, then close the file."""
        with self._closing:
            if self._closed:
                self._thread.join()
                return
            self._closed = True
            self._queue.put(None)
        self._thread.join()
        self._reader_threads.shutdown()
        while not self._resting.empty():
            self._resting.get().close()
        self._readers.dispose()
        self._writer.dispose()
        self._commits.close()

    def _read(self, work: Callable[[sa.Connection], T]) -> T:
        with _translated():
            try:
                connection = self._resting.get_nowait()
            except Empty:
                connection = self._readers.connect()
            driver = _driver(connection)
            try:
                driver.execute("BEGIN")
                try:
                    return work(connection)
                finally:
                    driver.rollback()
            except (sa.exc.SQLAlchemyError, sqlite3.DatabaseError):
                connection.invalidate()  # whatever became of it, the next reader begins with another
                raise
            finally:
                self._rest(connection)

    def _rest(self, connection: sa.Connection) -> None:
        if connection.invalidated:
            connection.close()
        else:
            self._resting.put(connection)

    def _write_groups(self) -> None:
        while True:
            wait = None if self._checkpoint_due is None else max(0.0, self._checkpoint_due - monotonic())
            try:
                first = self._queue.get(timeout=wait)
            except Empty:
                self._checkpoint()
                continue
            if first is None:
                return
            self._write_group([first])

    def _checkpoint(self) -> None:
        """Write the WAL back into the database and empty it."""
        self._checkpoint_due = None
        # A busy or full database stays as it is until the next round.
        with contextlib.suppress(FairwayError), _translated(), self._writer.connect() as connection:
            driver = _driver(connection)
            driver.execute(f"PRAGMA busy_timeout={_CHECKPOINT_BUSY_MILLISECONDS}")
            try:
                driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            finally:
                driver.execute(f"PRAGMA busy_timeout={int(BUSY_SECONDS * 1000)}")
        self._commits.sync()

    def _write_group(self, group: list[_Piece]) -> None:
        try:
            try:
                self._commit(group, _Piece.run)
            except _HalfDone:
                self._commit(group, _Piece.run_apart)
        except BaseException as error:  # nothing was committed, so everybody is told
            for piece in group:
                piece.fail(error)
        self._answer(group)

    def _commit(self, group: list[_Piece], run: Callable[[_Piece, sa.Connection], None]) -> None:
        """Do the work of a group, to which everybody belongs who comes before it is done."""
        commit: Commit | None = None
        with _translated(), self._writer.begin() as connection:
            driver = _driver(connection)
            before = driver.total_changes
            for piece in group:
                if piece.is_wanted:
                    run(piece, connection)
                if piece is group[-1]:
                    group.extend(self._waiting(_LARGEST_GROUP - len(group)))
            if driver.total_changes != before:
                commit = self._commits.next(driver)
        if commit is not None:
            self._commits.acknowledge(commit)
            if self._checkpoint_due is None:
                self._checkpoint_due = monotonic() + _CHECKPOINT_SECONDS

    def _waiting(self, most: int) -> Iterator[_Piece]:
        for _ in range(most):
            if self._queue.empty():
                return
            following = self._queue.get()
            if following is None:
                # What is to be the last word stays the last.
                self._queue.put(None)
                return
            yield following

    def _answer(self, group: list[_Piece]) -> None:
        """Wake each event loop once for all of its callers: a wake-up costs as much as a piece of work."""
        for loop in {piece.loop for piece in group}:
            mine = [piece for piece in group if piece.loop is loop]
            with contextlib.suppress(RuntimeError):  # the loop has been closed: nobody waits there
                loop.call_soon_threadsafe(self._answer_here, mine)

    def _answer_here(self, pieces: list[_Piece]) -> None:
        for piece in pieces:
            piece.answer()
        if changes := [change for piece in pieces for change in piece.changes]:
            for listener in self._listeners:
                listener(changes)


@contextlib.contextmanager
def _alone(path: str) -> Iterator[None]:
    """Keep out others who open the same database, as long as it takes.

    The busy handler is no help here: SQLite does not ask it when two switch to WAL at once, and a migration of a large
    database may take longer than it waits. A process that dies lets go.
    """
    directory = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(directory, fcntl.LOCK_EX)
        yield
    finally:
        os.close(directory)


def _make_private(path: str) -> None:
    try:
        is_new = not os.path.exists(path)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        if is_new:
            # SQLite sees to the nearest one only.
            sync_folders_above(Path(path))
    except OSError as error:
        raise UnusableDatabase(
            f"the database file {path} cannot be opened ({error.strerror}); its directory must exist and be writable"
        ) from error


def _engine(path: str, begin: str, pragmas: tuple[str, ...]) -> sa.Engine:
    """Connections to the file, on which a transaction begins so; with no word, its user begins and ends it."""
    engine = sa.create_engine(
        sa.URL.create("sqlite", database=path),
        pool_size=_READERS,
        max_overflow=0,
        connect_args={"timeout": BUSY_SECONDS},
    )

    @sa.event.listens_for(engine, "connect")
    def _on_connect(connection: sqlite3.Connection, _record: object) -> None:
        connection.isolation_level = None  # the driver begins nothing by itself; we say when and how
        for pragma in pragmas:
            connection.execute(pragma)

    def _on_begin(connection: sa.Connection) -> None:
        _driver(connection).execute(begin)  # as for savepoints

    if begin:
        sa.event.listen(engine, "begin", _on_begin)
    return engine


def _driver(connection: sa.Connection) -> sqlite3.Connection:
    return cast(sqlite3.Connection, connection.connection.driver_connection)


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (sa.exc.SQLAlchemyError, sqlite3.DatabaseError) as error:
        ours = in_our_words(error)
        if ours is None:
            raise
        raise ours from error


def _callers_error(error: BaseException) -> BaseException:
    """The same for a piece of work that has failed, so that one that succeeds does not pay for it."""
    try:
        with _translated():
            raise error
    except BaseException as translated:
        return translated
