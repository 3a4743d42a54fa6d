"""Reports that come at the same moment, through two replicas of the server on one database."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fairway.model.chain import ApplicationMatcher, ChainStatus
from fairway.model.deployment import DeploymentStatus
from fairway.rpc.agent_api import messages as m
from fairway.rpc.convert.chain import to_wire_matcher
from fairway.rpc.convert.deployment import to_wire_deployment
from fairway.server.store import applications, chains, deployments
from tests.integration.server.agent.serving import Serving, serving
from tests.unit.model.builders import NOW, a_deployment, a_stage

SECONDS = int(NOW.timestamp())
RUNNING = DeploymentStatus.RUNNING


@asynccontextmanager
async def replicas(folder: Path, database: str) -> AsyncIterator[tuple[Serving, Serving]]:
    """Two servers on one database with one agent and one application."""
    async with serving(folder, database) as one, serving(folder, database) as other:
        await one.add_agent()
        await one.add_application()
        yield one, other


async def send(servers: tuple[Serving, Serving], *requests: Any) -> list[str]:
    """The statuses of all requests, sent at once, each to the next replica."""
    calls = (
        servers[number % 2].agent().refused(type(request).__name__.removesuffix("Request"), request)
        for number, request in enumerate(requests)
    )
    return await asyncio.gather(*calls)


async def test_a_deployment_that_is_created_many_times_at_once_is_one(tmp_path: Path, database: str) -> None:
    async with replicas(tmp_path, database) as servers:
        request = m.CreateDeploymentRequest(deployment=to_wire_deployment(a_deployment()))

        answers = await send(servers, *[request] * 16)

        listed = await servers[0].agent().call("ListNotCompletedDeployments", m.ListNotCompletedDeploymentsRequest())
        assert (answers, [found.id for found in listed.deployments]) == (["OK"] * 16, ["d-1"])


async def test_of_many_ends_at_once_one_stays_and_the_application_agrees_with_it(tmp_path: Path, database: str) -> None:
    async with replicas(tmp_path, database) as servers:
        await servers[0].add_deployment(status=RUNNING, stages=(a_stage(),))
        ends = [
            m.ReportDeploymentCompletedRequest(
                deployment_id="d-1", status=status, status_reason=status, completed_at=SECONDS
            )
            for status in ("DEPLOYMENT_SUCCESS", "DEPLOYMENT_FAILURE", "DEPLOYMENT_CANCELLED")
        ]

        answers = await send(servers, *ends * 4)

        found = await servers[0].load(deployments.load_deployment, "d-1")
        application = await servers[1].load(applications.load_application, "a-1")
        assert answers == ["OK"] * 12
        assert (application.last_succeeded is not None) == (found.status is DeploymentStatus.SUCCEEDED)


async def test_notes_that_come_at_once_are_all_kept(tmp_path: Path, database: str) -> None:
    async with replicas(tmp_path, database) as servers:
        await servers[0].add_deployment(status=RUNNING)
        notes = [
            m.SaveDeploymentPluginMetadataRequest(deployment_id="d-1", plugin_name="p", metadata={f"k{n}": "v"})
            for n in range(16)
        ]

        await send(servers, *notes)

        found = await servers[0].load(deployments.load_deployment, "d-1")
        assert found.plugin_metadata == {"p": {f"k{n}": "v" for n in range(16)}}


async def test_a_block_whose_deployments_end_at_once_is_done(tmp_path: Path, database: str) -> None:
    ids = [f"a-{number}" for number in range(2, 10)]
    async with replicas(tmp_path, database) as servers:
        for id in ids:
            await servers[0].add_application(id, name="web")
        first = m.CreateDeploymentChainRequest(
            first_deployment=to_wire_deployment(a_deployment()),
            matchers=[to_wire_matcher(ApplicationMatcher(name="web"))],
        )
        await send(servers, first)
        for id in ids:
            await servers[0].add_deployment(
                id=id, application_id=id, status=RUNNING, chain_id="new-1", chain_block_index=1
            )

        ends = [
            m.ReportDeploymentCompletedRequest(deployment_id=id, status="DEPLOYMENT_SUCCESS", completed_at=SECONDS)
            for id in ids
        ]
        answers = await send(servers, *ends)

        chain = await servers[1].load(chains.load_chain, "new-1")
        assert (answers, chain.blocks[1].status) == (["OK"] * 8, ChainStatus.SUCCEEDED)
