"""What is stored is announced once it is durable; replicas find what others stored, in whichever order it came."""

import asyncio
from collections.abc import Sequence

import psycopg
import pytest
import sqlalchemy as sa

from fairway.model.deployment import DeploymentStatus
from fairway.server.store import agents, deployments, live_states, projects
from fairway.server.store.changes import (
    Change,
    ChangeKind,
    ChangesSince,
    changes_since,
    forget_old_changes,
)
from fairway.server.store.errors import AlreadyExists, UnusableInput
from fairway.server.store.projects import Project
from fairway.server.store.rows import Rows
from fairway.server.store.store import Store
from fairway.server.store.tables import PROJECTS
from tests.integration.server.store.nouns import a_live_state, a_project, an_agent, keep
from tests.patience import PATIENCE_SECONDS
from tests.unit.model.builders import a_deployment

SHOP = Change(ChangeKind.PROJECTS, "shop", "")
ROWS = Rows(PROJECTS, Project, "project", lambda project: {"id": project.id})


def heard(store: Store) -> list[Change]:
    """Everything that the store tells from now on."""
    told: list[Change] = []

    def listener(changes: Sequence[Change]) -> None:
        told.extend(changes)

    store.listen(listener)
    return told


async def since(store: Store, position: str) -> ChangesSince:
    return await store.read(lambda connection: changes_since(connection, position))


async def test_what_is_made_changed_and_deleted_is_announced(store: Store) -> None:
    told = heard(store)

    await keep(store, deployments.insert_deployment, a_deployment(id="d-1", project_id="shop"))
    await store.write(
        lambda connection: deployments.update_deployment(
            connection, "d-1", lambda found: found.advance(DeploymentStatus.PLANNED, "planned", found.updated_at)
        )
    )
    await keep(store, ROWS.save, a_project())
    await store.write(lambda connection: ROWS.delete(connection, "shop"))

    deployment = Change(ChangeKind.DEPLOYMENTS, "d-1", "shop")
    assert told == [deployment, deployment, SHOP, SHOP]


async def test_what_changes_nothing_or_is_watched_by_nobody_is_not_announced(store: Store) -> None:
    await keep(store, agents.insert_agent, an_agent())
    told = heard(store)

    await store.write(lambda connection: agents.update_agent(connection, "agent-1", lambda found: found))
    await store.write(lambda connection: ROWS.delete(connection, "nobody"))
    await keep(store, live_states.save_live_state, a_live_state())

    assert told == []


async def test_work_that_is_undone_announces_nothing_and_its_neighbours_all_of_theirs(store: Store) -> None:
    await keep(store, projects.insert_project, a_project("taken"))
    told = heard(store)

    done = await asyncio.gather(
        *(keep(store, projects.insert_project, a_project(id), a_project(last)) for id, last in TWO_EACH),
        return_exceptions=True,
    )

    assert [type(each) for each in done] == [type(None), AlreadyExists, type(None)]
    assert {change.id for change in told} == {"a", "b", "e", "f"}


TWO_EACH = (("a", "b"), ("c", "taken"), ("e", "f"))


async def test_a_replica_finds_each_change_of_another_once(postgres_url: str) -> None:
    one, other = await Store.open(postgres_url), await Store.open(postgres_url)
    start = (await since(other, "")).position

    await keep(one, projects.insert_project, a_project("a"), a_project("b"))
    found = await since(other, start)
    await keep(one, projects.insert_project, a_project("c"))
    following = await since(other, found.position)

    assert (found.changes, following.changes) == (
        (Change(ChangeKind.PROJECTS, "a", ""), Change(ChangeKind.PROJECTS, "b", "")),
        (Change(ChangeKind.PROJECTS, "c", ""),),
    )
    assert (await since(other, following.position)).changes == ()
    await asyncio.gather(one.close(), other.close())


async def test_a_change_that_is_committed_late_is_found_where_the_highest_number_loses_it(postgres_url: str) -> None:
    store = await Store.open(postgres_url)
    position = (await since(store, "")).position
    begun, go_on = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def slow(connection: sa.Connection) -> None:
        projects.insert_project(connection, a_project("slow"))
        loop.call_soon_threadsafe(begun.set)
        asyncio.run_coroutine_threadsafe(go_on.wait(), loop).result(PATIENCE_SECONDS)

    slow_write = asyncio.create_task(store.write(slow))
    await begun.wait()
    await keep(store, projects.insert_project, a_project("quick"))
    first = await since(store, position)
    highest = await store.read(lambda connection: highest_number(connection, 0))
    go_on.set()
    await slow_write
    second = await since(store, first.position)

    assert first.changes == (Change(ChangeKind.PROJECTS, "quick", ""),)
    assert second.changes == (Change(ChangeKind.PROJECTS, "slow", ""),)
    # Whoever had remembered the highest number would ask for what comes behind it, and find nothing.
    assert await store.read(lambda connection: highest_number(connection, highest)) == 0
    await store.close()


def highest_number(connection: sa.Connection, above: int) -> int:
    found = sa.text("SELECT coalesce(max(transaction_id), 0) FROM changes WHERE transaction_id > :above")
    return int(connection.execute(found, {"above": above}).scalar_one())


async def test_an_open_transaction_of_somebody_else_holds_nobody_up(postgres_url: str) -> None:
    store = await Store.open(postgres_url)
    position = (await since(store, "")).position
    with psycopg.connect(postgres_url) as other:
        other.execute("SELECT pg_current_xact_id()")

        await keep(store, projects.insert_project, a_project())

        assert (await since(store, position)).changes == (SHOP,)
    await store.close()


async def test_a_position_before_what_was_forgotten_does_not_know_what_it_missed(postgres_url: str) -> None:
    store = await Store.open(postgres_url)
    before = (await since(store, "")).position
    await keep(store, projects.insert_project, a_project("old"))
    after = (await since(store, "")).position
    await store.write(lambda connection: connection.execute(sa.text("UPDATE changes SET created_at = 0")))

    assert await store.write(forget_old_changes) == 1
    await keep(store, projects.insert_project, a_project())

    assert (await since(store, before)).changes is None
    assert (await since(store, after)).changes == (SHOP,)
    assert await store.write(forget_old_changes) == 0
    await store.close()


async def test_a_position_of_another_database_server_does_not_know_what_it_missed(postgres_url: str) -> None:
    store = await Store.open(postgres_url)

    assert (await since(store, "900000000:900000000:")).changes is None
    await store.close()


@pytest.mark.parametrize(
    "position",
    ["1", "0:1:", "5:4:", "1:5:6", "1:5:3,2", "1:5:3,3", "1:5:'", f"1:{2**63}:", "1:5:" + ",".join(["2"] * 3000)],
)
async def test_what_is_no_position_is_refused(postgres_url: str, position: str) -> None:
    store = await Store.open(postgres_url)

    with pytest.raises(UnusableInput, match="is no position among changes"):
        await since(store, position)
    await store.close()
