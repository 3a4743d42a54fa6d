"""One plugin, as the agent talks to it: planning questions, and stages to run.

What PipeCD's services do not say about errors is settled here: a plugin that cannot be reached is worth asking again
(`PluginGone`), one that answers with an error is not (`PluginRefused`). What a plugin does not implement it has no
opinion on.
"""

import enum
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import grpc
import msgspec
from google.protobuf.message import Message
from grpc import aio

from fairway.agent.plugins.condition import Condition
from fairway.agent.plugins.live_answer import LiveAnswer
from fairway.agent.plugins.preview_answer import PreviewAnswer
from fairway.agent.plugins.stage_names import MOST_STAGES
from fairway.agent.workspace import Source
from fairway.config.application import StageConfig
from fairway.delivery.strategy import PluginAnswer
from fairway.delivery.targets import targets_for
from fairway.errors import TemporaryError, UserError
from fairway.model.application import Application
from fairway.model.artifact import ArtifactVersion
from fairway.model.deployment import Deployment
from fairway.model.stage import Stage, StageStatus
from fairway.model.trigger import SyncStrategy
from fairway.rpc.convert.application import from_wire_sync_state
from fairway.rpc.convert.deployment import to_wire_deployment
from fairway.rpc.convert.live_state import from_wire_plugin_live_state
from fairway.rpc.convert.stage import STAGE_STATUSES, from_wire_stage, to_wire_stage
from fairway.rpc.convert.trigger import SYNC_STRATEGIES, from_wire_versions
from fairway.rpc.convert.wire_enum import WireError
from fairway.rpc.plugin_api import (
    NOTES_METADATA,
    OVERDUE_KEY,
    STAYS_KEY,
    UNDER_WAY_KEY,
    WATCHED_KEY,
    DeploymentStub,
    LiveStateStub,
    PlanPreviewStub,
    StageStub,
    common_messages,
    live_state_messages,
    plan_preview_messages,
    stage_messages,
)
from fairway.rpc.plugin_api import deployment_messages as m

T = TypeVar("T")

#: How long a planning question may take; a plugin may have to render or to ask a cloud.
ANSWER_SECONDS = 120.0
#: How long a plugin may take to end what a stage has started.
STOP_SECONDS = 60.0
#: CANCELLED is said by a line that was hung up on this side.
_SILENT = {grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED}


class PluginGone(TemporaryError):
    """The plugin's process does not answer."""


class PluginRefused(UserError):
    """The plugin answered with an error."""


class Sources(msgspec.Struct, frozen=True):
    """The files of a deployment: as they are to be, and as they run."""

    target: Source
    #: None on a first deployment.
    running: Source | None


class StageWork(msgspec.Struct, frozen=True, kw_only=True):
    """A stage to run."""

    deployment: Deployment
    stage: Stage
    #: The stage's `with` as JSON, secrets opened; empty for a quick sync.
    config: bytes
    sources: Sources
    #: Whether its time is over, so that it is only to tell how it ended.
    overdue: bool = False


class StageResult(msgspec.Struct, frozen=True):
    """How a stage ended."""

    status: StageStatus
    #: In words; may be empty.
    message: str
    #: What is kept with the stage.
    notes: Mapping[str, str] = {}


class StopAnswer(enum.Enum):
    """What a plugin says that was asked to end a stage."""

    #: It ran, and nothing is left of it.
    ENDED = "ended"
    #: The plugin has no such stage: it has ended, or the plugin has not heard of it yet.
    NOT_RUNNING = "not running"
    #: The plugin does not know how to.
    UNABLE = "unable"


class PluginClient:
    """The services of one plugin."""

    def __init__(self, name: str, channel: aio.Channel, resumes: bool = False, targets: tuple[str, ...] = ()) -> None:
        self.name = name
        self.condition = Condition()
        #: The deploy targets that it has.
        self.targets = targets
        #: Whether a stage that is given to it again goes on where it was, instead of being done twice.
        self.resumes = resumes
        self._deployments = DeploymentStub(channel)
        self._stages = StageStub(channel)
        self._live_states = LiveStateStub(channel)
        self._previews = PlanPreviewStub(channel)

    async def defined_stages(self, seconds: float = ANSWER_SECONDS) -> tuple[str, ...]:
        """The names of the stages that the plugin serves."""
        answer = await self._ask("FetchDefinedStages", m.FetchDefinedStagesRequest(), seconds)
        return tuple(answer.stages)

    async def versions(self, deployment: Deployment, sources: Sources) -> tuple[ArtifactVersion, ...]:
        """What the commit would bring; nothing where the plugin does not know."""
        request = m.DetermineVersionsRequest(input=self._plan_input(deployment, sources))
        try:
            answer = await self._ask("DetermineVersions", request)
            return self._read("DetermineVersions", lambda: from_wire_versions(answer.versions))
        except PluginRefused:
            # The version is for people to read; a deployment does not fail for want of it.
            return ()

    async def strategy(self, deployment: Deployment, sources: Sources) -> PluginAnswer:
        """Whether the change deserves the pipeline."""
        request = m.DetermineStrategyRequest(input=self._plan_input(deployment, sources))
        try:
            answer = await self._ask("DetermineStrategy", request)
            strategy = self._read("DetermineStrategy", lambda: _strategy(answer))
        except PluginRefused as error:
            return PluginAnswer(plugin=self.name, error=str(error))
        return PluginAnswer(plugin=self.name, strategy=strategy, summary=answer.summary)

    async def pipeline_stages(self, stages: Sequence[StageConfig]) -> tuple[Stage, ...]:
        """The plugin's part of the pipeline, and how it would be undone."""
        wanted = [
            m.BuildPipelineSyncStagesRequest.StageConfig(
                name=stage.name, desc=stage.desc, index=stage.index, config=msgspec.json.encode(stage.written)
            )
            for stage in stages
        ]
        request = m.BuildPipelineSyncStagesRequest(rollback=True, stages=wanted)
        answer = await self._ask("BuildPipelineSyncStages", request)
        return self._planned("BuildPipelineSyncStages", answer.stages)

    async def quick_sync_stages(self) -> tuple[Stage, ...]:
        """The plugin's stages when no pipeline is used, and how they would be undone."""
        answer = await self._ask("BuildQuickSyncStages", m.BuildQuickSyncStagesRequest(rollback=True))
        return self._planned("BuildQuickSyncStages", answer.stages)

    def _planned(self, method: str, stages: Sequence[Any]) -> tuple[Stage, ...]:
        if len(stages) > MOST_STAGES:
            raise PluginRefused(f"plugin {self.name} answered {method} with more than {MOST_STAGES:,} stages")
        return self._read(method, lambda: tuple(map(from_wire_stage, stages)))

    async def live_state(
        self, application: Application, agent_id: str, source: Source, *, under_way: bool
    ) -> LiveAnswer | None:
        """What runs of an application, compared with these files; None where the plugin cannot tell.

        A plugin may want to know whether a deployment is `under_way`: what that makes for a while is no drift.
        """
        request = live_state_messages.GetLivestateRequest(
            piped_id=agent_id,
            application_id=application.id,
            application_name=application.name,
            deploy_source=_wire_source(source),
            deploy_targets=targets_for(self.name, application, self.targets),
        )
        try:
            metadata = ((UNDER_WAY_KEY, "true" if under_way else "false"),)
            call = self._live_states.GetLivestate(request, metadata=metadata, timeout=ANSWER_SECONDS)
            answer = await call
            trailing = dict(await call.trailing_metadata() or ())
        except aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.UNIMPLEMENTED:
                return None
            raise self._in_our_words("GetLivestate", error) from error
        except aio.UsageError as error:
            raise self._closed("GetLivestate") from error
        return self._read(
            "GetLivestate",
            lambda: LiveAnswer(
                from_wire_plugin_live_state(self._whole("GetLivestate", answer).application_live_state),
                from_wire_sync_state(answer.sync_state),
                watched=trailing.get(WATCHED_KEY) == "true",
                mendable=trailing.get(STAYS_KEY) != "true",
            ),
        )

    async def plan_preview(self, deployment: Deployment, sources: Sources) -> tuple[PreviewAnswer, ...] | None:
        """What a deployment would change in each deploy target; None where the plugin cannot tell."""
        request = plan_preview_messages.GetPlanPreviewRequest(
            application_id=deployment.application_id,
            application_name=deployment.application_name,
            piped_id=deployment.agent_id,
            deploy_targets=targets_for(self.name, deployment, self.targets),
            target_deployment_source=_wire_source(sources.target),
            running_deployment_source=_wire_source(sources.running),
        )
        try:
            answer = await self._previews.GetPlanPreview(request, timeout=ANSWER_SECONDS)
        except aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.UNIMPLEMENTED:
                return None
            raise self._in_our_words("GetPlanPreview", error) from error
        except aio.UsageError as error:
            raise self._closed("GetPlanPreview") from error
        return tuple(
            PreviewAnswer(
                deploy_target=each.deploy_target,
                changes=not each.no_change,
                summary=each.summary,
                details=each.details.decode("utf-8", "replace"),
                language=each.diff_language,
            )
            for each in self._whole("GetPlanPreview", answer).results
        )

    async def execute(self, work: StageWork) -> StageResult:
        """Run a stage to its end. Cancelling this lets go of the stage, it does not end it: see `stop`."""
        request = m.ExecuteStageRequest(
            input=m.ExecutePluginInput(
                deployment=to_wire_deployment(self._placed(work.deployment)),
                stage=to_wire_stage(work.stage),
                stage_config=work.config,
                running_deployment_source=_wire_source(work.sources.running),
                target_deployment_source=_wire_source(work.sources.target),
            )
        )
        answer, notes = await self._executed(request, ((OVERDUE_KEY, "true"),) if work.overdue else ())
        status = self._read("ExecuteStage", lambda: STAGE_STATUSES.from_wire(answer.status))
        if not status.is_terminal:
            raise PluginRefused(f"plugin {self.name} ended {work.stage.name} as {status.value}, which is no end")
        unsaid = f"plugin {self.name} gave no reason; the log of the stage may" if status is StageStatus.FAILED else ""
        return StageResult(status, answer.message or unsaid, notes)

    async def _executed(
        self, request: m.ExecuteStageRequest, metadata: tuple[tuple[str, str], ...]
    ) -> tuple[m.ExecuteStageResponse, dict[str, str]]:
        call = self._called("ExecuteStage", request, metadata=metadata)
        answer = await self._answered("ExecuteStage", call)
        trailing = dict(await call.trailing_metadata() or ())
        with suppress(msgspec.MsgspecError):
            return answer, msgspec.json.decode(trailing.get(NOTES_METADATA, b"{}"), type=dict[str, str])
        return answer, {}

    async def stop(self, deployment_id: str, stage: Stage, reason: str, *, left: bool) -> StopAnswer:
        """End a stage and all that it started; one that was `left` by an agent that is gone has its log ended too."""
        return await self._stop(
            stage_messages.StopRequest(
                deployment_id=deployment_id,
                stage_id=stage.id,
                reason=reason,
                left=to_wire_stage(stage) if left else None,
            )
        )

    async def hand_over(self, deployment_id: str, stage_id: str, grace_seconds: float) -> bool:
        """The same for a stage that somebody else goes on with; what it started is made to end after that time."""
        answer = await self._stop(
            stage_messages.StopRequest(
                deployment_id=deployment_id,
                stage_id=stage_id,
                reason="Another agent is at work",
                grace_seconds=grace_seconds,
                handed_over=True,
            )
        )
        return answer is not StopAnswer.UNABLE

    async def _stop(self, request: stage_messages.StopRequest) -> StopAnswer:
        try:
            answer = self._whole("Stop", await self._stages.Stop(request, timeout=STOP_SECONDS))
        except aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.UNIMPLEMENTED:
                return StopAnswer.UNABLE
            raise self._in_our_words("Stop", error) from error
        except aio.UsageError as error:
            raise self._closed("Stop") from error
        return StopAnswer.ENDED if answer.was_running else StopAnswer.NOT_RUNNING

    async def can_stop(self, seconds: float) -> bool:
        """Whether the plugin tells an agent that went away from a cancelled deployment: such a plugin resumes."""
        try:
            await self._stages.Stop(stage_messages.StopRequest(), timeout=seconds)
        except aio.AioRpcError as error:
            if error.code() is grpc.StatusCode.UNIMPLEMENTED:
                return False
            raise self._in_our_words("Stop", error) from error
        return True

    async def _ask(self, method: str, request: Message, seconds: float = ANSWER_SECONDS) -> Any:
        return await self._answered(method, self._called(method, request, seconds))

    def _called(
        self,
        method: str,
        request: Message,
        seconds: float | None = None,
        metadata: tuple[tuple[str, str], ...] = (),
    ) -> aio.UnaryUnaryCall[Any, Any]:
        send = getattr(self._deployments, method)
        try:
            call: aio.UnaryUnaryCall[Any, Any] = send(request, timeout=seconds, metadata=metadata)
        except aio.UsageError as error:
            raise self._closed(method) from error
        return call

    async def _answered(self, method: str, call: Awaitable[Any]) -> Any:
        try:
            return self._whole(method, await call)
        except aio.AioRpcError as error:
            raise self._in_our_words(method, error) from error
        except aio.UsageError as error:
            raise self._closed(method) from error

    def _whole(self, method: str, answer: Any) -> Any:
        # An answer whose bytes are no message of that sort comes from grpc as none at all.
        if answer is None:
            raise PluginRefused(f"plugin {self.name} answered {method} with something that is no answer to it")
        return answer

    def _read(self, method: str, read: Callable[[], T]) -> T:
        try:
            return read()
        except WireError as error:
            raise PluginRefused(f"plugin {self.name} answered {method} with what cannot be: {error}") from error

    def _plan_input(self, deployment: Deployment, sources: Sources) -> m.PlanPluginInput:
        return m.PlanPluginInput(
            deployment=to_wire_deployment(self._placed(deployment)),
            running_deployment_source=_wire_source(sources.running),
            target_deployment_source=_wire_source(sources.target),
        )

    def _placed(self, deployment: Deployment) -> Deployment:
        """The deployment as plugins know it: one of v0 has deploy targets too, and one that names none the only one."""
        targets = targets_for(self.name, deployment, self.targets)
        if not targets:
            return deployment
        by_plugin = {**deployment.deploy_targets_by_plugin, self.name: targets}
        return msgspec.structs.replace(deployment, deploy_targets_by_plugin=by_plugin)

    def _closed(self, method: str) -> PluginGone:
        """The line was hung up because the plugin is being started again; the next one is another client's."""
        return PluginGone(f"plugin {self.name} ended before it could be asked for {method}")

    def _in_our_words(self, method: str, error: aio.AioRpcError) -> PluginGone | PluginRefused:
        said = error.details() or error.code().name
        if error.code() is grpc.StatusCode.UNAVAILABLE:
            # Said by a plugin that answers that it cannot for now, and by a connection that failed.
            return PluginGone(f"plugin {self.name} failed {method}: {said}")
        if error.code() in _SILENT:
            return PluginGone(f"plugin {self.name} did not answer {method}: {said}")
        return PluginRefused(f"plugin {self.name} refused {method} ({error.code().name}): {said}")


def _strategy(answer: m.DetermineStrategyResponse) -> SyncStrategy:
    return SyncStrategy.AUTO if answer.unsupported else SYNC_STRATEGIES.from_wire(answer.sync_strategy)


def _wire_source(source: Source | None) -> common_messages.DeploymentSource | None:
    if source is None:
        return None
    return common_messages.DeploymentSource(
        application_directory=str(source.application_directory),
        commit_hash=source.commit,
        application_config=source.config_text,
        application_config_filename=source.config_filename,
        shared_config_directory=str(source.shared_directory),
    )
