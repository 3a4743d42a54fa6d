"""A chain over two agents: the second block waits for the first, and falls with it."""

from datetime import timedelta
from pathlib import Path

import msgspec
import pytest
import sqlalchemy as sa

from fairway.model.application import Application
from fairway.model.chain import ApplicationMatcher, ChainStatus
from fairway.model.deployment import Deployment
from fairway.rpc.agent_api import messages as m
from fairway.rpc.convert.chain import to_wire_matcher
from fairway.rpc.convert.deployment import to_wire_deployment
from fairway.server.hints import HintTopic
from fairway.server.store import applications, chains, deployments
from fairway.server.store.applications import ApplicationFilter
from fairway.server.store.page import Page, PageRequest
from tests.integration.server.agent.serving import Serving, serving
from tests.unit.model.builders import NOW, a_deployment

FIRST = a_deployment()


async def begin(server: Serving) -> None:
    """agent-1 deploys a-1, then agent-2 the production one of two applications called web."""
    await server.add_agent("agent-1")
    await server.add_agent("agent-2")
    await server.add_application("a-1")
    await server.add_application("a-2", name="web", agent_id="agent-2", labels={"env": "prod"})
    await server.add_application("a-3", name="web", agent_id="agent-2", labels={"env": "test"})
    matcher = ApplicationMatcher(name="web", labels={"env": "prod"})
    request = m.CreateDeploymentChainRequest(
        first_deployment=to_wire_deployment(FIRST), matchers=[to_wire_matcher(matcher)]
    )
    for _ in range(2):
        await server.agent().call("CreateDeploymentChain", request)


async def follow(server: Serving) -> Deployment:
    """agent-2 creates the deployment that its command asks for."""
    agent = server.agent("agent-2")
    waiting = (await agent.call("ListUnhandledCommands", m.ListUnhandledCommandsRequest())).commands
    asked = [command.chain_sync_application for command in waiting]
    assert [(sync.application_id, sync.block_index) for sync in asked] == [("a-2", 1)]
    second = a_deployment(
        id="d-2",
        application_id="a-2",
        agent_id="agent-2",
        chain_id=asked[0].deployment_chain_id,
        chain_block_index=1,
    )
    await agent.call("CreateDeployment", m.CreateDeploymentRequest(deployment=to_wire_deployment(second)))
    return second


async def may_be_planned(server: Serving, second: Deployment) -> tuple[bool, bool]:
    request = m.InChainDeploymentPlannableRequest(
        deployment_id=second.id, deployment_chain_id=second.chain_id, deployment_chain_block_index=1
    )
    answer = await server.agent("agent-2").call("InChainDeploymentPlannable", request)
    return answer.plannable, answer.cancel


async def finish_first(server: Serving, status: str) -> None:
    agent, running = server.agent(), "DEPLOYMENT_RUNNING"
    await agent.call("ReportDeploymentPlanned", m.ReportDeploymentPlannedRequest(deployment_id="d-1"))
    await agent.call(
        "ReportDeploymentStatusChanged", m.ReportDeploymentStatusChangedRequest(deployment_id="d-1", status=running)
    )
    ended = m.ReportDeploymentCompletedRequest(deployment_id="d-1", status=status, completed_at=int(NOW.timestamp()))
    await agent.call("ReportDeploymentCompleted", ended)


@pytest.mark.parametrize(
    ("end", "answer", "status"),
    [
        pytest.param("DEPLOYMENT_SUCCESS", (True, False), ChainStatus.RUNNING, id="the first succeeds"),
        pytest.param("DEPLOYMENT_FAILURE", (False, True), ChainStatus.FAILED, id="the first fails"),
    ],
)
async def test_the_second_block_waits_for_the_first(
    tmp_path: Path, end: str, answer: tuple[bool, bool], status: ChainStatus
) -> None:
    async with serving(tmp_path) as server:
        await begin(server)
        second = await follow(server)

        before = await may_be_planned(server, second)
        await finish_first(server, end)

        assert (before, await may_be_planned(server, second)) == ((False, False), answer)
        assert (await server.load(chains.load_chain, second.chain_id)).status is status


async def test_agents_are_told_when_there_is_something_for_them(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        await begin(server)
        asked = list(server.hints.published)
        await follow(server)

        await finish_first(server, "DEPLOYMENT_SUCCESS")

        assert (asked, server.hints.published[len(asked) :]) == (
            [("agent-2", HintTopic.COMMANDS)],
            [("agent-2", HintTopic.DEPLOYMENTS)],
        )


async def test_a_chain_that_is_created_again_is_the_same_chain(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        await begin(server)

        first = await server.load(deployments.load_deployment, "d-1")

        assert (first.chain_id, first.chain_block_index) == ("new-1", 0)


async def test_an_application_that_changes_while_a_chain_is_made_is_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    list_page = applications.list_applications

    # On PostgreSQL others write meanwhile: what they change moves to the front, behind whoever pages through the list.
    def changing(connection: sa.Connection, wanted: ApplicationFilter, page: PageRequest) -> Page[Application]:
        found, later = list_page(connection, wanted, PageRequest(page.cursor, 1)), NOW + timedelta(seconds=1)
        applications.update_application(
            connection, "a-2", lambda known: msgspec.structs.replace(known, updated_at=later)
        )
        return found

    monkeypatch.setattr(applications, "list_applications", changing)
    async with serving(tmp_path) as server:
        await begin(server)

        chain = await server.load(chains.load_chain, "new-1")

        assert [node.application_id for node in chain.blocks[1].nodes] == ["a-2"]


async def test_a_deployment_in_a_chain_that_does_not_have_its_application_is_denied(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        await begin(server)
        other = a_deployment(id="d-3", application_id="a-3", agent_id="agent-2", chain_id="new-1", chain_block_index=1)

        request = m.CreateDeploymentRequest(deployment=to_wire_deployment(other))

        assert await server.agent("agent-2").refused("CreateDeployment", request) == "PERMISSION_DENIED"
        assert await server.agent("agent-2").refused("GetDeployment", m.GetDeploymentRequest(id="d-3")) == "NOT_FOUND"


async def test_a_chain_falls_with_a_deployment_that_its_agent_cannot_make(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        await begin(server)
        agent = server.agent("agent-2")
        (asked,) = (await agent.call("ListUnhandledCommands", m.ListUnhandledCommandsRequest())).commands

        answer = m.ReportCommandHandledRequest(command_id=asked.id, status="COMMAND_FAILED", handled_at=1)
        await agent.call("ReportCommandHandled", answer)

        chain = await server.load(chains.load_chain, "new-1")
        assert ([block.status for block in chain.blocks], chain.status) == (
            [ChainStatus.PENDING, ChainStatus.FAILED],
            ChainStatus.FAILED,
        )
