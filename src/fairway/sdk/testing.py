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

import msgspec
from grpc import aio

from fairway.config.agent_file import DeployTarget
from fairway.model.application import GitPath, Repository, SyncState
from fairway.model.deployment import Deployment
from fairway.model.live_state import Resource
from fairway.model.stage import Stage, StageStatus
from fairway.model.trigger import Commit, SyncStrategy, Trigger
from fairway.rpc.channel import CHANNEL_OPTIONS, SERVER_OPTIONS
from fairway.rpc.convert.application import from_wire_sync_state
from fairway.rpc.convert.deployment import to_wire_deployment
from fairway.rpc.convert.live_state import from_wire_plugin_live_state
from fairway.rpc.convert.stage import STAGE_STATUSES, from_wire_stage, to_wire_stage
from fairway.rpc.plugin_api import (
    NOTES_METADATA,
    OVERDUE_KEY,
    STAYS_KEY,
    UNDER_WAY_KEY,
    DeploymentStub,
    LiveStateStub,
    PlanPreviewStub,
    StageStub,
    live_state_messages,
    plan_preview_messages,
    register_application_service,
    register_host_service,
    register_live_state_hint_service,
    register_secret_service,
)
from fairway.rpc.plugin_api import common_messages as common
from fairway.rpc.plugin_api import deployment_messages as m
from fairway.rpc.plugin_api import stage_messages as s
from fairway.sdk.agent_double import AgentDouble
from fairway.sdk.plugin import Plugin, PluginSettings, Preview
from fairway.sdk.serve import Host, Served, serving

_AT = datetime(2026, 1, 1, tzinfo=UTC)


class Ended(msgspec.Struct, frozen=True):
    """How a stage ended, and what it logged."""

    status: StageStatus
    message: str
    log: tuple[str, ...]


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
        commit = Commit(hash=self.commit, message="change", author="ada", branch="main", created_at=_AT)
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
