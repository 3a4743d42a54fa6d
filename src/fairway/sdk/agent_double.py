"""A double of the agent, for tests of plugins: it takes what plugins tell an agent and writes it down."""

from datetime import UTC, datetime
from pathlib import Path

import grpc

from fairway.model.command import ApproveStage, Command
from fairway.model.registration import Registration, Standing
from fairway.rpc.context import CallContext
from fairway.rpc.convert.command import to_wire_command
from fairway.rpc.convert.registration import to_wire_registration
from fairway.rpc.plugin_api import ApplicationServicer, HostServicer, LiveStateHintServicer, SecretServicer
from fairway.rpc.plugin_api import application_messages as a
from fairway.rpc.plugin_api import host_messages as h
from fairway.rpc.plugin_api import live_state_hint_messages as ls
from fairway.rpc.plugin_api import secret_messages as o

_AT = datetime(2026, 1, 1, tzinfo=UTC)


class AgentDouble(HostServicer, SecretServicer, LiveStateHintServicer, ApplicationServicer):
    """Takes what plugins tell an agent, and keeps it where a test can look."""

    def __init__(self) -> None:
        #: Stage id → its lines.
        self.logs: dict[str, list[str]] = {}
        #: The numbers of these.
        self._numbers: dict[str, set[int]] = {}
        #: Stage id → what was kept with it.
        self.stage_notes: dict[str, dict[str, str]] = {}
        #: Plugin → what it kept with the deployment.
        self.plugin_notes: dict[str, dict[str, str]] = {}
        #: What the agent keeps with the deployment for every plugin.
        self.shared_notes: dict[str, str] = {}
        self.objects: dict[str, bytes] = {}
        #: Applications of which a plugin said that what runs has changed.
        self.changed: list[str] = []
        #: Sealed text → what it opens to.
        self.secrets: dict[str, str] = {}
        #: Name and version of a tool → where it is; what is not here cannot be installed.
        self.tools: dict[tuple[str, str], Path] = {}
        #: Application id → what is known of it; all others are gone. None for an agent that cannot tell, as PipeCD's.
        self.applications: dict[str, Registration] | None = {}
        #: Stage id → commands that wait for it.
        self.commands: dict[str, list[Command]] = {}

    def approve(self, stage_id: str, by: str) -> None:
        """Somebody approves a stage."""
        number = sum(map(len, self.commands.values()))
        command = Command(
            id=f"command-{number}",
            agent_id="agent",
            project_id="project",
            payload=ApproveStage(deployment_id="deployment", stage_id=stage_id),
            commander=by,
            created_at=_AT,
            updated_at=_AT,
        )
        self.commands.setdefault(stage_id, []).append(command)

    def _take_lines(self, request: h.ReportStageLogsRequest | h.ReportStageLogsFromLastCheckpointRequest) -> None:
        """A line that comes again, under its number, is the same line: its sender did not hear that it had arrived."""
        lines = self.logs.setdefault(request.stage_id, [])
        numbers = self._numbers.setdefault(request.stage_id, set())
        for block in request.blocks:
            if block.index not in numbers:
                numbers.add(block.index)
                lines.append(block.log)

    async def ReportStageLogs(
        self, request: h.ReportStageLogsRequest, _context: CallContext
    ) -> h.ReportStageLogsResponse:
        self._take_lines(request)
        return h.ReportStageLogsResponse()

    async def ReportStageLogsFromLastCheckpoint(
        self, request: h.ReportStageLogsFromLastCheckpointRequest, _context: CallContext
    ) -> h.ReportStageLogsFromLastCheckpointResponse:
        self._take_lines(request)
        return h.ReportStageLogsFromLastCheckpointResponse()

    async def GetStageMetadata(
        self, request: h.GetStageMetadataRequest, _context: CallContext
    ) -> h.GetStageMetadataResponse:
        value = self.stage_notes.get(request.stage_id, {}).get(request.key)
        return h.GetStageMetadataResponse(value=value or "", found=value is not None)

    async def PutStageMetadata(
        self, request: h.PutStageMetadataRequest, _context: CallContext
    ) -> h.PutStageMetadataResponse:
        self.stage_notes.setdefault(request.stage_id, {})[request.key] = request.value
        return h.PutStageMetadataResponse()

    async def PutStageMetadataMulti(
        self, request: h.PutStageMetadataMultiRequest, _context: CallContext
    ) -> h.PutStageMetadataMultiResponse:
        self.stage_notes.setdefault(request.stage_id, {}).update(request.metadata)
        return h.PutStageMetadataMultiResponse()

    async def GetDeploymentPluginMetadata(
        self, request: h.GetDeploymentPluginMetadataRequest, _context: CallContext
    ) -> h.GetDeploymentPluginMetadataResponse:
        value = self.plugin_notes.get(request.plugin_name, {}).get(request.key)
        return h.GetDeploymentPluginMetadataResponse(value=value or "", found=value is not None)

    async def PutDeploymentPluginMetadata(
        self, request: h.PutDeploymentPluginMetadataRequest, _context: CallContext
    ) -> h.PutDeploymentPluginMetadataResponse:
        self.plugin_notes.setdefault(request.plugin_name, {})[request.key] = request.value
        return h.PutDeploymentPluginMetadataResponse()

    async def PutDeploymentPluginMetadataMulti(
        self, request: h.PutDeploymentPluginMetadataMultiRequest, _context: CallContext
    ) -> h.PutDeploymentPluginMetadataMultiResponse:
        self.plugin_notes.setdefault(request.plugin_name, {}).update(request.metadata)
        return h.PutDeploymentPluginMetadataMultiResponse()

    async def GetDeploymentSharedMetadata(
        self, request: h.GetDeploymentSharedMetadataRequest, _context: CallContext
    ) -> h.GetDeploymentSharedMetadataResponse:
        value = self.shared_notes.get(request.key)
        return h.GetDeploymentSharedMetadataResponse(value=value or "", found=value is not None)

    async def InstallTool(self, request: h.InstallToolRequest, context: CallContext) -> h.InstallToolResponse:
        path = self.tools.get((request.name, request.version))
        if path is None:
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, f"no tool {request.name} {request.version}")
        return h.InstallToolResponse(installed_path=str(path))

    async def LiveStateChanged(
        self, request: ls.LiveStateChangedRequest, _context: CallContext
    ) -> ls.LiveStateChangedResponse:
        self.changed.extend(request.application_ids)
        return ls.LiveStateChangedResponse()

    async def FindApplication(
        self, request: a.FindApplicationRequest, context: CallContext
    ) -> a.FindApplicationResponse:
        if self.applications is None:
            await context.abort(grpc.StatusCode.UNIMPLEMENTED, "unknown service fairway.plugin.v1.ApplicationService")
        found = self.applications.get(request.application_id, Registration(Standing.GONE))
        return to_wire_registration(found)

    async def DecryptSecret(self, request: o.OpenSecretRequest, context: CallContext) -> o.OpenSecretResponse:
        if request.secret not in self.secrets:
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, "nothing is known of that sealed value")
        return o.OpenSecretResponse(decrypted_secret=self.secrets[request.secret])

    async def ListStageCommands(
        self, request: h.ListStageCommandsRequest, _context: CallContext
    ) -> h.ListStageCommandsResponse:
        return h.ListStageCommandsResponse(commands=map(to_wire_command, self.commands.get(request.stage_id, ())))

    async def GetApplicationSharedObject(
        self, request: h.GetApplicationSharedObjectRequest, context: CallContext
    ) -> h.GetApplicationSharedObjectResponse:
        if request.key not in self.objects:
            await context.abort(grpc.StatusCode.NOT_FOUND, f"nothing was kept under {request.key!r}")
        return h.GetApplicationSharedObjectResponse(object=self.objects[request.key])

    async def PutApplicationSharedObject(
        self, request: h.PutApplicationSharedObjectRequest, _context: CallContext
    ) -> h.PutApplicationSharedObjectResponse:
        self.objects[request.key] = request.object
        return h.PutApplicationSharedObjectResponse()
