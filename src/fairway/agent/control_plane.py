"""The server as an agent sees it: PipedService, and our own services beside it, in our own nouns.

Works against Fairway's server and against PipeCD's, which has none of the latter. Each call has a time limit and ends
in an error that says whether a repetition may help; repeating is left to whoever calls. Reports are values (`reports`),
so that the `outbox` can keep them when the server is away.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import grpc
import msgspec
import structlog
from google.protobuf.message import Message
from grpc import aio

from fairway.agent.reports import Report
from fairway.errors import TemporaryError, UserError
from fairway.model.agent import AgentProfile
from fairway.model.application import Application, DeploymentReference, UnusableFile
from fairway.model.command import Command
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.notes import thinned
from fairway.model.registration import Registration, Standing
from fairway.rpc.agent_api import (
    FENCING_METADATA,
    AgentStub,
    ApplicationStub,
    HintStub,
    LeaseStub,
    ReportStub,
    application_messages,
    hint_messages,
    lease_messages,
    messages,
    report_messages,
)
from fairway.rpc.channel import MAX_MESSAGE_BYTES
from fairway.rpc.convert.agent import to_wire_profile
from fairway.rpc.convert.application import (
    MOST_UNUSABLE_FILES,
    from_wire_application,
    from_wire_deployment_reference,
    to_wire_unusable_file,
)
from fairway.rpc.convert.command import from_wire_command
from fairway.rpc.convert.deployment import DEPLOYMENT_STATUSES, from_wire_deployment
from fairway.rpc.convert.registration import from_server_registration
from fairway.rpc.convert.wire_enum import WireError

_log = structlog.get_logger()

T = TypeVar("T")

#: How long one call may take; a page of deployments on a slow line needs some of it.
CALL_SECONDS = 15.0
#: How much is sent as one call; far below what a server takes.
_MOST_BYTES_TOGETHER = 1024 * 1024

#: PipeCD's server looks every 15 seconds for the deployments of a chain. One that has ended before it was seen never
#: counts as ended, and what is behind it waits for ever. One that takes reports together is ours, and sees it at once.
_UNSEEN = timedelta(seconds=20)


class ServerAway(TemporaryError):
    """The server does not answer, or cannot now; the same call may succeed later."""


class ServerRefused(UserError):
    """The server has understood the call and will not do it, however often it is asked."""

    #: Of several reports, how many it has taken before the one that it will not.
    taken = 0


class ServerHasIt(ServerRefused):
    """The server will not make what it has already. PipeCD's says so of a deployment that it is told of again."""


class KeyRefused(ServerRefused):
    """The server does not let this agent in: its key is wrong, or it was disabled."""


class NoHints(UserError):
    """The server does not know hints; polling must do."""


class LeasesUnknown(UserError):
    """The server knows no leases; its agents are left to themselves."""


class ChainTurn(msgspec.Struct, frozen=True):
    """Whether a deployment of a chain may be planned."""

    come: bool
    #: Why it never will be; empty when it may.
    given_up: str = ""


class Introduced(msgspec.Struct, frozen=True):
    """What the server answers to an agent that introduces itself."""

    name: str
    #: For links in notifications; empty where the server has no web page.
    web_url: str


class ControlPlane:
    """One connection to one server, as one agent."""

    def __init__(self, channel: aio.Channel, token: str, seconds: float = CALL_SECONDS) -> None:
        self._channel = channel
        self._agents = AgentStub(channel)
        self._hints = HintStub(channel)
        self._leases = LeaseStub(channel)
        self._reports = ReportStub(channel)
        self._finding = ApplicationStub(channel)
        #: Whether the server takes several reports in one call; so it is taken to, until it says otherwise.
        self._takes_together = True
        self._metadata: tuple[tuple[str, str], ...] = (("authorization", f"PIPED-TOKEN {token}"),)
        self._fencing_token = 0
        self._seconds = seconds
        #: The applications of the last answer, and its digest.
        self._listed = b""
        self._applications: tuple[Application, ...] = ()
        #: Ids of what was listed, and only a later version knows.
        self._not_understood: set[str] = set()
        #: Is told when the server refuses a call because another agent is at work.
        self.replaced: Callable[[str], Awaitable[None]] | None = None

    async def close(self) -> None:
        """End calls that are under way and hang up."""
        await self._channel.close()

    def show(self, fencing_token: int) -> None:
        """Show this token with each call from now on; 0: none."""
        self._fencing_token = fencing_token

    async def hold(self, request: lease_messages.HoldRequest, seconds: float) -> lease_messages.HoldAnswer:
        """Ask to be at work; LeasesUnknown where nobody is asked."""
        try:
            return _whole("Hold", await self._leases.Hold(request, metadata=self._metadata, timeout=seconds))
        except aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.UNIMPLEMENTED and _is_the_servers(error):
                raise LeasesUnknown("this server gives no leases; see that no other agent has the same id") from error
            raise _in_our_words("Hold", error) from error

    async def release(self, holder: str, seconds: float) -> None:
        """Let another agent be at work."""
        request = lease_messages.ReleaseRequest(holder=holder)
        try:
            await self._leases.Release(request, metadata=self._metadata, timeout=seconds)
        except aio.AioRpcError as error:
            raise _in_our_words("Release", error) from error

    async def introduce(self, profile: AgentProfile) -> Introduced:
        """Say what this agent is and where it can deploy."""
        self._takes_together = True
        answer = await self.call("ReportPipedMeta", to_wire_profile(profile))
        return Introduced(answer.name, answer.web_base_url)

    async def desired_version(self) -> str:
        """Which version this agent should run, in the server's words; empty when it does not care."""
        answer = await self.call("GetDesiredVersion", messages.GetDesiredVersionRequest())
        return str(answer.version)

    async def applications(self) -> tuple[Application, ...]:
        """The enabled applications of this agent."""
        answer = await self.call("ListApplications", messages.ListApplicationsRequest())
        # Thousands of them are the same again each minute; to see that costs a tenth of reading them.
        digest = hashlib.blake2b(answer.SerializeToString(deterministic=True)).digest()
        if digest != self._listed:
            self._listed, self._applications = digest, self._understood(from_wire_application, answer.applications)
        return self._applications

    async def find_application(self, application_id: str) -> Registration:
        """Whether an application is registered, with this agent or another."""
        try:
            request = application_messages.FindRequest(application_id=application_id)
            return from_server_registration(await self._answer(self._finding.Find, request, "Find"))
        except ServerRefused as error:
            if _code(error) is not grpc.StatusCode.UNIMPLEMENTED:
                raise
        return await self._find_at_pipecd(application_id)

    async def report_unusable(self, files: Sequence[UnusableFile]) -> None:
        """Report the application files that cannot be deployed; PipeCD's server does not want to know them."""
        wire = map(to_wire_unusable_file, files[:MOST_UNUSABLE_FILES])
        request = application_messages.ReportUnusableFilesRequest(files=wire)
        try:
            await self._answer(self._finding.ReportUnusableFiles, request, "ReportUnusableFiles")
        except ServerRefused as error:
            if _code(error) is not grpc.StatusCode.UNIMPLEMENTED:
                raise

    async def _find_at_pipecd(self, application_id: str) -> Registration:
        """The same of PipeCD's server, which lists enabled ones alone and does not tell disabled from deleted."""
        for each in await self.applications():
            if each.id == application_id:
                return Registration(Standing.REGISTERED, each.name)
        try:
            # Whoever has left something on a platform has been deployed.
            deployed = await self.last_deployment(application_id, DeploymentStatus.PENDING)
        except ServerRefused:
            return Registration(Standing.UNKNOWN)
        return Registration(Standing.GONE if deployed is None else Standing.UNKNOWN)

    async def open_deployments(self) -> tuple[Deployment, ...]:
        """Every deployment of this agent that has not ended."""
        found: list[Deployment] = []
        cursor = ""
        while True:
            request = messages.ListNotCompletedDeploymentsRequest(cursor=cursor)
            try:
                answer = await self.call("ListNotCompletedDeployments", request)
            except ServerAway as error:
                if cursor and not self._fencing_token and _code(error) is grpc.StatusCode.INTERNAL:
                    # PipeCD's server on MySQL gives everything at once, and a cursor that it then panics over. One
                    # that gives leases is ours, and its list is not over when it fails.
                    return tuple(found)
                raise
            # A server may hold more than this agent can send to its plugins.
            found.extend(thinned(from_wire_deployment(each)) for each in answer.deployments)
            cursor = answer.cursor
            if not cursor or not answer.deployments:
                return tuple(found)

    async def deployment(self, deployment_id: str) -> Deployment:
        """One deployment as the server has it."""
        answer = await self.call("GetDeployment", messages.GetDeploymentRequest(id=deployment_id))
        return thinned(from_wire_deployment(answer.deployment))

    async def chain_turn(self, deployment: Deployment) -> ChainTurn:
        """Whether a deployment's block of its chain has its turn."""
        age = datetime.now(UTC) - deployment.created_at
        if not self._takes_together and timedelta(0) <= age < _UNSEEN:
            return ChainTurn(come=False)
        answer = await self.call(
            "InChainDeploymentPlannable",
            messages.InChainDeploymentPlannableRequest(
                deployment_id=deployment.id,
                deployment_chain_id=deployment.chain_id,
                deployment_chain_block_index=deployment.chain_block_index,
            ),
        )
        return ChainTurn(come=answer.plannable, given_up=answer.cancel_reason or "its chain" if answer.cancel else "")

    async def waiting_commands(self) -> tuple[Command, ...]:
        """Every command that waits for this agent."""
        answer = await self.call("ListUnhandledCommands", messages.ListUnhandledCommandsRequest())
        return self._understood(from_wire_command, answer.commands)

    def _understood(self, read: Callable[[Any], T], listed: Iterable[Any]) -> tuple[T, ...]:
        """What is listed, without what only a later version knows: it is told of once, and hides nothing else."""
        found = []
        for each in listed:
            try:
                found.append(read(each))
            except WireError as error:
                if each.id not in self._not_understood:
                    self._not_understood.add(each.id)
                    _log.error("the server lists what this agent does not know", id=each.id, reason=str(error))
        return tuple(found)

    async def last_deployment(self, application_id: str, status: DeploymentStatus) -> DeploymentReference | None:
        """The newest deployment of an application that is pending (or anything later), or that succeeded."""
        request = messages.GetApplicationMostRecentDeploymentRequest(
            application_id=application_id, status=DEPLOYMENT_STATUSES.to_wire(status)
        )
        try:
            answer = await self.call("GetApplicationMostRecentDeployment", request)
        except ServerRefused as error:
            if _code(error) is grpc.StatusCode.NOT_FOUND:
                return None
            raise
        return from_wire_deployment_reference(answer.deployment)

    async def send(self, *reports: Report) -> None:
        """Tell the server, in this order; it has it all for good when this returns."""
        if len(reports) > 1 and self._takes_together and await self._sent_together(reports):
            return
        for taken, report in enumerate(reports):
            try:
                await self.call(report.method, report.request)
            except ServerRefused as error:
                error.taken = taken
                raise

    async def _sent_together(self, reports: Sequence[Report]) -> bool:
        """Send reports as one; False when they are better sent one by one."""
        said = [
            report_messages.Report(method=each.method, request=each.request.SerializeToString()) for each in reports
        ]
        if sum(len(each.request) for each in said) > _MOST_BYTES_TOGETHER:
            return False
        try:
            await self._answer(self._reports.Report, report_messages.ReportRequest(reports=said), "Report")
        except KeyRefused:
            raise
        except ServerRefused as error:
            # Nothing of it was kept. Which one it was, and what the server says to the others, is found out one by one.
            self._takes_together = _code(error) is not grpc.StatusCode.UNIMPLEMENTED
            return False
        return True

    async def watch(self, resume_token: str) -> AsyncIterator[hint_messages.Hint]:
        """Hints, for as long as the server keeps the line; NoHints where it has none to give."""
        stream = self._hints.Watch(hint_messages.WatchRequest(resume_token=resume_token), metadata=self._metadata)
        try:
            async for hint in stream:
                yield hint
        except aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.UNIMPLEMENTED and _is_the_servers(error):
                raise NoHints("this server gives no hints; the agent polls instead") from error
            raise _in_our_words("Watch", error) from error
        finally:
            stream.cancel()

    async def call(self, method: str, request: Message) -> Any:
        """The answer to one call by its name on the wire. It never comes when another agent is at work meanwhile."""
        return await self._answer(getattr(self._agents, method), request, method)

    async def _answer(self, call: Callable[..., Awaitable[Any]], request: Message, method: str) -> Any:
        if (size := request.ByteSize()) > MAX_MESSAGE_BYTES:
            # It can never be sent, so nothing may wait behind it.
            raise ServerRefused(f"{method} has {size} bytes; a message has at most {MAX_MESSAGE_BYTES} bytes")
        token = self._fencing_token
        shown = ((FENCING_METADATA, str(token)),) if token else ()
        try:
            return _whole(method, await call(request, metadata=self._metadata + shown, timeout=self._seconds))
        except aio.AioRpcError as error:
            if self.replaced is not None and (FENCING_METADATA, "stale") in tuple(error.trailing_metadata() or ()):
                await self.replaced(error.details() or "another agent is at work")
                # Whoever waits here is about to be stopped, with everything that this agent does. Any answer would
                # let it go on until then.
                await asyncio.get_running_loop().create_future()
            raise _in_our_words(method, error) from error


def _whole(method: str, answer: T | None) -> T:
    # An answer whose bytes are no message of that sort comes from grpc as none at all; something in between gave it.
    if answer is None:
        raise ServerAway(f"what came as the answer to {method} is none")
    return answer


#: What repeating does not change. Everything else may be the line, or a server that is being replaced.
_FINAL = {
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.ALREADY_EXISTS,
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.OUT_OF_RANGE,
    grpc.StatusCode.UNIMPLEMENTED,
    grpc.StatusCode.DATA_LOSS,
}


#: How gRPC begins to tell of an answer that no gRPC server gave. The code is made of its HTTP status then.
_NOT_GRPC = "Received http2 header with status"


def _is_the_servers(error: aio.AioRpcError) -> bool:
    """Whether the server said so, and not a proxy, whose 404, 403 or 401 is nobody's word."""
    return not (error.details() or "").startswith(_NOT_GRPC)


def _in_our_words(method: str, error: aio.AioRpcError) -> ServerAway | ServerRefused:
    said = error.details() or error.code().name
    if not _is_the_servers(error):
        return ServerAway(f"the server did not answer {method}; something before it did ({said})")
    if error.code() is grpc.StatusCode.UNAUTHENTICATED:
        return KeyRefused(f"the server does not let this agent in: {said}")
    if error.code() in _FINAL:
        refused = ServerHasIt if error.code() is grpc.StatusCode.ALREADY_EXISTS else ServerRefused
        return refused(f"the server refused {method} ({error.code().name}): {said}")
    return ServerAway(f"the server did not answer {method} ({error.code().name}): {said}")


def _code(error: ServerAway | ServerRefused) -> grpc.StatusCode | None:
    cause = error.__cause__
    return cause.code() if isinstance(cause, aio.AioRpcError) else None
