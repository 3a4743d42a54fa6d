"""Two replicas on one PostgreSQL, in one process: what happens at one is known at the other."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from pathlib import Path

import msgspec
import psycopg
import pytest
import sqlalchemy as sa

from fairway.clock import FakeClock
from fairway.model.agent import AgentKey
from fairway.model.log_block import LogBlock
from fairway.server.agent_auth import AgentAuth
from fairway.server.feed import Feed, LogTopic, Subscription, Topic
from fairway.server.first_start import prepare_first_start
from fairway.server.hints import Hint, HintBoard, HintTopic
from fairway.server.keys import new_agent_key
from fairway.server.logs import LogStore, StageLogKey
from fairway.server.replicas import Live, Memories, connected
from fairway.server.status_codes import BadCredentials
from fairway.server.store import agents, changes, projects
from fairway.server.store.changes import Change, ChangeKind
from fairway.server.store.projects import Project
from fairway.server.store.store import Store
from fairway.server.turn import Turn
from tests.integration.server.postgres import a_database, a_postgres_server
from tests.integration.server.store.nouns import a_project, an_agent, keep
from tests.patience import PATIENCE_SECONDS
from tests.unit.model.builders import NOW

PROJECTS = Topic(ChangeKind.PROJECTS)


@pytest.fixture(scope="module")
def postgres_server() -> Iterator[str]:
    with a_postgres_server() as server:
        yield server


@pytest.fixture
def url(postgres_server: str) -> str:
    return a_database(postgres_server)


class Replica(msgspec.Struct, frozen=True):
    """One replica, without the doors that lead to it."""

    live: Live
    auth: AgentAuth

    async def watch(self, *topics: Topic | LogTopic, position: str | None = None) -> Subscription:
        subscription = Subscription(frozenset(topics), "", "ada")
        await self.live.feed.subscribe(subscription, position)
        return subscription

    async def heard(self, subscription: Subscription) -> set[str]:
        """What of its topics changed, once something did."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not (taken := self.live.feed.take(subscription)).changes:
                await subscription.wake.wait()
        return {change.id for change in taken.changes}


@asynccontextmanager
async def a_replica(url: str, folder: Path) -> AsyncIterator[Replica]:
    async with AsyncExitStack() as stack:
        store, logs = await Store.open(url), LogStore.open(folder / "logs")
        stack.push_async_callback(store.close)
        stack.push_async_callback(logs.close)
        auth = AgentAuth(store, FakeClock(NOW))
        memories = Memories(forget={ChangeKind.AGENTS: auth.forget}, forget_all=auth.forget_all)
        live = Live(store=store, logs=logs, hints=HintBoard(), feed=Feed(), memories=memories)
        await stack.enter_async_context(connected(live))
        yield Replica(live, auth)


async def test_a_change_is_heard_at_both_replicas(url: str, tmp_path: Path) -> None:
    async with a_replica(url, tmp_path) as one, a_replica(url, tmp_path) as other:
        here, there = await one.watch(PROJECTS), await other.watch(PROJECTS)

        await keep(one.live.store, projects.insert_project, a_project("a"), a_project("b"))

        assert await one.heard(here) == {"a", "b"}
        assert await other.heard(there) == {"a", "b"}


async def test_a_watcher_goes_on_at_another_replica_where_it_stood(url: str, tmp_path: Path) -> None:
    async with a_replica(url, tmp_path) as one, a_replica(url, tmp_path) as other:
        here = await one.watch(PROJECTS)
        await keep(one.live.store, projects.insert_project, a_project("a"))
        await one.heard(here)
        position = one.live.feed.position
        await keep(one.live.store, projects.insert_project, a_project("b"))

        there = await other.watch(PROJECTS, position=position)

        assert await other.heard(there) == {"b"}


async def test_hints_reach_agents_at_the_other_replica(url: str, tmp_path: Path) -> None:
    async with (
        a_replica(url, tmp_path) as one,
        a_replica(url, tmp_path) as other,
        aclosing(other.live.hints.watch("agent")) as hints,
    ):
        await until_heard(one, other)
        assert (await anext(hints)).topic is HintTopic.ANYTHING

        one.live.hints.publish("agent", HintTopic.COMMANDS)
        one.live.hints.publish("other", HintTopic.REPOSITORY)

        assert (await next_hint(hints)).topic is HintTopic.COMMANDS


async def test_growth_of_a_log_is_heard_at_both_replicas(url: str, tmp_path: Path) -> None:
    async with a_replica(url, tmp_path) as one, a_replica(url, tmp_path) as other:
        # Whoever begins to hear looks into every log from its beginning, so both do before there is a watcher.
        await until_heard(one, other)
        await until_heard(other, one)
        topic = LogTopic("d", "s")
        here, there = await one.watch(topic), await other.watch(topic)

        await one.live.logs.append(StageLogKey("d", "s", 0), [LogBlock(index=7, log="x", created_at=NOW)])

        await asyncio.wait_for(there.wake.wait(), PATIENCE_SECONDS)
        grown = [replica.live.feed.take(watcher).grown for replica, watcher in ((one, here), (other, there))]
        assert grown == [{topic: 7}, {topic: 7}]


async def test_a_key_that_is_withdrawn_at_one_replica_is_refused_at_the_other(url: str, tmp_path: Path) -> None:
    key = new_agent_key()
    token = [f"PIPED-TOKEN shop,agent-1,{key.shown}"]
    async with a_replica(url, tmp_path) as one, a_replica(url, tmp_path) as other:
        agent = an_agent(keys=(AgentKey(hash=key.stored, creator="ada", created_at=NOW),))
        await keep(one.live.store, agents.insert_agent, agent)
        there = await other.watch(Topic(ChangeKind.AGENTS))
        there.project_id = "shop"
        await other.auth.identify(token)

        disabled = msgspec.structs.replace(agent, disabled=True)
        await one.live.store.write(lambda connection: agents.update_agent(connection, "agent-1", lambda _: disabled))
        await other.heard(there)

        with pytest.raises(BadCredentials):
            await other.auth.identify(token)


async def test_a_replica_whose_connections_were_ended_catches_up_and_trusts_nobody(url: str, tmp_path: Path) -> None:
    async with (
        a_replica(url, tmp_path) as one,
        a_replica(url, tmp_path) as other,
        aclosing(other.live.hints.watch("agent")) as hints,
    ):
        await until_heard(one, other)
        await anext(hints)
        there = await other.watch(PROJECTS)
        forgotten = other.auth._verified.ask().generation

        end_connections(url)
        await keep(one.live.store, projects.insert_project, a_project("meanwhile"))

        assert await other.heard(there) == {"meanwhile"}
        assert (await next_hint(hints)).topic is HintTopic.ANYTHING
        assert other.auth._verified.ask().generation > forgotten


async def test_more_at_once_than_a_position_can_tell_costs_a_look_at_everything(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with a_replica(url, tmp_path) as replica:
        watcher, history = await replica.watch(PROJECTS), replica.live.feed.history
        assert history is not None
        # Each transaction that is under way takes its place in a position; here there is room for none.
        monkeypatch.setattr(changes, "_LONGEST_SNAPSHOT", 1)

        await keep(replica.live.store, projects.insert_project, a_project())
        await history.catch_up()

        assert replica.live.feed.take(watcher).reset


async def test_one_replica_at_a_time_has_the_turn_and_a_lost_one_frees_it(url: str) -> None:
    one, other = Turn(url), Turn(url)
    assert [await one.is_ours(), await other.is_ours(), await one.is_ours()] == [True, False, True]

    end_connections(url)

    assert [await one.is_ours(), await other.is_ours(), await one.is_ours()] == [False, True, False]
    await other.pass_on()
    assert await one.is_ours()
    await one.pass_on()


async def test_it_is_always_our_turn_where_there_is_nobody_else() -> None:
    assert await Turn("").is_ours()


async def test_on_sqlite_what_is_stored_is_heard_as_soon_as_it_is_durable(tmp_path: Path) -> None:
    async with a_replica(f"sqlite:///{tmp_path}/fairway.db", tmp_path) as only:
        watcher = await only.watch(PROJECTS)

        await keep(only.live.store, projects.insert_project, a_project())

        assert set(only.live.feed.take(watcher).changes) == {Change(ChangeKind.PROJECTS, "shop", "")}


async def until_heard(one: Replica, other: Replica) -> None:
    """Until `other` hears what `one` tells it."""
    async with aclosing(other.live.hints.watch("probe")) as hints, asyncio.timeout(PATIENCE_SECONDS):
        await anext(hints)
        hearing, topic = asyncio.ensure_future(anext(hints)), HintTopic.ANYTHING
        while topic is not HintTopic.REPOSITORY:
            one.live.hints.publish("probe", HintTopic.REPOSITORY)
            # Not cancelled when it takes longer: that would end the watch.
            if (await asyncio.wait({hearing}, timeout=1))[0]:
                topic = hearing.result().topic
                hearing = asyncio.ensure_future(anext(hints))
        hearing.cancel()
        await asyncio.wait({hearing})


async def next_hint(hints: AsyncIterator[Hint]) -> Hint:
    return await asyncio.wait_for(anext(hints), PATIENCE_SECONDS)


def end_connections(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        others = "datname = current_database() AND pid <> pg_backend_pid()"
        # Whoever used one may hear of its end before all that it held is free, so its end is waited for.
        ended = f"pg_terminate_backend(pid, {PATIENCE_SECONDS * 1000:.0f})"
        connection.execute(f"SELECT {ended} FROM pg_stat_activity WHERE {others}".encode())


async def test_of_two_that_start_at_once_on_an_empty_database_one_makes_the_first_project(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found_nothing, list_projects = threading.Barrier(2), projects.list_projects

    def listed_at_once(connection: sa.Connection) -> tuple[Project, ...]:
        found = list_projects(connection)
        found_nothing.wait(PATIENCE_SECONDS)
        return found

    monkeypatch.setattr(projects, "list_projects", listed_at_once)
    async with AsyncExitStack() as stack:
        stores = [await Store.open(url) for _ in range(2)]
        for store in stores:
            stack.push_async_callback(store.close)

        made = await asyncio.gather(*(prepare_first_start(store, FakeClock(NOW)) for store in stores))

    assert [first.project_id for first in made if first is not None] == ["default"]
