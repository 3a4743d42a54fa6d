"""What the agent makes of a server that answers as PipeCD's does, over a real line."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import grpc
import pytest
from grpc import aio
from structlog.testing import capture_logs

from fairway.agent.control_plane import ChainTurn, ControlPlane, ServerAway, ServerHasIt, ServerRefused
from fairway.agent.reports import Report, created, deploying
from fairway.model.command import Command, SyncApplication
from fairway.rpc.agent_api import (
    AgentServicer,
    ReportServicer,
    lease_messages,
    messages,
    register_agent_service,
    register_report_service,
    report_messages,
)
from fairway.rpc.context import CallContext
from fairway.rpc.convert.application import to_wire_application
from fairway.rpc.convert.command import to_wire_command
from fairway.rpc.convert.deployment import to_wire_deployment
from tests.unit.model.builders import NOW, a_deployment, an_application

Listed = messages.ListNotCompletedDeploymentsResponse


class OneGoodPage(AgentServicer):
    """Has one deployment and points to another page, which it cannot give."""

    def __init__(self, code: grpc.StatusCode) -> None:
        self._code = code

    async def ListNotCompletedDeployments(
        self,
        request: messages.ListNotCompletedDeploymentsRequest,
        context: aio.ServicerContext[messages.ListNotCompletedDeploymentsRequest, Listed],
    ) -> Listed:
        if request.cursor:
            await context.abort(self._code, "no such page")
        return Listed(deployments=[to_wire_deployment(a_deployment(id="d-1"))], cursor="more")


def a_command(id: str) -> Command:
    payload = SyncApplication(application_id="a-1")
    return Command(id=id, agent_id="agent-1", project_id="shop", payload=payload, created_at=NOW, updated_at=NOW)


@asynccontextmanager
async def calling(server: aio.Server) -> AsyncIterator[ControlPlane]:
    """An agent's line to this server, which answers while the block lasts."""
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    control_plane = ControlPlane(aio.insecure_channel(f"127.0.0.1:{port}"), "p,a,k")
    try:
        yield control_plane
    finally:
        await control_plane.close()
        await server.stop(None)


@asynccontextmanager
async def asked(servicer: AgentServicer, together: ReportServicer | None = None) -> AsyncIterator[ControlPlane]:
    server = aio.server()
    register_agent_service(servicer, server)
    if together is not None:
        register_report_service(together, server)
    async with calling(server) as control_plane:
        yield control_plane


async def test_a_cursor_that_its_own_server_stumbles_over_ends_the_list() -> None:
    async with asked(OneGoodPage(grpc.StatusCode.INTERNAL)) as server:
        assert [each.id for each in await server.open_deployments()] == ["d-1"]


async def test_a_list_that_breaks_off_is_no_list() -> None:
    async with asked(OneGoodPage(grpc.StatusCode.UNAVAILABLE)) as server:
        with pytest.raises(ServerAway):
            await server.open_deployments()


async def test_a_page_that_a_server_of_ours_fails_on_does_not_end_the_list() -> None:
    async with asked(OneGoodPage(grpc.StatusCode.INTERNAL)) as server:
        server.show(fencing_token=3)
        with pytest.raises(ServerAway):
            await server.open_deployments()


class Newer(AgentServicer):
    """Lists what this version does not know, among what it does."""

    async def ListUnhandledCommands(
        self, _request: messages.ListUnhandledCommandsRequest, _context: CallContext
    ) -> messages.ListUnhandledCommandsResponse:
        known = to_wire_command(a_command("c-1"))
        unknown = to_wire_command(a_command("c-2"))
        unknown.type = 99  # type: ignore[assignment]  # of a later version
        return messages.ListUnhandledCommandsResponse(commands=[unknown, known])

    async def ListApplications(
        self, _request: messages.ListApplicationsRequest, _context: CallContext
    ) -> messages.ListApplicationsResponse:
        known, unknown = (to_wire_application(an_application(id)) for id in ("a-1", "a-2"))
        unknown.kind = 99  # type: ignore[assignment]  # of a later version
        return messages.ListApplicationsResponse(applications=[unknown, known])


async def test_what_only_a_later_version_knows_is_told_of_once_and_hides_nothing_else() -> None:
    with capture_logs() as said:
        async with asked(Newer()) as server:
            found = [(await server.waiting_commands(), await server.applications()) for _ in range(3)]

    listed = [([each.id for each in commands], [each.id for each in applications]) for commands, applications in found]
    assert listed == [(["c-1"], ["a-1"])] * 3
    assert sorted(each["id"] for each in said) == ["a-2", "c-2"]


class Reported(AgentServicer, ReportServicer):
    """Takes what it is told, except what is about the application that it refuses."""

    def __init__(self, refuses: str = "") -> None:
        self.calls: list[list[str]] = []
        self._refuses = refuses

    async def ReportApplicationDeployingStatus(
        self, request: messages.ReportApplicationDeployingStatusRequest, context: CallContext
    ) -> messages.ReportApplicationDeployingStatusResponse:
        await self._take([request.application_id], context)
        return messages.ReportApplicationDeployingStatusResponse()

    async def Report(
        self, request: report_messages.ReportRequest, context: CallContext
    ) -> report_messages.ReportAnswer:
        read = messages.ReportApplicationDeployingStatusRequest.FromString
        await self._take([read(each.request).application_id for each in request.reports], context)
        return report_messages.ReportAnswer()

    async def _take(self, applications: list[str], context: CallContext) -> None:
        if self._refuses in applications:
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, "not that one")
        self.calls.append(applications)


def reports_of(*applications: str) -> list[Report]:
    return [deploying(each, deploying=True) for each in applications]


async def test_reports_that_are_sent_together_are_one_call() -> None:
    servicer = Reported()
    async with asked(servicer, together=servicer) as server:
        await server.send(*reports_of("a", "b", "c"))
        await server.send(*reports_of("d"))

    assert servicer.calls == [["a", "b", "c"], ["d"]]


async def test_a_server_that_takes_none_together_is_told_one_by_one_and_not_asked_again() -> None:
    servicer = Reported()
    async with asked(servicer) as server:
        for _ in range(2):
            await server.send(*reports_of("a", "b"))
        knows = server._takes_together

    assert (servicer.calls, knows) == ([["a"], ["b"], ["a"], ["b"]], False)


class ItsTurn(Reported):
    """Lets every deployment of a chain be planned."""

    async def InChainDeploymentPlannable(
        self, request: messages.InChainDeploymentPlannableRequest, context: CallContext
    ) -> messages.InChainDeploymentPlannableResponse:
        return messages.InChainDeploymentPlannableResponse(plannable=True)


@pytest.mark.parametrize(
    ("ours", "age", "come"),
    [
        pytest.param(False, timedelta(0), False, id="PipeCD's, which may not have seen it yet"),
        pytest.param(False, timedelta(seconds=30), True, id="PipeCD's, which has seen it"),
        pytest.param(True, timedelta(0), True, id="ours"),
    ],
)
async def test_a_deployment_has_its_turn_when_its_chain_has_seen_it(ours: bool, age: timedelta, come: bool) -> None:
    servicer = ItsTurn()
    async with asked(servicer, servicer if ours else None) as server:
        # A deployment is told of before it is its turn, and by that it is known whose server it is.
        await server.send(*reports_of("a-1", "a-2"))
        deployment = a_deployment(chain_id="c-1", chain_block_index=1, created_at=datetime.now(UTC) - age)
        assert await server.chain_turn(deployment) == ChainTurn(come)


@pytest.mark.parametrize("has_service", [pytest.param(True, id="together"), pytest.param(False, id="one by one")])
async def test_of_reports_those_before_the_one_that_is_refused_are_taken(has_service: bool) -> None:
    servicer = Reported(refuses="c")
    async with asked(servicer, together=servicer if has_service else None) as server:
        with pytest.raises(ServerRefused, match="not that one") as refused:
            await server.send(*reports_of("a", "b", "c", "d"))

    assert (servicer.calls, refused.value.taken) == ([["a"], ["b"]], 2)


async def test_reports_that_are_too_large_for_one_call_are_sent_one_by_one() -> None:
    servicer = Reported()
    async with asked(servicer, together=servicer) as server:
        await server.send(*reports_of("a" * 700_000, "b" * 700_000))

    assert [len(each) for each in servicer.calls] == [1, 1]


class HasEveryDeployment(AgentServicer):
    """Answers as PipeCD's server does when it is told of a deployment for the second time."""

    async def CreateDeployment(
        self, request: messages.CreateDeploymentRequest, context: CallContext
    ) -> messages.CreateDeploymentResponse:
        return await context.abort(grpc.StatusCode.ALREADY_EXISTS, "Entity already exists")


async def test_a_deployment_that_the_server_has_already_is_told_from_one_that_it_does_not_want() -> None:
    async with asked(HasEveryDeployment()) as server:
        with pytest.raises(ServerHasIt, match="Entity already exists"):
            await server.send(created(a_deployment(id="d-1")))


@asynccontextmanager
async def a_proxy(status: str) -> AsyncIterator[ControlPlane]:
    """Speaks HTTP/2 and has this to say to everything, as one whose server is being replaced."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> None:
            writer.write(len(payload).to_bytes(3) + bytes([kind, flags]) + stream.to_bytes(4) + payload)

        preface, header, settings, headers = 24, 9, 4, 1
        await reader.readexactly(preface)
        frame(settings, 0, 0)
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while head := await reader.readexactly(header):
                await reader.readexactly(int.from_bytes(head[:3]))
                if head[3] == settings and not head[4]:
                    frame(settings, 1, 0)
                if head[3] == headers:
                    # `:status` by its number, and the whole answer in one frame.
                    frame(headers, 5, int.from_bytes(head[5:]), b"\x08\x03" + status.encode())
        writer.close()

    serving: list[asyncio.Task[None]] = []
    listening = await asyncio.start_server(
        lambda *connection: serving.append(asyncio.create_task(serve(*connection))), "127.0.0.1", 0
    )
    control_plane = ControlPlane(aio.insecure_channel(f"127.0.0.1:{listening.sockets[0].getsockname()[1]}"), "p,a,k")
    try:
        yield control_plane
    finally:
        await control_plane.close()
        listening.close()
        await asyncio.gather(*serving)


@pytest.mark.parametrize("status", ["401", "403", "404"])
async def test_what_a_proxy_says_is_not_the_servers_word(status: str) -> None:
    async with a_proxy(status) as server:
        with pytest.raises(ServerAway, match=f"something before it did .*{status}"):
            await server.applications()
        with pytest.raises(ServerAway, match=status):
            await server.hold(lease_messages.HoldRequest(holder="h"), 30.0)
        with pytest.raises(ServerAway, match=status):
            await anext(server.watch(""))
