"""A new server migrates PostgreSQL while replicas of an older Fairway go on writing to it.

The older ones are their SQL, word for word as the code of revision 0006 sent it; that code is not here any more.
"""

import asyncio
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any

import msgspec
import psycopg
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from fairway.model.deployment import Deployment
from fairway.server.store import migrate, online, postgres
from fairway.server.store.deployments import DeploymentFilter, list_deployments
from fairway.server.store.documents import to_microseconds
from fairway.server.store.page import PageRequest, Sort
from fairway.server.store.store import Store
from fairway.server.store.tables import METADATA
from tests.integration.server.store.nouns import minutes
from tests.integration.server.store.old_databases import an_old_database
from tests.patience import PATIENCE_SECONDS
from tests.unit.model.builders import a_deployment

#: The last revision of which the next ones need not be online.
OLD = "0006"
_INSERT = (
    "INSERT INTO deployments (id, project_id, agent_id, application_id, application_name, kind, status, created_at,"
    " updated_at, completed_at, document) VALUES (%s, %s, %s, %s, %s, '', %s, %s, %s, NULL, %s)"
)
_INSERT_LABEL = (
    "INSERT INTO deployment_labels (owner_id, key, value, project_id, updated_at) VALUES (%s, 'team', 'a', 'shop', %s)"
)
_UPDATE = "UPDATE deployments SET updated_at = %s WHERE id = %s"
_MOVE_LABELS = "UPDATE deployment_labels SET updated_at = %s WHERE owner_id = %s"
#: As a replica bounds its own waiting.
_OPTIONS = "-c lock_timeout=5s -c statement_timeout=30s"

#: What no writer may meet: what it uses is gone, or what it does not know is wanted of it, or it is kept waiting.
_FORBIDDEN = {
    "something is dropped": re.compile(r"DROP (?!INDEX CONCURRENTLY)|DELETE|TRUNCATE", re.I),
    "something is renamed": re.compile(r"RENAME", re.I),
    "a type is changed": re.compile(r"ALTER COLUMN \w+ (SET DATA )?TYPE", re.I),
    "a column may not be left out": re.compile(r"SET NOT NULL|ADD COLUMN (?!.*DEFAULT).*NOT NULL", re.I),
    "an index keeps writers out": re.compile(r"CREATE (UNIQUE )?INDEX (?!CONCURRENTLY)", re.I),
    "a rule is checked on all rows": re.compile(r"ADD (CONSTRAINT|CHECK|FOREIGN|UNIQUE|PRIMARY)", re.I),
    "all rows are written at once": re.compile(r"UPDATE (?!alembic_version)(?!.*<= %\(last\)s)", re.I | re.S),
}


class OldReplica:
    """Begins deployments and reports on them as revision 0006 did, until it is stopped."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._write)
        self.begun: list[Deployment] = []
        self.error: BaseException | None = None

    def __enter__(self) -> "OldReplica":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _write(self) -> None:
        try:
            with psycopg.connect(self._url, autocommit=False, options=_OPTIONS) as connection:
                while not self._stop.is_set():
                    self.begun.append(begin(connection, f"new-{len(self.begun):06}", 60 + len(self.begun)))
                    connection.commit()
                    later = to_microseconds(minutes(1_000_000 + len(self.begun)))
                    connection.execute(_UPDATE, (later, self.begun[-1].id))
                    connection.execute(_MOVE_LABELS, (later, self.begun[-1].id))
                    connection.commit()
        except psycopg.Error as error:
            self.error = error


def begin(connection: psycopg.Connection[Any], id: str, minute: int) -> Deployment:
    """A deployment with a label, as revision 0006 stored it."""
    made = a_deployment(id=id, labels={"team": "a"}, created_at=minutes(minute), updated_at=minutes(minute))
    at, document = to_microseconds(made.created_at), msgspec.json.encode(made).decode()
    names = (made.project_id, made.agent_id, made.application_id, made.application_name, made.status.value)
    connection.execute(_INSERT, (id, *names, at, at, document))
    connection.execute(_INSERT_LABEL, (id, at))
    return made


@pytest.fixture
def old_url(postgres_url: str) -> str:
    """A database of revision 0006 with some deployments, more than are filled at a time."""
    with an_old_database(postgres_url, OLD):
        pass
    with psycopg.connect(postgres_url) as connection:
        for number in range(30):
            begin(connection, f"old-{number:02}", 59 - number)
    return postgres_url


@pytest.fixture(autouse=True)
def few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(online, "_AT_A_TIME", 7)


async def by_creation(store: Store, **wanted: Any) -> list[str]:
    filter = DeploymentFilter(project_id="shop", labels={"team": "a"}, **wanted)
    request, ids = PageRequest(limit=1000, sort=Sort.CREATION, ascending=True), list[str]()
    # However many an older replica has begun meanwhile.
    while True:
        page = await store.read(partial(list_deployments, filter=filter, page=request))
        ids += [deployment.id for deployment in page.items]
        if not page.cursor:
            return ids
        request = msgspec.structs.replace(request, cursor=page.cursor)


async def test_an_older_replica_writes_on_while_a_new_one_migrates_and_starts(old_url: str) -> None:
    with OldReplica(old_url) as replica:
        await until(lambda: len(replica.begun) > 5)
        store = await Store.open(old_url)
        written = len(replica.begun)
        await until(lambda: len(replica.begun) > written + 5)
        found = await by_creation(store, until=minutes(60))
    everything = await by_creation(store)
    await store.close()

    assert replica.error is None
    assert found == [f"old-{number:02}" for number in reversed(range(30))]
    assert sorted(everything[30:]) == [deployment.id for deployment in replica.begun]


async def test_what_an_older_replica_begins_after_the_migration_counts_as_begun_then(old_url: str) -> None:
    store = await Store.open(old_url)
    with psycopg.connect(old_url) as connection:
        (now,) = connection.execute("SELECT now()").fetchone() or (None,)
        begin(connection, "late", 1)

    found = await by_creation(store, since=now, until=now + timedelta(hours=1))
    await store.close()

    assert found == ["late"]


async def test_no_step_of_a_migration_is_in_the_way_of_an_older_replica(old_url: str) -> None:
    with statements() as said:
        await (await Store.open(old_url)).close()

    changes = [text for text in said if not text.startswith(("SELECT", "SET", "INSERT INTO alembic_version"))]
    found = [(word, text) for text in changes for word, rule in _FORBIDDEN.items() if rule.search(text)]
    assert len(changes) > 5
    assert found == []


async def test_a_migration_waits_for_a_long_look_without_holding_up_writers(
    old_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (postgres, online):
        monkeypatch.setattr(module, "LOCK_MILLISECONDS", 50)
    with psycopg.connect(old_url) as backup, OldReplica(old_url) as replica:
        backup.execute("SELECT count(*) FROM deployment_labels")
        opening = asyncio.create_task(Store.open(old_url))
        await until(lambda: waits(old_url) or opening.done())
        written = len(replica.begun)
        await until(lambda: len(replica.begun) > written + 20)
        migrated_meanwhile = opening.done()
        backup.rollback()
        store = await opening
    await store.close()

    assert (replica.error, migrated_meanwhile) == (None, False)


async def test_a_migration_that_was_cut_off_is_taken_up_again(old_url: str) -> None:
    with psycopg.connect(old_url) as connection:
        connection.execute("ALTER TABLE deployment_labels ADD COLUMN created_at BIGINT DEFAULT 0 NOT NULL")
        connection.execute("UPDATE deployment_labels SET created_at = 1 WHERE owner_id = 'old-00'")
        connection.execute(
            "CREATE INDEX deployments_by_creation ON deployments (project_id, created_at DESC, id);"
            "CREATE INDEX deployments_of_kind_by_creation ON deployments (id);"
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = to_regclass('deployments_of_kind_by_creation')"
        )

    store = await Store.open(old_url)
    differences = await store.read(lambda c: compare_metadata(MigrationContext.configure(c), METADATA))
    broken = await store.read(lambda c: c.execute(sa.text("SELECT 1 FROM pg_index WHERE NOT indisvalid")).all())
    found = await by_creation(store)
    await store.close()

    assert (differences, broken) == ([], [])
    assert found == ["old-00", *(f"old-{number:02}" for number in reversed(range(1, 30)))]


async def test_a_start_that_was_cut_off_before_its_first_step_is_taken_up_again(postgres_url: str) -> None:
    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)")

    store = await Store.open(postgres_url)

    assert await by_creation(store) == []
    await store.close()


async def test_what_another_replica_makes_meanwhile_is_not_taken_for_a_strangers(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await (await Store.open(postgres_url)).close()
    really = migrate._revision
    looks: list[bool] = []

    def a_moment_ago(connection: sa.Connection) -> str | None:
        looks.append(True)
        return None if len(looks) == 1 else really(connection)

    monkeypatch.setattr(migrate, "_revision", a_moment_ago)

    await (await Store.open(postgres_url)).close()

    assert len(looks) == 2


def test_the_revisions_are_one_line() -> None:
    versions = {path.name: path.read_text() for path in (migrate._MIGRATIONS / "versions").glob("[0-9]*.py")}
    links = {
        name.partition("_")[0]: re.findall(r'^(?:down_)?revision = (?:"(\d+)"|None)$', text, re.M)
        for name, text in versions.items()
    }
    known = sorted(links)

    assert links == {number: [number, before] for number, before in zip(known, ["", *known], strict=False)}


@contextmanager
def statements() -> Iterator[list[str]]:
    """What is sent to databases."""
    said: list[str] = []

    def note(*call: Any) -> None:
        said.append(call[2])

    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    try:
        yield said
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", note)


def waits(url: str) -> bool:
    """Whether somebody wants to be alone with a table that others use."""
    with psycopg.connect(url) as connection:
        waiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'"
        return connection.execute(waiting).fetchone() is not None


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not is_so():  # noqa: ASYNC110 - a thread and a database, which tell nobody
            await asyncio.sleep(0.01)
