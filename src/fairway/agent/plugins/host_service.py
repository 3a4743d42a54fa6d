"""What plugins ask of the agent: PipeCD's PluginService, complete, and the opening of secrets beside it.

Everything a plugin logs passes here, so this is where secrets are masked, for plugins of every maker. Notes and logs go
to the server through the outbox, and are safe when the plugin has its answer.
"""

import functools
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import grpc
import msgspec

from fairway.agent import reports
from fairway.agent.control_plane import ControlPlane
from fairway.agent.deployments import Deployments, Underway
from fairway.agent.inbox import Inbox
from fairway.agent.masking import LogMask
from fairway.agent.outbox import Outbox
from fairway.agent.plugins.tools import Tools
from fairway.agent.running import DeploymentRun
from fairway.errors import FairwayError, UserError
from fairway.model.log_block import LogBlock
from fairway.rpc.agent_api import messages as server_messages
from fairway.rpc.context import CallContext
from fairway.rpc.convert.command import to_wire_command
from fairway.rpc.convert.log_block import from_wire_log_block
from fairway.rpc.plugin_api import HostServicer, SecretServicer
from fairway.rpc.plugin_api import host_messages as m
from fairway.rpc.plugin_api import secret_messages as s
from fairway.secrets.redact import Redactor
from fairway.secrets.render import Unsealer
from fairway.secrets.secret import Secret

Q = TypeVar("Q")
A = TypeVar("A")
Call = Callable[[Any, Q], Coroutine[Any, Any, A]]


class HostDesk(msgspec.Struct, frozen=True, kw_only=True):
    """What plugins are answered from."""

    deployments: Deployments
    inbox: Inbox
    outbox: Outbox
    control_plane: ControlPlane
    tools: Tools
    #: Opens sealed values; None where the agent has no key for that.
    unsealer: Unsealer | None = None


class NoKey(UserError):
    """A sealed value, and no key to open it."""


class NotUnderway(UserError):
    """A deployment that this agent is not bringing to its end."""


def _answered(method: Call[Q, A]) -> Callable[[Any, Q, CallContext], Coroutine[Any, Any, A]]:
    """The method as gRPC calls it: errors of ours end the call with their words."""

    @functools.wraps(method)
    async def answer(self: Any, request: Q, context: CallContext) -> A:
        try:
            return await method(self, request)
        except NotUnderway as error:
            await context.abort(grpc.StatusCode.NOT_FOUND, str(error))
        except FairwayError as error:
            code = grpc.StatusCode.UNAVAILABLE if error.retry else grpc.StatusCode.FAILED_PRECONDITION
            await context.abort(code, str(error))

    return answer


class HostService(HostServicer, SecretServicer):
    """Serves the plugins of one agent."""

    def __init__(self, desk: HostDesk) -> None:
        self._desk = desk
        #: What plugins had opened for a deployment, to be masked beside what was opened for it anyway.
        #: (deployment, stage) → what masks a line that is too long for one block, until it ends.
        self._masks: dict[tuple[str, str], LogMask] = {}
        self._opened: WeakKeyDictionary[Underway, frozenset[Secret]] = WeakKeyDictionary()

    @_answered
    async def InstallTool(self, request: m.InstallToolRequest) -> m.InstallToolResponse:
        path = await self._desk.tools.install(request.name, request.version, request.install_script)
        return m.InstallToolResponse(installed_path=str(path))

    @_answered
    async def DecryptSecret(self, request: s.OpenSecretRequest) -> s.OpenSecretResponse:
        underway = self._underway(request.deployment_id)
        if self._desk.unsealer is None:
            raise NoKey("this agent has no key to open sealed values; its file needs secretManagement")
        opened = self._desk.unsealer.unseal(request.secret)
        self._opened[underway] = self._opened.get(underway, frozenset()) | {opened}
        return s.OpenSecretResponse(decrypted_secret=opened.reveal())

    @_answered
    async def ReportStageLogs(self, request: m.ReportStageLogsRequest) -> m.ReportStageLogsResponse:
        await self._log(request, completed=False)
        return m.ReportStageLogsResponse()

    @_answered
    async def ReportStageLogsFromLastCheckpoint(
        self, request: m.ReportStageLogsFromLastCheckpointRequest
    ) -> m.ReportStageLogsFromLastCheckpointResponse:
        await self._log(request, completed=request.completed)
        return m.ReportStageLogsFromLastCheckpointResponse()

    @_answered
    async def GetStageMetadata(self, request: m.GetStageMetadataRequest) -> m.GetStageMetadataResponse:
        stage = self._underway(request.deployment_id).current.stage(request.stage_id)
        value = None if stage is None else stage.metadata.get(request.key)
        return m.GetStageMetadataResponse(value=value or "", found=value is not None)

    @_answered
    async def PutStageMetadata(self, request: m.PutStageMetadataRequest) -> m.PutStageMetadataResponse:
        await self._run(request.deployment_id).note_stage(request.stage_id, {request.key: request.value})
        return m.PutStageMetadataResponse()

    @_answered
    async def PutStageMetadataMulti(self, request: m.PutStageMetadataMultiRequest) -> m.PutStageMetadataMultiResponse:
        await self._run(request.deployment_id).note_stage(request.stage_id, dict(request.metadata))
        return m.PutStageMetadataMultiResponse()

    @_answered
    async def GetDeploymentPluginMetadata(
        self, request: m.GetDeploymentPluginMetadataRequest
    ) -> m.GetDeploymentPluginMetadataResponse:
        notes = self._underway(request.deployment_id).current.plugin_metadata.get(request.plugin_name, {})
        return m.GetDeploymentPluginMetadataResponse(**_found(notes, request.key))

    @_answered
    async def PutDeploymentPluginMetadata(
        self, request: m.PutDeploymentPluginMetadataRequest
    ) -> m.PutDeploymentPluginMetadataResponse:
        await self._run(request.deployment_id).note_plugin(request.plugin_name, {request.key: request.value})
        return m.PutDeploymentPluginMetadataResponse()

    @_answered
    async def PutDeploymentPluginMetadataMulti(
        self, request: m.PutDeploymentPluginMetadataMultiRequest
    ) -> m.PutDeploymentPluginMetadataMultiResponse:
        await self._run(request.deployment_id).note_plugin(request.plugin_name, dict(request.metadata))
        return m.PutDeploymentPluginMetadataMultiResponse()

    @_answered
    async def GetDeploymentSharedMetadata(
        self, request: m.GetDeploymentSharedMetadataRequest
    ) -> m.GetDeploymentSharedMetadataResponse:
        notes = self._underway(request.deployment_id).current.shared_metadata
        return m.GetDeploymentSharedMetadataResponse(**_found(notes, request.key))

    @_answered
    async def ListStageCommands(self, request: m.ListStageCommandsRequest) -> m.ListStageCommandsResponse:
        commands = self._desk.inbox.of_stage(request.deployment_id, request.stage_id)
        return m.ListStageCommandsResponse(commands=map(to_wire_command, commands))

    async def GetApplicationSharedObject(
        self, request: m.GetApplicationSharedObjectRequest, context: CallContext
    ) -> m.GetApplicationSharedObjectResponse:
        asked = server_messages.GetApplicationSharedObjectRequest(
            application_id=request.application_id, plugin_name=request.plugin_name, key=request.key
        )
        try:
            answer = await self._desk.control_plane.call("GetApplicationSharedObject", asked)
        except FairwayError as error:
            # "There is none" is an answer that plugins know; it is passed on as the server gives it.
            cause = error.__cause__
            code = cause.code() if isinstance(cause, grpc.aio.AioRpcError) else grpc.StatusCode.UNAVAILABLE
            await context.abort(code, str(error))
        return m.GetApplicationSharedObjectResponse(object=answer.object)

    @_answered
    async def PutApplicationSharedObject(
        self, request: m.PutApplicationSharedObjectRequest
    ) -> m.PutApplicationSharedObjectResponse:
        kept = server_messages.PutApplicationSharedObjectRequest(
            application_id=request.application_id,
            plugin_name=request.plugin_name,
            key=request.key,
            object=request.object,
        )
        stream = f"objects of {request.application_id}"
        await self._desk.outbox.deliver(stream, reports.Report("PutApplicationSharedObject", kept))
        return m.PutApplicationSharedObjectResponse()

    async def _log(
        self, request: m.ReportStageLogsRequest | m.ReportStageLogsFromLastCheckpointRequest, completed: bool
    ) -> None:
        underway = self._underway(request.deployment_id)
        place = reports.LogPlace(request.deployment_id, request.stage_id, request.retried_count)
        redactors = [underway.redactor]
        if underway in self._opened:
            redactors.append(Redactor(self._opened[underway]))
        key = (request.deployment_id, request.stage_id)
        mask = self._masks.pop(key, None) or LogMask()
        blocks = [_masked(from_wire_log_block(block), mask, redactors) for block in request.blocks]
        if mask.waits and not completed:
            self._masks[key] = mask
        # Beside the deployment's own stream: a long log must not hold up the news that its stage has ended.
        stream = f"log of {request.deployment_id} {request.stage_id}"
        await self._desk.outbox.deliver(stream, reports.logged(place, blocks, completed))

    def _underway(self, deployment_id: str) -> Underway:
        underway = self._desk.deployments.find(deployment_id)
        if underway is None:
            raise NotUnderway(f"this agent is not running deployment {deployment_id!r}")
        return underway

    def _run(self, deployment_id: str) -> DeploymentRun:
        run = self._underway(deployment_id).run
        if run is None:
            raise NotUnderway(f"deployment {deployment_id!r} has not begun to run")
        return run


def _masked(block: LogBlock, mask: LogMask, redactors: Sequence[Redactor]) -> LogBlock:
    masked = mask.masked(block.log, redactors)
    return block if masked == block.log else msgspec.structs.replace(block, log=masked)


def _found(notes: Mapping[str, str], key: str) -> dict[str, Any]:
    return {"value": notes.get(key, ""), "found": key in notes}
