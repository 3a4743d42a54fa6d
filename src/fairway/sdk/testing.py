"""For tests of plugins: the plugin over real gRPC, with a double of the agent that writes down what it is told.

async with plugin_under_test(Greet, tmp_path) as greet:
    ended = await greet.run("GREET", {"whom": "Ada"})

assert ended == Ended(StageStatus.SUCCEEDED, "", ("hello Ada",))
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import grpc
import msgspec
from grpc import aio

from fairway.config.agent_file import DeployTarget
from fairway.model.application import GitPath, Repository, SyncState
from fairway.model.command import ApproveStage, Command
from fairway.model.deployment import Deployment
from fairway.model.live_state import Resource
from fairway.model.registration import Registration, Standing
from fairway.model.stage import Stage, StageStatus
from fairway.model.trigger import Commit, SyncStrategy, Trigger
from fairway.rpc.channel import CHANNEL_OPTIONS, SERVER_OPTIONS
from fairway.rpc.context import CallContext
from fairway.rpc.convert.application import from_wire_sync_state
from fairway.rpc.convert.command import to_wire_command
from fairway.rpc.convert.deployment import to_wire_deployment
from fairway.rpc.convert.live_state import from_wire_plugin_live_state
from fairway.rpc.convert.registration import to_wire_registration
from fairway.rpc.convert.stage import STAGE_STATUSES, from_wire_stage, to_wire_stage
from fairway.rpc.plugin_api import (
    NOTES_METADATA,
    OVERDUE_KEY,
    STAYS_KEY,
    UNDER_WAY_KEY,
    ApplicationServicer,
    DeploymentStub,
    HostServicer,
    LiveStateHintServicer,
    LiveStateStub,
    PlanPreviewStub,
    SecretServicer,
    StageStub,
    live_state_messages,
    plan_preview_messages,
    register_application_service,
    register_host_service,
    register_live_state_hint_service,
    register_secret_service,
)
from fairway.rpc.plugin_api import application_messages as a
from fairway.rpc.plugin_api import common_messages as common
from fairway.rpc.plugin_api import deployment_messages as m
from fairway.rpc.plugin_api import host_messages as h
from fairway.rpc.plugin_api import live_state_hint_messages as ls
from fairway.rpc.plugin_api import secret_messages as o
from fairway.rpc.plugin_api import stage_messages as s
from fairway.sdk.plugin import Plugin, PluginSettings, Preview
from fairway.sdk.serve import Host, Served, serving

_AT = datetime(2026, 1, 1, tzinfo=UTC)


class Ended(msgspec.Struct, frozen=True):
    """How a stage ended, and what it logged."""

    status: StageStatus
    message: str
    log: tuple[str, ...]


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


class PluginUnderTest:
    """A plugin that is being served, and the agent it is served to."""

    def __init__(self, agent: AgentDouble, channel: aio.Channel, folder: Path, settings: PluginSettings) -> None:
        self.agent = agent
        #: The application's directory: what a test writes here, stages find; its own file is `app.pipecd.yaml`.
        self.folder = folder
        self.application_id = "application"
        self.application_name = "application"
        #: Where the application is deployed to; all that the plugin has unless told otherwise.
        self.deploy_targets = tuple(each.name for each in settings.targets)
        #: The commit that is deployed.
        self.commit = "0" * 40
        #: The application's directory as it runs until now, and its commit; None on a first deployment.
        self.running: Path | None = None
        self.running_commit = "f" * 40
        #: The stages of the deployment, where more than the one that runs matters.
        self.stages: tuple[Stage, ...] = ()
        self.strategy = SyncStrategy.AUTO
        #: What an agent of v0 has kept with the deployment.
        self.metadata: dict[str, str] = {}
        #: Where an application of v0 is deployed to.
        self.platform_provider = ""
        #: Whether deploying takes away any of the difference that `live_state` has told of last.
        self.mendable = True
        self._deployments = DeploymentStub(channel)
        self._stages = StageStub(channel)
        self._live_states = LiveStateStub(channel)
        self._previews = PlanPreviewStub(channel)
        self._settings = settings
        self._numbers = count(1)

    async def plan(self, name: str, options: Mapping[str, Any], *, rollback: bool = True) -> tuple[Stage, ...]:
        """What the plugin makes of a pipeline with this one stage; grpc's error when it refuses."""
        wanted = m.BuildPipelineSyncStagesRequest.StageConfig(name=name, index=0, config=msgspec.json.encode(options))
        request = m.BuildPipelineSyncStagesRequest(rollback=rollback, stages=[wanted])
        answer = await self._deployments.BuildPipelineSyncStages(request)
        return tuple(map(from_wire_stage, answer.stages))

    async def run(
        self, name: str, options: Mapping[str, Any] | None = None, *, id: str = "", overdue: bool = False
    ) -> Ended:
        """Run a stage to its end. With the id of an earlier one it is the same stage, asked for again; `overdue` when
        its time ran out while no agent was there."""
        stage_id = id or f"stage-{next(self._numbers)}"
        new = Stage(id=stage_id, name=name, index=0, created_at=_AT, updated_at=_AT)
        stage = next((each for each in self.stages if each.id == stage_id), new)
        before = len(self.agent.logs.get(stage_id, ()))
        request = m.ExecuteStageRequest(
            input=m.ExecutePluginInput(
                deployment=to_wire_deployment(self._deployment(stage)),
                stage=to_wire_stage(stage),
                stage_config=msgspec.json.encode(options or {}),
                target_deployment_source=self._source(),
                running_deployment_source=self._running_source(),
            )
        )
        call = self._deployments.ExecuteStage(request, metadata=((OVERDUE_KEY, "true"),) if overdue else ())
        answer = await call
        if left := dict(await call.trailing_metadata() or ()).get(NOTES_METADATA):
            self.agent.stage_notes.setdefault(stage_id, {}).update(msgspec.json.decode(left, type=dict[str, str]))
        log = tuple(self.agent.logs.get(stage_id, ())[before:])
        return Ended(STAGE_STATUSES.from_wire(answer.status), answer.message, log)

    async def stop(self, stage_id: str, reason: str) -> bool:
        """End a running stage, as an agent does whose deployment is cancelled; whether it ran."""
        request = s.StopRequest(deployment_id="deployment", stage_id=stage_id, reason=reason)
        return bool((await self._stages.Stop(request)).was_running)

    async def hand_over(self, stage_id: str, grace_seconds: float) -> bool:
        """End a running stage, as an agent does in whose place another one is at work; whether it ran."""
        request = s.StopRequest(
            deployment_id="deployment", stage_id=stage_id, grace_seconds=grace_seconds, handed_over=True
        )
        return bool((await self._stages.Stop(request)).was_running)

    async def live_state(self, under_way: bool | None = None) -> tuple[tuple[Resource, ...], SyncState]:
        """What runs, and how it differs from the files; grpc's UNIMPLEMENTED for a plugin that cannot tell.

        `under_way` is what an agent says of deployments; PipeCD's says nothing.
        """
        request = live_state_messages.GetLivestateRequest(
            piped_id="agent",
            application_id=self.application_id,
            application_name=self.application_name,
            deploy_source=self._source(),
            deploy_targets=self.deploy_targets,
        )
        told = () if under_way is None else ((UNDER_WAY_KEY, "true" if under_way else "false"),)
        call = self._live_states.GetLivestate(request, metadata=told)
        answer = await call
        self.mendable = STAYS_KEY not in dict(await call.trailing_metadata() or ())
        resources = from_wire_plugin_live_state(answer.application_live_state)
        return resources, from_wire_sync_state(answer.sync_state)

    async def plan_preview(self) -> tuple[Preview, ...]:
        """What these files would change; grpc's UNIMPLEMENTED for a plugin that cannot tell."""
        request = plan_preview_messages.GetPlanPreviewRequest(
            piped_id="agent",
            application_id=self.application_id,
            application_name=self.application_name,
            target_deployment_source=self._source(),
            deploy_targets=[each.name for each in self._settings.targets],
        )
        answer = await self._previews.GetPlanPreview(request)
        return tuple(
            Preview(
                deploy_target=each.deploy_target,
                summary=each.summary,
                changes=not each.no_change,
                details=each.details.decode(),
                language=each.diff_language,
            )
            for each in answer.results
        )

    def _deployment(self, stage: Stage) -> Deployment:
        commit = Commit(hash=self.commit, message="", author="", branch="main", created_at=_AT)
        return Deployment(
            id="deployment",
            application_id=self.application_id,
            application_name=self.application_name,
            agent_id="agent",
            project_id="project",
            git_path=GitPath(repository=Repository(id="repository"), path=".", config_filename="app.pipecd.yaml"),
            trigger=Trigger(commit=commit, commander="", at=_AT, sync_strategy=self.strategy),
            deploy_targets_by_plugin={self._settings.name: self.deploy_targets},
            stages=self.stages or (stage,),
            metadata=self.metadata,
            platform_provider=self.platform_provider,
            created_at=_AT,
            updated_at=_AT,
        )

    def _running_source(self) -> common.DeploymentSource | None:
        return None if self.running is None else self._source(self.running, self.running_commit)

    def _source(self, folder: Path | None = None, commit: str = "") -> common.DeploymentSource:
        folder = folder or self.folder
        file = folder / "app.pipecd.yaml"
        return common.DeploymentSource(
            application_directory=str(folder),
            commit_hash=commit or self.commit,
            application_config=file.read_bytes() if file.exists() else b"",
            application_config_filename=file.name,
            shared_config_directory=str(folder / ".pipe"),
        )


@asynccontextmanager
async def plugin_under_test(
    kind: type[Plugin],
    folder: Path,
    *,
    config: Mapping[str, Any] | None = None,
    targets: tuple[DeployTarget, ...] = (),
) -> AsyncIterator[PluginUnderTest]:
    """The plugin, served while the block lasts, with its files below the folder."""
    application = folder / "application"
    await asyncio.to_thread(application.mkdir, exist_ok=True)
    settings = PluginSettings(name=kind.name, config=config or {}, targets=targets, state=folder / "state")
    agent, server = AgentDouble(), aio.server(options=SERVER_OPTIONS)
    register_host_service(agent, server)
    register_secret_service(agent, server)
    register_live_state_hint_service(agent, server)
    register_application_service(agent, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    host = Host(address=f"127.0.0.1:{port}", stops_stages=True)
    try:
        async with (
            serving([Served(kind(settings), "127.0.0.1:0")], host) as (served,),
            aio.insecure_channel(f"127.0.0.1:{served}", options=CHANNEL_OPTIONS) as channel,
        ):
            yield PluginUnderTest(agent, channel, application, settings)
    finally:
        await server.stop(None)
