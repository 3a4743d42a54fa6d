"""Leases over a real gRPC server, on both databases: who is at work, and that nobody else changes anything."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
import pytest
from grpc import aio

from fairway.model.deployment import DeploymentStatus
from fairway.rpc.agent_api import (
    FENCING_METADATA,
    AgentStub,
    LeaseStub,
    lease_messages,
    register_agent_service,
    register_lease_service,
)
from fairway.rpc.agent_api import messages as m
from fairway.rpc.channel import CHANNEL_OPTIONS, SERVER_OPTIONS
from fairway.rpc.context import CallContext
from fairway.server.agent_auth import AgentAuth
from fairway.server.agent_service.desk import AgentDesk
from fairway.server.agent_service.servicer import AgentService
from fairway.server.hints import HintTopic
from fairway.server.lease_service import LeaseDesk, LeaseService
from fairway.server.status_codes import abort_for
from fairway.server.store import deployments
from fairway.server.store.leases import find_lease
from tests.integration.server.agent.serving import KEY, Serving, serving
from tests.integration.server.recorded_hints import RecordedHints
from tests.unit.model.builders import a_deployment

AUTHORIZATION = ("authorization", f"PIPED-TOKEN shop,agent-1,{KEY.shown}")


class Replica(msgspec.Struct):
    """One server process among several with the same database, with a clock of its own."""

    leases: LeaseStub
    agents: AgentStub
    seconds: float = 1000.0

    async def hold(self, holder: str, **fields: Any) -> lease_messages.HoldAnswer:
        request = lease_messages.HoldRequest(holder=holder, description=f"host {holder}", **fields)
        return await self.leases.Hold(request, metadata=(AUTHORIZATION,))

    async def release(self, holder: str) -> None:
        await self.leases.Release(lease_messages.ReleaseRequest(holder=holder), metadata=(AUTHORIZATION,))

    async def call(self, method: str, request: Any, token: int | str) -> Any:
        return await getattr(self.agents, method)(request, metadata=(AUTHORIZATION, (FENCING_METADATA, str(token))))


@asynccontextmanager
async def a_replica(served: Serving) -> AsyncIterator[Replica]:
    ids = count(1)
    desk = AgentDesk(
        store=served.store, logs=served.logs, hints=served.hints, clock=served.clock, new_id=lambda: str(next(ids))
    )
    auth = AgentAuth(served.store, served.clock)

    async def known_agent(context: CallContext) -> str:
        try:
            return (await auth.authenticate(context)).agent_id
        except Exception as error:
            await abort_for(error, context)

    server = aio.server(options=SERVER_OPTIONS)
    leases = LeaseDesk(store=served.store, hints=served.hints, clock=served.clock, forward=lambda: replica.seconds)
    register_lease_service(LeaseService(leases, known_agent), server)
    register_agent_service(AgentService(desk, auth), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with aio.insecure_channel(f"127.0.0.1:{port}", options=CHANNEL_OPTIONS) as channel:
        replica = Replica(LeaseStub(channel), AgentStub(channel))
        yield replica
    await server.stop(None)


@pytest.fixture
async def served(tmp_path: Path, database: str) -> AsyncIterator[Serving]:
    async with serving(tmp_path, database) as found:
        await found.add_agent()
        await found.add_application()
        await found.add_deployment(status=DeploymentStatus.PENDING, agent_id="agent-1")
        yield found


async def test_of_many_who_ask_at_once_one_is_at_work(served: Serving) -> None:
    async with a_replica(served) as one, a_replica(served) as other:
        asked = [(one if number % 2 else other).hold(f"h-{number}") for number in range(12)]
        answers = await asyncio.gather(*asked)

    assert [each.fencing_token for each in answers if each.granted] == [1]


async def test_who_waits_is_told_for_whom_and_takes_over_after_silence(served: Serving) -> None:
    async with a_replica(served) as replica:
        await replica.hold("a")
        refused = await replica.hold("b")
        await replica.hold("a", held_seconds=300.0)
        shortened = await replica.hold("a", held_seconds=15.0)
        replica.seconds += 14.9
        early = await replica.hold("b")
        replica.seconds += 0.2
        taken = await replica.hold("b")

    assert (refused.granted, refused.held_by, refused.free_after_seconds) == (False, "host a", 300.0)
    assert (shortened.seconds, shortened.standby_waiting) == (15.0, True)
    assert (early.granted, taken.granted, taken.fencing_token) == (False, True, 2)


async def test_a_replica_that_has_just_started_gives_nothing_away_that_it_has_not_watched(served: Serving) -> None:
    async with a_replica(served) as before:
        await before.hold("a")
        await before.hold("b")
        await before.hold("a", held_seconds=15.0)
        before.seconds += 3600
    async with a_replica(served) as started:
        first = await started.hold("b")
        started.seconds += 14.9
        second = await started.hold("b")
        kept = await started.hold("a", held_seconds=15.0)

    assert (first.granted, second.granted, kept.granted, kept.fencing_token) == (False, False, True, 1)


async def test_a_released_lease_is_taken_at_once_and_a_renewed_one_keeps_its_token(served: Serving) -> None:
    async with a_replica(served) as replica:
        tokens = [(await replica.hold("a")).fencing_token, (await replica.hold("a")).fencing_token]
        await replica.release("a")
        taken = await replica.hold("b")

    assert (tokens, taken.granted, taken.fencing_token) == ([1, 1], True, 2)


async def test_whoever_is_at_work_is_told_that_somebody_has_begun_to_wait_but_not_each_time(served: Serving) -> None:
    async with a_replica(served) as replica:
        await replica.hold("a")
        for _ in range(3):
            await replica.hold("b")

    assert isinstance(served.hints, RecordedHints)
    assert served.hints.published == [("agent-1", HintTopic.LEASE)]


async def test_who_only_waits_writes_nothing_each_time(served: Serving) -> None:
    async with a_replica(served) as replica:
        await replica.hold("a")
        await replica.hold("b")
        before = await served.load(find_lease, "agent-1")
        await replica.hold("b")

        assert await served.load(find_lease, "agent-1") == before


REPORT = m.ReportDeploymentPlannedRequest(deployment_id="d-1", status_reason="Planned")


async def test_a_stale_token_is_refused_with_words_and_nothing_is_changed(served: Serving) -> None:
    async with a_replica(served) as replica:
        await replica.hold("a")
        await replica.release("a")
        await replica.hold("b")
        before = await served.load(deployments.load_deployment, "d-1")
        with pytest.raises(aio.AioRpcError) as refused:
            await replica.call("ReportDeploymentPlanned", REPORT, 1)

    assert refused.value.code().name == "FAILED_PRECONDITION"
    assert "held by host b since 2" in (refused.value.details() or "")
    assert (FENCING_METADATA, "stale") in tuple(refused.value.trailing_metadata() or ())
    assert await served.load(deployments.load_deployment, "d-1") == before


async def test_the_current_token_and_calls_without_one_pass(served: Serving) -> None:
    async with a_replica(served) as replica:
        token = (await replica.hold("a")).fencing_token
        await replica.call("ReportDeploymentPlanned", REPORT, token)
        listed = await served.agent().call("ListApplications", m.ListApplicationsRequest())

    assert (await served.load(deployments.load_deployment, "d-1")).status is DeploymentStatus.PLANNED
    assert len(listed.applications) == 1


@pytest.mark.parametrize("token", ["", "-1", "one", "9" * 30])
async def test_a_token_that_is_no_number_is_refused(served: Serving, token: str) -> None:
    async with a_replica(served) as replica:
        with pytest.raises(aio.AioRpcError) as refused:
            await replica.call("ListApplications", m.ListApplicationsRequest(), token)

    assert refused.value.code().name == "INVALID_ARGUMENT"


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"holder": ""}, id="no holder"),
        pytest.param({"holder": "a" * 1000}, id="a long holder"),
        pytest.param({"held_seconds": float("nan")}, id="no number"),
        pytest.param({"held_seconds": -1.0}, id="less than no time"),
        pytest.param({"fencing_token": -1}, id="a token that nobody gives"),
        pytest.param({"fencing_token": 2**63 - 1}, id="a token that nothing follows"),
    ],
)
async def test_nonsense_is_refused(served: Serving, fields: dict[str, Any]) -> None:
    async with a_replica(served) as replica:
        with pytest.raises(aio.AioRpcError) as refused:
            await replica.hold(**{"holder": "a", **fields})

    assert refused.value.code().name == "INVALID_ARGUMENT"


async def test_a_takeover_waits_for_a_report_that_is_being_stored_and_then_it_counts(served: Serving) -> None:
    """Reports and takeovers at once: each report was stored under the token that was current then."""
    made = a_deployment()
    async with a_replica(served) as one, a_replica(served) as other:
        await one.hold("a")

        async def report() -> None:
            await one.call("ReportDeploymentPlanned", REPORT, 1)

        async def take_over() -> None:
            await other.hold("b", predecessors=("a",))

        results = await asyncio.gather(report(), take_over(), return_exceptions=True)

    planned = (await served.load(deployments.load_deployment, made.id)).status is DeploymentStatus.PLANNED
    assert planned is not isinstance(results[0], aio.AioRpcError)
