"""A plugin's side of the wire: PipeCD's DeploymentService and our StageService, answered by a `Plugin`.

Options are checked when the deployment is planned, so that a mistake in them ends it before anything has been done.
"""

import asyncio
import reprlib
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import grpc
import msgspec
import structlog

from fairway.clock import Clock
from fairway.config.problems import Severity, path_text
from fairway.config.reader.document import read_documents
from fairway.config.reader.rules import read_settings
from fairway.config.stages import StageOptions
from fairway.config.terms import ACCEPTED
from fairway.errors import FairwayError, UserError
from fairway.model.limits import SENT_TEXT, cut
from fairway.model.stage import Stage, StageStatus
from fairway.rpc.context import CallContext
from fairway.rpc.convert.deployment import from_wire_deployment
from fairway.rpc.convert.stage import STAGE_STATUSES, from_wire_stage, to_wire_stage
from fairway.rpc.convert.trigger import SYNC_STRATEGIES, to_wire_versions
from fairway.rpc.details import clipped
from fairway.rpc.plugin_api import (
    NOTES_METADATA,
    OVERDUE_KEY,
    DeploymentServicer,
    StageServicer,
    common_messages,
    stage_messages,
)
from fairway.rpc.plugin_api import deployment_messages as m
from fairway.sdk.agent_client import AgentClient
from fairway.sdk.defect import in_a_line, traceback_of
from fairway.sdk.plugin import EndOfLog, LeftStage, PlannedStage, Plugin, Sort, StageSpec
from fairway.sdk.stage_log import StageLog
from fairway.sdk.stage_run import Files, Outcome, StageRun, Told

_log = structlog.get_logger()

#: How many bytes of notes go with an answer: gRPC takes 8 KiB of such things, all in all.
_MOST_TRAILING = 4096


class UnknownStageName(UserError):
    """A stage that this plugin does not have."""


class BadOptions(UserError):
    """Options that a stage cannot use."""


class WrongReturn(UserError):
    """A stage that returned what is no end of one."""


class PluginService(DeploymentServicer, StageServicer):
    """Answers an agent for one plugin."""

    def __init__(self, plugin: Plugin, agent: AgentClient, clock: Clock, ends_with_call: bool) -> None:
        self._plugin = plugin
        self._agent = agent
        self._clock = clock
        #: For agents that cannot say Stop: a call that breaks off ends the stage.
        self._ends_with_call = ends_with_call
        self._running: dict[tuple[str, str], _Running] = {}

    async def FetchDefinedStages(
        self, _request: m.FetchDefinedStagesRequest, _context: CallContext
    ) -> m.FetchDefinedStagesResponse:
        return m.FetchDefinedStagesResponse(stages=self._plugin.stages)

    async def DetermineVersions(
        self, request: m.DetermineVersionsRequest, _context: CallContext
    ) -> m.DetermineVersionsResponse:
        versions = await self._plugin.versions(files_from_wire(request.input.target_deployment_source))
        return m.DetermineVersionsResponse(versions=to_wire_versions(versions))

    async def DetermineStrategy(
        self, request: m.DetermineStrategyRequest, _context: CallContext
    ) -> m.DetermineStrategyResponse:
        target, running = _both(request.input)
        answer = await self._plugin.strategy(target, running)
        if answer is None:
            return m.DetermineStrategyResponse(unsupported=True)
        strategy = SYNC_STRATEGIES.to_wire(answer.strategy)
        return m.DetermineStrategyResponse(sync_strategy=strategy, summary=cut(answer.summary, SENT_TEXT))

    async def BuildPipelineSyncStages(
        self, request: m.BuildPipelineSyncStagesRequest, context: CallContext
    ) -> m.BuildPipelineSyncStagesResponse:
        try:
            stages = [stage for wanted in request.stages for stage in self._planned(wanted, request.rollback)]
        except UserError as error:
            _log.error("a pipeline cannot be planned", plugin=self._plugin.name, reason=str(error))
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, clipped(str(error)))
        first = min((wanted.index for wanted in request.stages), default=0)
        whole = [self._stage(spec, first, PlannedStage()) for spec in self._of_sort(Sort.ROLLBACK)]
        return m.BuildPipelineSyncStagesResponse(
            stages=map(to_wire_stage, [*stages, *(whole if request.rollback else [])])
        )

    async def BuildQuickSyncStages(
        self, request: m.BuildQuickSyncStagesRequest, _context: CallContext
    ) -> m.BuildQuickSyncStagesResponse:
        specs = [spec for spec in self._plugin.stages.values() if spec.quick_sync]
        if specs and request.rollback:
            specs += self._of_sort(Sort.ROLLBACK)
        stages = [self._stage(spec, 0, PlannedStage()) for spec in specs]
        return m.BuildQuickSyncStagesResponse(stages=map(to_wire_stage, stages))

    async def ExecuteStage(self, request: m.ExecuteStageRequest, context: CallContext) -> m.ExecuteStageResponse:
        told = self._told(request.input, context)
        key = (told.deployment.id, told.stage.id)
        running = self._running[key] = _Running()
        try:
            outcome = await self._run(told, running)
        finally:
            running.ended.set()
            if self._running.get(key) is running:
                del self._running[key]
        context.set_trailing_metadata(_trailing(outcome.notes))
        message = cut(outcome.message, SENT_TEXT)
        return m.ExecuteStageResponse(status=STAGE_STATUSES.to_wire(outcome.status), message=message)

    async def Stop(self, request: stage_messages.StopRequest, _context: CallContext) -> stage_messages.StopResponse:
        # Who calls this ends stages by it, so a call that breaks off means something else.
        self._ends_with_call = False
        running = self._running.get((request.deployment_id, request.stage_id))
        if running is None:
            if request.deployment_id:
                await self._end_left(request)
            return stage_messages.StopResponse(was_running=False)
        running.stop(request)
        # When it is handed over nobody takes the rest of its log, so that is not waited for.
        await (running.work_ended() if request.handed_over else running.ended.wait())
        return stage_messages.StopResponse(was_running=True)

    async def _end_left(self, request: stage_messages.StopRequest) -> None:
        if not request.HasField("left"):
            await self._plugin.end_left(_left(request))
            return
        agent = self._agent.stage(request.deployment_id, request.stage_id, "")
        log = StageLog(agent.send_log, self._clock)
        await self._plugin.end_left(_left(request, EndOfLog(from_wire_stage(request.left), log)))
        await log.close()

    async def _run(self, told: Told, running: "_Running") -> Outcome:
        agent = self._agent.stage(told.deployment.id, told.stage.id, told.deployment.application_id)
        log = StageLog(agent.send_log, self._clock)
        try:
            spec = self._spec(told.stage.name)
            options = _options(spec, told.config, told.stage.name)
            run: StageRun[Any] = StageRun(told, options, log, agent)
            try:
                returned = await running.finish(run, self._tried(run, spec), self._ends_with_call)
            finally:
                await run.waits_no_more()
            outcome = _outcome(returned, self._plugin.name, spec.name)
            if outcome.notes and (self._ends_with_call or not _trailing(outcome.notes)):
                await run.note(outcome.notes)
        except FairwayError as error:
            log.error(str(error))
            outcome = Outcome(StageStatus.FAILED, str(error))
        except Exception as error:
            _log.exception("internal error of a plugin in a stage", plugin=self._plugin.name, stage=told.stage.name)
            outcome = Outcome(StageStatus.FAILED, f"internal error of plugin {self._plugin.name}: {in_a_line(error)}")
            log.error(f"{outcome.message}\n{traceback_of(error)}")
        except asyncio.CancelledError:
            if self._ends_with_call:
                # The stage has ended with its call, and with it all that it had to say.
                await log.close()
            raise
        await log.close()
        return outcome

    async def _tried(self, run: StageRun[Any], spec: StageSpec) -> Any:
        """How the stage ended, tried again while its errors say that this may help."""
        work: Callable[[StageRun[Any]], Awaitable[Any]] = getattr(self._plugin, spec.method)
        retry = self._plugin.retry
        for failures in range(1, retry.attempts):
            try:
                return await work(run)
            except FairwayError as error:
                if not error.retry:
                    raise
                pause = retry.delay(failures)
                run.log.error(f"{error}; tried again in {pause:.1f} s, {retry.attempts - failures} more at most")
            await retry.sleep(pause)
        return await work(run)

    def _planned(self, wanted: m.BuildPipelineSyncStagesRequest.StageConfig, rollback: bool) -> list[Stage]:
        spec = self._spec(wanted.name)
        where = f"stage {wanted.index + 1} ({wanted.name})"
        options = _options(spec, wanted.config, where)
        planned = self._plugin.plan(spec, options)
        desc = wanted.desc or options.desc
        stages = [self._stage(spec, wanted.index, planned, desc)]
        undoing = [each for each in self._of_sort(Sort.UNDO) if each.undoes == spec.name]
        for each in undoing if rollback else []:
            undone = self._plugin.plan(each, options)
            if undone.wanted:
                stages.append(self._stage(each, wanted.index, undone, desc))
        return stages

    def _stage(self, spec: StageSpec, index: int, planned: PlannedStage, desc: str = "") -> Stage:
        now = self._clock.now()
        return Stage(
            id="",
            name=spec.name,
            desc=desc,
            index=index,
            rollback=spec.sort is not Sort.FORWARD,
            metadata=dict(planned.metadata),
            available_operation=planned.operation,
            authorized_operators=planned.operators,
            created_at=now,
            updated_at=now,
        )

    def _spec(self, name: str) -> StageSpec:
        spec = self._plugin.stages.get(name)
        if spec is None:
            known = ", ".join(self._plugin.stages)
            raise UnknownStageName(f"plugin {self._plugin.name} has no stage {name}; it has {known}")
        return spec

    def _of_sort(self, sort: Sort) -> list[StageSpec]:
        return [spec for spec in self._plugin.stages.values() if spec.sort is sort]

    def _told(self, wire: m.ExecutePluginInput, context: CallContext) -> Told:
        deployment = from_wire_deployment(wire.deployment)
        target, running = _both(wire)
        name = self._plugin.settings.name
        names = deployment.deploy_targets_by_plugin.get(name, ())
        return Told(
            deployment=deployment,
            stage=from_wire_stage(wire.stage),
            target=target,
            running=running,
            targets=tuple(target for target in self._plugin.settings.targets if target.name in names),
            lost=self._plugin.settings.lost(names),
            notes=deployment.plugin_metadata.get(name, {}),
            config=wire.stage_config,
            overdue=dict(context.invocation_metadata() or ()).get(OVERDUE_KEY) == "true",
        )


class _Running:
    """One stage that runs, and the way to end it."""

    def __init__(self) -> None:
        self.ended = asyncio.Event()
        self._run: StageRun[Any] | None = None
        self._task: asyncio.Task[Any] | None = None

    async def finish(self, run: StageRun[Any], work: Any, ends_with_call: bool) -> Any:
        """What the work returned, or the outcome of one that was ended."""
        self._run, self._task = run, asyncio.ensure_future(work)
        try:
            return await asyncio.shield(self._task)
        except asyncio.CancelledError:
            if not self._task.cancelled() and not self._task.done():
                # The call broke off. What that means to the stage depends on who called.
                run.stopped = run.stopped or ends_with_call
                self._task.cancel()
                await asyncio.wait({self._task})
                raise
            return Outcome(StageStatus.CANCELLED, run.stop_reason)

    def stop(self, request: stage_messages.StopRequest) -> None:
        """End it on purpose."""
        if self._run is not None and self._task is not None:
            self._run.stopped, self._run.stop_reason = True, request.reason
            self._run.stop_grace_seconds, self._run.handed_over = request.grace_seconds, request.handed_over
            self._task.cancel()

    async def work_ended(self) -> None:
        """Wait until nothing of the work is left."""
        if self._task is not None:
            await asyncio.wait({self._task})


def _outcome(returned: Any, plugin: str, stage: str) -> Outcome:
    """How a stage ended that returned this; WrongReturn when that cannot be told, since nothing else checks it."""
    if returned is None:
        return Outcome()
    said = f"{type(returned).__name__} {reprlib.repr(returned)}"
    if isinstance(returned, Outcome):
        try:
            return msgspec.convert(msgspec.to_builtins(returned), Outcome)
        except (msgspec.ValidationError, TypeError) as error:
            said = f"Outcome with what cannot be: {error}"
    raise WrongReturn(f"a defect of plugin {plugin}: its stage {stage} returned {said}; expected None or an Outcome")


def _left(request: stage_messages.StopRequest, end_of_log: EndOfLog | None = None) -> LeftStage:
    return LeftStage(
        deployment_id=request.deployment_id,
        stage_id=request.stage_id,
        reason=request.reason,
        grace_seconds=request.grace_seconds,
        handed_over=request.handed_over,
        end_of_log=end_of_log,
    )


def _options(spec: StageSpec, config: bytes, where: str) -> StageOptions:
    """The options of a stage; BadOptions with everything that is wrong with them.

    A stage that undoes another gets the options of that one, and passes over those that it does not know.
    """
    try:
        written = msgspec.json.decode(config or b"{}", type=dict[str, Any] | None) or {}
    except msgspec.DecodeError as error:
        raise BadOptions(f"{where}: the options are not a JSON object: {error}") from error
    if spec.sort is not Sort.FORWARD:
        # They are the options of the stage that is undone, and were checked for that stage. A rollback must run.
        known = {field.encode_name for field in msgspec.structs.fields(spec.options)}
        written = {key: value for key, value in written.items() if key in known}
    documents, _ = read_documents(msgspec.json.encode(written), where)
    if spec.sort is not Sort.FORWARD:
        documents[0].terms = ACCEPTED
    options, problems = read_settings(documents[0], documents[0].value, spec.options, ())
    wrong = [problem for problem in problems if problem.severity is Severity.ERROR]
    if wrong:
        raise BadOptions("; ".join(f"{where}: {path_text(each.path)} {each.message}" for each in wrong))
    return options


def _trailing(notes: Mapping[str, str]) -> tuple[tuple[str, bytes], ...]:
    """Notes that go with the answer, which costs no call of their own; many and long ones do not."""
    encoded = msgspec.json.encode(notes)
    return ((NOTES_METADATA, encoded),) if notes and len(encoded) <= _MOST_TRAILING else ()


def _both(wire: m.PlanPluginInput | m.ExecutePluginInput) -> tuple[Files, Files | None]:
    running = wire.HasField("running_deployment_source")
    return files_from_wire(wire.target_deployment_source), files_from_wire(
        wire.running_deployment_source
    ) if running else None


def files_from_wire(wire: common_messages.DeploymentSource) -> Files:
    """The files of an application, as an agent says where they are."""
    return Files(
        application_directory=Path(wire.application_directory),
        commit=wire.commit_hash,
        config_text=wire.application_config,
        config_filename=wire.application_config_filename,
        shared_directory=Path(wire.shared_config_directory),
    )
