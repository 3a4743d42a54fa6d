"""What plugins ask of the agent: PipeCD's PluginService, complete, and our own services beside it.

Everything a plugin logs passes here, so this is where secrets are masked, for plugins of every maker. Notes and logs go
to the server through the outbox, and are safe when the plugin has its answer. Who calls is known of every call, and a
plugin is given what is its own (`callers`).
"""

import copy
import functools
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, TypeVar

import grpc
import msgspec
import structlog

from fairway.agent import reports
from fairway.agent.control_plane import ControlPlane, ServerAway, ServerRefused
from fairway.agent.deployments import Deployments, Underway
from fairway.agent.inbox import Inbox
from fairway.agent.masking import LogMask
from fairway.agent.outbox import Outbox
from fairway.agent.plugins.callers import (
    NotUnderway,
    NotYours,
    Stranger,
    require_name,
    require_part,
    require_stage,
)
from fairway.agent.plugins.output import NO_MASK, Mask
from fairway.agent.plugins.tools import InstallFailed, Tools
from fairway.agent.running import DeploymentRun
from fairway.agent.stage_logs import deliver_log
from fairway.errors import FairwayError, UserError
from fairway.model.limits import LOG_TEXT, TooLarge, cut, refuse_large_object
from fairway.model.log_block import LogBlock
from fairway.rpc.agent_api import messages as server_messages
from fairway.rpc.context import CallContext
from fairway.rpc.convert.command import to_wire_command
from fairway.rpc.convert.log_block import from_wire_log_block
from fairway.rpc.convert.registration import to_wire_registration
from fairway.rpc.details import clipped
from fairway.rpc.plugin_api import ApplicationServicer, HostServicer, LiveStateHintServicer, SecretServicer
from fairway.rpc.plugin_api import application_messages as a
from fairway.rpc.plugin_api import host_messages as m
from fairway.rpc.plugin_api import live_state_hint_messages as h
from fairway.rpc.plugin_api import secret_messages as s
from fairway.secrets.redact import Redactor
from fairway.secrets.render import Unsealer

_log = structlog.get_logger()

Q = TypeVar("Q")
A = TypeVar("A")
#: A method, its request, and the plugin that calls.
Call = Callable[[Any, Q, str], Coroutine[Any, Any, A]]


class HostDesk(msgspec.Struct, frozen=True, kw_only=True):
    """What plugins are answered from."""

    deployments: Deployments
    inbox: Inbox
    outbox: Outbox
    control_plane: ControlPlane
    tools: Tools
    #: Asks soon what runs of an application.
    look_soon: Callable[[str], None]
    #: Opens sealed values; None where the agent has no key for that.
    unsealer: Unsealer | None = None
    #: What plugins write to the agent's own log, as others may read it, is passed through this.
    mask: Mask = NO_MASK


class NoKey(UserError):
    """A sealed value, and no key to open it."""


class NothingKept(UserError):
    """An object that nobody has put there."""


def _answered(method: Call[Q, A]) -> Callable[[Any, Q, CallContext], Coroutine[Any, Any, A]]:
    """The method as gRPC calls it: with the plugin that calls, and errors of ours end the call with their words."""

    @functools.wraps(method)
    async def answer(self: "HostService", request: Q, context: CallContext) -> A:
        try:
            return await method(self, request, self.caller(context))
        except FairwayError as error:
            if isinstance(error, Stranger | NotYours):
                self.note_refusal(method.__name__, str(error))
            await context.abort(_code(error), clipped(str(error)))

    return answer


def _code(error: FairwayError) -> grpc.StatusCode:
    known: dict[type[FairwayError], grpc.StatusCode] = {
        Stranger: grpc.StatusCode.UNAUTHENTICATED,
        NotYours: grpc.StatusCode.PERMISSION_DENIED,
        NotUnderway: grpc.StatusCode.NOT_FOUND,
        NothingKept: grpc.StatusCode.NOT_FOUND,
        TooLarge: grpc.StatusCode.INVALID_ARGUMENT,
        # The agent is there: who only waits until it answers need not wait for this.
        InstallFailed: grpc.StatusCode.ABORTED,
    }
    otherwise = grpc.StatusCode.UNAVAILABLE if error.retry else grpc.StatusCode.FAILED_PRECONDITION
    return known.get(type(error), otherwise)


class HostService(HostServicer, SecretServicer, LiveStateHintServicer, ApplicationServicer):
    """Serves the plugins of one agent."""

    def __init__(self, desk: HostDesk, caller: Callable[[CallContext], str]) -> None:
        self._desk = desk
        #: The plugin that makes a call; Stranger when it is none.
        self.caller = caller
        #: (deployment, stage) → what masks a line that is too long for one block, until it ends.
        self._masks: dict[tuple[str, str], LogMask] = {}
        self._refused: set[tuple[str, str]] = set()

    def behind_door(self, plugin: str) -> "HostService":
        """The same, where every call is that of one plugin."""
        same = copy.copy(self)
        same.caller = lambda _context: plugin
        return same

    def note_refusal(self, method: str, why: str) -> None:
        """Tell once of somebody who asked for what is not for them."""
        if (method, why) not in self._refused and len(self._refused) < _TOLD_REFUSALS:
            self._refused.add((method, why))
            _log.warning("a call of a plugin was refused", method=method, reason=why)

    @_answered
    async def InstallTool(self, request: m.InstallToolRequest, _caller: str) -> m.InstallToolResponse:
        path = await self._desk.tools.install(request.name, request.version, request.install_script)
        return m.InstallToolResponse(installed_path=str(path))

    @_answered
    async def DecryptSecret(self, request: s.OpenSecretRequest, caller: str) -> s.OpenSecretResponse:
        underway = self._underway(request.deployment_id)
        require_part(caller, underway)
        if self._desk.unsealer is None:
            raise NoKey("this agent has no key to open sealed values; its file needs secretManagement")
        opened = self._desk.unsealer.unseal(request.secret)
        underway.opened.add(opened)
        return s.OpenSecretResponse(decrypted_secret=opened.reveal())

    @_answered
    async def LiveStateChanged(self, request: h.LiveStateChangedRequest, _caller: str) -> h.LiveStateChangedResponse:
        for application_id in request.application_ids:
            self._desk.look_soon(application_id)
        return h.LiveStateChangedResponse()

    @_answered
    async def FindApplication(self, request: a.FindApplicationRequest, _caller: str) -> a.FindApplicationResponse:
        return to_wire_registration(await self._desk.control_plane.find_application(request.application_id))

    @_answered
    async def ReportStageLogs(self, request: m.ReportStageLogsRequest, caller: str) -> m.ReportStageLogsResponse:
        await self._log(request, caller, completed=False)
        return m.ReportStageLogsResponse()

    @_answered
    async def ReportStageLogsFromLastCheckpoint(
        self, request: m.ReportStageLogsFromLastCheckpointRequest, caller: str
    ) -> m.ReportStageLogsFromLastCheckpointResponse:
        await self._log(request, caller, completed=request.completed)
        return m.ReportStageLogsFromLastCheckpointResponse()

    @_answered
    async def GetStageMetadata(self, request: m.GetStageMetadataRequest, caller: str) -> m.GetStageMetadataResponse:
        run = require_stage(caller, self._underway(request.deployment_id), request.stage_id)
        stage = run.deployment.stage(request.stage_id)
        value = None if stage is None else stage.metadata.get(request.key)
        return m.GetStageMetadataResponse(value=value or "", found=value is not None)

    @_answered
    async def PutStageMetadata(self, request: m.PutStageMetadataRequest, caller: str) -> m.PutStageMetadataResponse:
        run = require_stage(caller, self._underway(request.deployment_id), request.stage_id)
        await run.note_stage(request.stage_id, {request.key: request.value})
        return m.PutStageMetadataResponse()

    @_answered
    async def PutStageMetadataMulti(
        self, request: m.PutStageMetadataMultiRequest, caller: str
    ) -> m.PutStageMetadataMultiResponse:
        run = require_stage(caller, self._underway(request.deployment_id), request.stage_id)
        await run.note_stage(request.stage_id, dict(request.metadata))
        return m.PutStageMetadataMultiResponse()

    @_answered
    async def GetDeploymentPluginMetadata(
        self, request: m.GetDeploymentPluginMetadataRequest, caller: str
    ) -> m.GetDeploymentPluginMetadataResponse:
        notes = self._named(request, caller).deployment.plugin_metadata.get(caller, {})
        return m.GetDeploymentPluginMetadataResponse(**_found(notes, request.key))

    @_answered
    async def PutDeploymentPluginMetadata(
        self, request: m.PutDeploymentPluginMetadataRequest, caller: str
    ) -> m.PutDeploymentPluginMetadataResponse:
        await self._named(request, caller).note_plugin(caller, {request.key: request.value})
        return m.PutDeploymentPluginMetadataResponse()

    @_answered
    async def PutDeploymentPluginMetadataMulti(
        self, request: m.PutDeploymentPluginMetadataMultiRequest, caller: str
    ) -> m.PutDeploymentPluginMetadataMultiResponse:
        await self._named(request, caller).note_plugin(caller, dict(request.metadata))
        return m.PutDeploymentPluginMetadataMultiResponse()

    @_answered
    async def GetDeploymentSharedMetadata(
        self, request: m.GetDeploymentSharedMetadataRequest, caller: str
    ) -> m.GetDeploymentSharedMetadataResponse:
        notes = require_part(caller, self._underway(request.deployment_id)).deployment.shared_metadata
        return m.GetDeploymentSharedMetadataResponse(**_found(notes, request.key))

    @_answered
    async def ListStageCommands(self, request: m.ListStageCommandsRequest, caller: str) -> m.ListStageCommandsResponse:
        require_stage(caller, self._underway(request.deployment_id), request.stage_id)
        commands = self._desk.inbox.of_stage(request.deployment_id, request.stage_id)
        return m.ListStageCommandsResponse(commands=map(to_wire_command, commands))

    @_answered
    async def GetApplicationSharedObject(
        self, request: m.GetApplicationSharedObjectRequest, caller: str
    ) -> m.GetApplicationSharedObjectResponse:
        require_name(caller, request.plugin_name)
        if self._desk.outbox.keeps(_objects_of(request.application_id)):
            raise ServerAway("the server has not been told yet what was put there last")
        asked = server_messages.GetApplicationSharedObjectRequest(
            application_id=request.application_id, plugin_name=caller, key=request.key
        )
        try:
            answer = await self._desk.control_plane.call("GetApplicationSharedObject", asked)
        except ServerRefused as error:
            cause = error.__cause__
            if isinstance(cause, grpc.aio.AioRpcError) and cause.code() is grpc.StatusCode.NOT_FOUND:
                raise NothingKept(str(error)) from error
            raise
        return m.GetApplicationSharedObjectResponse(object=answer.object)

    @_answered
    async def PutApplicationSharedObject(
        self, request: m.PutApplicationSharedObjectRequest, caller: str
    ) -> m.PutApplicationSharedObjectResponse:
        require_name(caller, request.plugin_name)
        refuse_large_object(request.key, request.object)
        kept = server_messages.PutApplicationSharedObjectRequest(
            application_id=request.application_id,
            plugin_name=caller,
            key=request.key,
            object=request.object,
        )
        stream = _objects_of(request.application_id)
        await self._desk.outbox.deliver(stream, reports.Report("PutApplicationSharedObject", kept))
        return m.PutApplicationSharedObjectResponse()

    async def _log(
        self,
        request: m.ReportStageLogsRequest | m.ReportStageLogsFromLastCheckpointRequest,
        caller: str,
        completed: bool,
    ) -> None:
        underway = self._underway(request.deployment_id)
        require_stage(caller, underway, request.stage_id)
        place = reports.LogPlace(request.deployment_id, request.stage_id, request.retried_count)
        key = (request.deployment_id, request.stage_id)
        mask = self._masks.pop(key, None) or LogMask()
        blocks = (_masked(from_wire_log_block(block), mask, underway.opened.redactor) for block in request.blocks)
        # Made at once, and of each block no more is kept than the report holds: a loud script's are large.
        report = reports.logged(place, blocks, completed)
        if mask.waits and not completed:
            self._masks[key] = mask
        await deliver_log(self._desk.outbox, place, report)

    def _underway(self, deployment_id: str) -> Underway:
        underway = self._desk.deployments.find(deployment_id)
        if underway is None:
            raise NotUnderway(f"this agent is not running deployment {deployment_id!r}")
        return underway

    def _named(self, request: "_OfPlugin", caller: str) -> DeploymentRun:
        """The run of a deployment, for a plugin that asks for notes under its own name."""
        require_name(caller, request.plugin_name)
        return require_part(caller, self._underway(request.deployment_id))


#: Requests about notes that a plugin keeps with a deployment.
_OfPlugin = (
    m.GetDeploymentPluginMetadataRequest
    | m.PutDeploymentPluginMetadataRequest
    | m.PutDeploymentPluginMetadataMultiRequest
)
#: So many refusals are told of; an agent runs for long, and whoever tries things out tries many.
_TOLD_REFUSALS = 100


def _masked(block: LogBlock, mask: LogMask, redactor: Redactor) -> LogBlock:
    """The block without secrets; a long one is cut."""
    masked = cut(mask.masked(block.log, redactor), LOG_TEXT)
    return block if masked == block.log else msgspec.structs.replace(block, log=masked)


def _objects_of(application_id: str) -> str:
    """The stream of the outbox in which the objects of an application are told."""
    return f"objects of {application_id}"


def _found(notes: Mapping[str, str], key: str) -> dict[str, Any]:
    return {"value": notes.get(key, ""), "found": key in notes}
