"""Rounds of housekeeping on both databases: what goes, what stays, and two replicas at once."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from obstore.store import MemoryStore

from fairway.clock import FakeClock
from fairway.model.application import DeploymentReference
from fairway.model.chain import ChainBlock, ChainDeployment, ChainNode, ChainStatus
from fairway.model.command import ChainSyncApplication, Command, CommandStatus
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.event import EventStatus
from fairway.server.housekeeping import HousekeepingSettings, run_housekeeping, tidy
from fairway.server.logs import LogStore, StageLogKey
from fairway.server.logs.bucket import Bucket
from fairway.server.logs.objects import LogStorageError
from fairway.server.store import applications, chains, commands, deployments, events, projects
from fairway.server.store.errors import NotFound
from fairway.server.store.store import Store
from fairway.server.store.tables import DEPLOYMENT_LABELS
from fairway.server.turn import Turn
from tests.integration.server.postgres import a_database, a_postgres_server
from tests.integration.server.store.nouns import a_chain, a_command, a_project, an_event, keep
from tests.unit.model.builders import NOW, a_deployment, a_trigger, an_application
from tests.unit.server.logs.log_blocks import blocks

#: Small batches, so that a few rows are several of them.
SETTINGS = HousekeepingSettings(batch=2, deployments_kept_for=timedelta(days=90))


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    with a_postgres_server() as server:
        yield server


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'fairway.db'}"
    return a_database(request.getfixturevalue("postgres_server"))


@pytest.fixture
async def store(database: str) -> AsyncIterator[Store]:
    """A store with one project."""
    store = await Store.open(database)
    await keep(store, projects.insert_project, a_project())
    yield store
    await store.close()


@pytest.fixture
async def logs(tmp_path: Path) -> AsyncIterator[LogStore]:
    logs = LogStore.open(tmp_path / "logs")
    yield logs
    await logs.close()


def days_ago(number: float) -> datetime:
    return NOW - timedelta(days=number)


def at(moment: datetime) -> dict[str, Any]:
    return {"created_at": moment, "updated_at": moment}


def an_ended_deployment(id: str, days: float, **fields: Any) -> Deployment:
    ended = {"status": DeploymentStatus.SUCCEEDED, "completed_at": days_ago(days)}
    return a_deployment(**{"id": id, **at(days_ago(days)), **ended, **fields})


async def kept(store: Store, load: Callable[[sa.Connection, str], object], *ids: str) -> list[str]:
    """Those of the ids that are still there."""

    def is_there(connection: sa.Connection, id: str) -> bool:
        try:
            load(connection, id)
        except NotFound:
            return False
        return True

    return await store.read(lambda connection: [id for id in ids if is_there(connection, id)])


async def loaded_commands(store: Store, known: Sequence[Command]) -> list[Command]:
    """What has become of the commands."""
    return await store.read(lambda connection: [commands.load_command(connection, each.id) for each in known])


async def test_commands_that_nobody_answered_in_time_time_out(store: Store, logs: LogStore) -> None:
    old = [a_command(f"old-{number}", agent_id=f"agent-{number}", **at(days_ago(1))) for number in range(5)]
    fresh = a_command("fresh", **at(days_ago(0.99)))
    await keep(store, commands.insert_command, *old, fresh)

    done = await tidy(store, logs, NOW, SETTINGS)

    found = await loaded_commands(store, old)
    assert done == {"commands_timed_out": 5}
    assert {(each.status, each.handled_at) for each in found} == {(CommandStatus.TIMED_OUT, NOW)}
    assert await store.read(lambda c: commands.load_command(c, "fresh")) == fresh


async def test_a_chain_does_not_wait_for_ever_for_an_agent_that_is_gone(store: Store, logs: LogStore) -> None:
    payload = ChainSyncApplication(application_id="a-2", chain_id="chain-1", block_index=1)
    chain_blocks = tuple(ChainBlock(nodes=(ChainNode(application_id=id),)) for id in ("a-1", "a-2"))
    await keep(store, chains.insert_chain, a_chain(blocks=chain_blocks))
    gone = a_command("c-2", payload=ChainSyncApplication(application_id="a-2", chain_id="gone", block_index=1))
    await keep(store, commands.insert_command, a_command("c-1", payload=payload), gone)

    done = await tidy(store, logs, NOW + timedelta(days=1), SETTINGS)

    chain = await store.read(lambda c: chains.load_chain(c, "chain-1"))
    assert done == {"commands_timed_out": 2}
    assert [block.status for block in chain.blocks] == [ChainStatus.PENDING, ChainStatus.FAILED]
    assert chain.status is ChainStatus.FAILED


async def test_answered_commands_and_their_outputs_are_forgotten_each_in_its_time(store: Store, logs: LogStore) -> None:
    ages = {"new": 1.0, "two-days": 2.1, "month": 31.0, "month-2": 32.0, "month-3": 33.0}
    # The agent's own clock is years behind: ours counts.
    answered = {"status": CommandStatus.SUCCEEDED, "handled_at": days_ago(9000)}
    old = [a_command(id, created_at=days_ago(99), updated_at=days_ago(age), **answered) for id, age in ages.items()]
    await keep(store, commands.insert_command, *old)
    await keep(store, lambda connection, id: commands.store_command_output(connection, id, b"a plan"), *ages)

    done = await tidy(store, logs, NOW, SETTINGS)

    assert done == {"outputs": 4, "commands": 3}
    assert await kept(store, commands.load_command, *ages) == ["new", "two-days"]
    assert await kept(store, commands.load_command_output, *ages) == ["new"]


async def test_old_events_are_forgotten_but_not_the_newest_of_a_key(store: Store, logs: LogStore) -> None:
    done = {"status": EventStatus.SUCCEEDED}
    await keep(store, events.insert_event, *(an_event(f"old-{n}", **at(days_ago(40 + n)), **done) for n in range(3)))
    await keep(store, events.insert_event, an_event("same-time", **at(days_ago(40)), **done))
    await keep(store, events.insert_event, an_event("waiting", **at(days_ago(50))))
    await keep(store, events.insert_event, an_event("alone", key="other", **at(days_ago(50)), **done))
    young = [an_event(f"young-{n}", key="third", **at(days_ago(29 - n)), **done) for n in range(2)]
    await keep(store, events.insert_event, *young)

    tidied = await tidy(store, logs, NOW, SETTINGS)

    names = ("old-0", "old-1", "old-2", "same-time", "waiting", "alone", "young-0", "young-1")
    assert tidied == {"events": 3}
    assert await kept(store, events.load_event, *names) == ["old-0", *names[4:]]
    newest = await store.read(lambda c: events.latest_event(c, "shop", "k"))
    assert newest is not None
    assert newest.id == "old-0"


async def test_old_deployments_go_with_their_logs_when_nothing_needs_them(store: Store, logs: LogStore) -> None:
    reference = DeploymentReference(deployment_id="last", trigger=a_trigger(), started_at=days_ago(100))
    await keep(store, applications.insert_application, an_application("a-1", last_succeeded=reference))
    old = [an_ended_deployment(f"old-{number}", 91 + number, labels={"env": "x"}) for number in range(5)]
    still = [an_ended_deployment("last", 93.5), an_ended_deployment("young", 89)]
    running = a_deployment(id="open", status=DeploymentStatus.RUNNING, **at(days_ago(95)))
    everything = [*old, *still, running]
    await keep(store, deployments.insert_deployment, *everything)
    for deployment in everything:
        await logs.append(StageLogKey(deployment.id, "stage-1", 0), blocks(1, 2), completed=True)

    done = await tidy(store, logs, NOW, SETTINGS)

    ids = [deployment.id for deployment in everything]
    assert done == {"deployments": 5}
    assert await kept(store, deployments.load_deployment, *ids) == ["last", "young", "open"]
    assert await store.read(lambda c: c.execute(sa.select(DEPLOYMENT_LABELS)).all()) == []
    assert [id for id in ids if await logs.list_stages(id)] == ["last", "young", "open"]


async def test_nothing_of_a_forgotten_deployment_is_left_on_the_disk(
    store: Store, logs: LogStore, tmp_path: Path
) -> None:
    await keep(store, deployments.insert_deployment, an_ended_deployment("d-1", 91))
    await logs.append(StageLogKey("d-1", "stage-1", 0), blocks(1, 2))

    await tidy(store, logs, NOW, SETTINGS)

    assert [path.name for path in (tmp_path / "logs").iterdir()] == [".unfinished"]


async def test_a_deployment_stays_until_its_logs_are_gone(store: Store, logs: LogStore) -> None:
    await keep(store, deployments.insert_deployment, an_ended_deployment("d-1", 91))

    class OutOfReach(Bucket):
        async def delete(self, names: Sequence[str]) -> None:
            raise LogStorageError("the bucket is out of reach")

    assert await tidy(store, LogStore(OutOfReach(MemoryStore())), NOW, SETTINGS) == {}
    assert await kept(store, deployments.load_deployment, "d-1") == ["d-1"]
    assert await tidy(store, logs, NOW, SETTINGS) == {"deployments": 1}


async def test_deployments_are_kept_for_ever_unless_somebody_says_otherwise(store: Store, logs: LogStore) -> None:
    await keep(store, deployments.insert_deployment, an_ended_deployment("d-1", 9000))

    assert await tidy(store, logs, NOW, HousekeepingSettings()) == {}
    assert await kept(store, deployments.load_deployment, "d-1") == ["d-1"]


@pytest.mark.parametrize(
    ("status", "left"), [(ChainStatus.RUNNING, (["d-1", "d-2"], ["chain-1"])), (ChainStatus.SUCCEEDED, ([], []))]
)
async def test_a_chain_goes_with_its_last_deployment_and_not_before_it_has_ended(
    store: Store, logs: LogStore, status: ChainStatus, left: tuple[list[str], list[str]]
) -> None:
    done = [ChainDeployment(deployment_id=id, status=DeploymentStatus.SUCCEEDED) for id in ("d-1", "d-2")]
    nodes = tuple(ChainNode(application_id="a-1", deployment=each) for each in done)
    await keep(store, chains.insert_chain, a_chain(blocks=(ChainBlock(nodes=nodes),), status=status))
    of_chain = [an_ended_deployment(each.deployment_id, 91, chain_id="chain-1") for each in done]
    await keep(store, deployments.insert_deployment, *of_chain)

    await tidy(store, logs, NOW, SETTINGS)

    found = (
        await kept(store, deployments.load_deployment, "d-1", "d-2"),
        await kept(store, chains.load_chain, "chain-1"),
    )
    assert found == left


async def test_a_chain_stays_while_one_of_its_deployments_does(store: Store, logs: LogStore) -> None:
    done = [ChainDeployment(deployment_id=id, status=DeploymentStatus.SUCCEEDED) for id in ("d-1", "d-2")]
    nodes = tuple(ChainNode(application_id="a-1", deployment=each) for each in done)
    chain = a_chain(blocks=(ChainBlock(nodes=nodes),), status=ChainStatus.SUCCEEDED)
    await keep(store, chains.insert_chain, chain)
    ages = {"d-1": 91, "d-2": 89}
    of_chain = [an_ended_deployment(id, age, chain_id="chain-1") for id, age in ages.items()]
    await keep(store, deployments.insert_deployment, *of_chain)

    assert await tidy(store, logs, NOW, SETTINGS) == {"deployments": 1}
    assert await store.read(lambda c: chains.load_chain(c, "chain-1")) == chain


async def test_a_deployment_that_another_replica_forgot_meanwhile_is_no_trouble(store: Store, logs: LogStore) -> None:
    await keep(store, deployments.insert_deployment, an_ended_deployment("d-1", 91), an_ended_deployment("d-2", 91))

    class Overtaken(Bucket):
        async def list(self, folder: str) -> dict[str, int]:
            await tidy(store, logs, NOW, SETTINGS)
            return await super().list(folder)

    assert await tidy(store, LogStore(Overtaken(MemoryStore())), NOW, SETTINGS) == {"deployments": 2}
    assert await kept(store, deployments.load_deployment, "d-1", "d-2") == []


async def test_replicas_that_tidy_up_at_once_do_not_disturb_each_other(
    database: str, store: Store, logs: LogStore
) -> None:
    other = await Store.open(database)
    unanswered = [a_command(f"c-{number}", **at(days_ago(2))) for number in range(20)]
    answered = {"status": CommandStatus.SUCCEEDED, **at(days_ago(40))}
    await keep(store, commands.insert_command, *unanswered, *(a_command(f"o-{n}", **answered) for n in range(20)))
    await keep(store, deployments.insert_deployment, *(an_ended_deployment(f"d-{n}", 91) for n in range(20)))

    await asyncio.gather(*(tidy(each, logs, NOW, SETTINGS) for each in (store, other, store, other)))

    old = [f"o-{number}" for number in range(20)], [f"d-{number}" for number in range(20)]
    assert await kept(store, commands.load_command, *old[0]) == []
    assert await kept(store, deployments.load_deployment, *old[1]) == []
    found = await loaded_commands(store, unanswered)
    assert {each.status for each in found} == {CommandStatus.TIMED_OUT}
    assert await tidy(other, logs, NOW, SETTINGS) == {}
    await other.close()


async def test_a_step_that_fails_does_not_keep_the_others_from_their_work(store: Store, logs: LogStore) -> None:
    await keep(store, commands.insert_command, a_command("c-1", **at(days_ago(2))))
    damage = sa.text("UPDATE commands SET document = 'x'")
    await store.write(lambda connection: connection.execute(damage))
    await keep(store, deployments.insert_deployment, an_ended_deployment("d-1", 91))

    assert await tidy(store, logs, NOW, SETTINGS) == {"deployments": 1}


async def test_rounds_follow_each_other_with_a_pause_between(store: Store, logs: LogStore) -> None:
    clock, pauses = FakeClock(NOW), list[float]()
    await keep(store, commands.insert_command, a_command("c-1"))

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)
        clock.advance(timedelta(hours=13))
        if len(pauses) == 3:
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await run_housekeeping(store, logs, clock, SETTINGS, sleep)

    command = await store.read(lambda c: commands.load_command(c, "c-1"))
    assert pauses == [600.0] * 3
    assert command.handled_at == NOW + timedelta(hours=26)


async def test_a_replica_keeps_no_house_while_another_has_the_turn(postgres_server: str, logs: LogStore) -> None:
    url = a_database(postgres_server)
    store, other, rounds = await Store.open(url), Turn(url), list[CommandStatus]()
    await keep(store, projects.insert_project, a_project())
    await keep(store, commands.insert_command, a_command(created_at=days_ago(2)))
    assert await other.is_ours()

    async def next_round(_: float) -> None:
        rounds.append((await store.read(lambda connection: commands.load_command(connection, "c-1"))).status)
        await other.pass_on()
        if len(rounds) == 2:
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await run_housekeeping(store, logs, FakeClock(NOW), SETTINGS, next_round)
    await store.close()

    assert rounds == [CommandStatus.WAITING, CommandStatus.TIMED_OUT]
