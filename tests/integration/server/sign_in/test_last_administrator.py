"""However two administrators get in each other's way, one is left; on both databases."""

import asyncio
import contextlib
import itertools
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from fairway.clock import FakeClock
from fairway.model.role import ADMIN
from fairway.server.actions.desk import ActionDesk
from fairway.server.callers import Caller, CallerKind
from fairway.server.hints import HintBoard
from fairway.server.logs import LogStore
from fairway.server.sign_in.actions import users as user_actions
from fairway.server.sign_in.actions.users import UserChange, change_user, delete_user
from fairway.server.status_codes import NotNow
from fairway.server.store.sessions import delete_sessions_of
from fairway.server.store.store import Store
from fairway.server.store.tables import METADATA
from fairway.server.store.users import insert_user, list_users
from tests.integration.server.postgres import a_database, a_postgres_server
from tests.integration.server.sign_in.people import a_user
from tests.integration.server.store.nouns import keep
from tests.unit.model.builders import NOW

ADMINISTRATORS = [a_user(name, roles=("Admin",)) for name in ("ada", "bo")]


@pytest.fixture(scope="session")
def database() -> Iterator[str]:
    with a_postgres_server() as server:
        yield a_database(server)


@pytest.fixture(params=["sqlite", "postgres"])
async def desk(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ActionDesk]:
    sqlite = request.param == "sqlite"
    store = await Store.open(f"sqlite:///{tmp_path}/fairway.db" if sqlite else request.getfixturevalue("database"))
    logs, numbers = LogStore.open(tmp_path / "logs"), itertools.count()
    yield ActionDesk(
        store=store,
        logs=logs,
        hints=HintBoard(),
        clock=FakeClock(NOW),
        new_id=lambda: str(next(numbers)),
        forget_agent=lambda _: None,
        forget_key=lambda _: None,
    )
    await store.write(_empty)
    await logs.close()
    await store.close()


def _empty(connection: sa.Connection) -> None:
    for table in METADATA.sorted_tables:
        connection.execute(sa.delete(table))


async def test_two_who_send_each_other_away_do_not_pass_the_check_together(
    desk: ActionDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = threading.Barrier(2)

    def meet(connection: sa.Connection, user_id: str) -> int:
        # Between check and commit, each waits for the other for as long as it takes to see whether it comes.
        with contextlib.suppress(threading.BrokenBarrierError):
            both.wait(timeout=0.5)
        return delete_sessions_of(connection, user_id)

    monkeypatch.setattr(user_actions, "delete_sessions_of", meet)
    await keep(desk.store, insert_user, *ADMINISTRATORS)
    caller = Caller(kind=CallerKind.USER, name="root", project_id="shop", roles=(ADMIN,))

    ends = await asyncio.gather(
        *(change_user(desk, caller, each.id, UserChange(disabled=True)) for each in ADMINISTRATORS),
        return_exceptions=True,
    )

    assert sorted(isinstance(end, NotNow) for end in ends) == [False, True]


async def test_where_no_administrator_is_left_others_can_still_be_sent_away(desk: ActionDesk) -> None:
    caller = Caller(kind=CallerKind.API_KEY, name="first", project_id="shop", roles=(ADMIN,))
    await desk.store.write(lambda connection: insert_user(connection, a_user("jo", roles=("Viewer",))))

    changed = await change_user(desk, caller, "jo", UserChange(disabled=True))
    await delete_user(desk, caller, "jo")

    assert changed.disabled
    assert await desk.store.read(list_users) == ()


async def test_administrators_who_send_each_other_away_at_once_leave_one(desk: ActionDesk) -> None:
    names = [f"admin-{number}" for number in range(6)]

    def insert(connection: sa.Connection) -> None:
        for name in names:
            insert_user(connection, a_user(name, roles=("Admin",)))

    await desk.store.write(insert)

    async def send_away(number: int) -> bool:
        caller = Caller(kind=CallerKind.USER, name=names[number - 1], project_id="shop", roles=(ADMIN,))
        try:
            if number % 2:
                await delete_user(desk, caller, names[number])
            else:
                await change_user(desk, caller, names[number], UserChange(disabled=True))
        except NotNow:
            return False
        return True

    sent = await asyncio.gather(*(send_away(number) for number in range(6)))
    left = [user.id for user in await desk.store.read(list_users) if not user.disabled]

    assert (sent.count(True), len(left)) == (5, 1)
