"""Runs one deployment: asks `delivery.stages` what to do next, does it, tells the server, and asks again.

The deployment in memory is the truth while the server is away; changes of it that come in one moment go to the outbox
together, before anything is done about them, so that a restarted agent finds them again. A stage runs in a task of its
own; what happens meanwhile (a cancel, a timeout) wakes the loop, which ends the stage and waits until nothing of it is
left before anything is undone.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

import msgspec

from fairway.agent import reports
from fairway.agent.control_plane import ServerRefused
from fairway.agent.other_agent import QUIET, as_reported, place_of, report_wait, start_notes, started_key
from fairway.agent.passing import PassingTime
from fairway.agent.planning import plugin_of_stage, serving_for
from fairway.agent.plugins.client import PluginClient, PluginGone, PluginRefused, StageResult, StageWork
from fairway.agent.plugins.repeating import Asking, execute_at_last, may_repeat, reconnected
from fairway.agent.plugins.stopping import GivenUp, stopped, with_last_words
from fairway.agent.run_context import Cancelling, Running
from fairway.agent.stage_logs import add_line, end_log
from fairway.agent.stage_options import options_of, undo_of
from fairway.delivery.another_agent import script_of_another_agent
from fairway.delivery.owner import decide_owner
from fairway.delivery.stages import NextAction, NextDecision, NextFacts, decide_next, next_deadline
from fairway.model import notes
from fairway.model.deployment import STARTED_AT, Deployment, UnknownStage
from fairway.model.limits import TooLarge
from fairway.model.stage import WAITS_FOR, Stage, StageStatus
from fairway.secrets.secret import SecretError


class PlanRefused(ServerRefused):
    """The server will not have the plan of a deployment, and so knows of none."""


class DeploymentRun:
    """One deployment while it runs. It belongs to one event loop."""

    def __init__(self, deployment: Deployment, running: Running, planned: reports.Report | None = None) -> None:
        self.deployment = deployment
        #: What has changed and is still to be told; its plan first, where that is new.
        self._unsaid = [] if planned is None else [_Unsaid(planned, planned=True)]
        #: Whether what plugins said when it was planned was said here, and holds here.
        self._planned_here = planned is not None
        self._running = running
        self._cancelling: Cancelling | None = None
        self._woken = asyncio.Event()
        self._executing: _Execution | None = None
        #: The stage that is being ended before its time.
        self._giving_up = ""
        self._time = PassingTime(running.clock, running.steady)
        #: When it began to run, and its stages, where that was here: by the time that passes.
        self._began: datetime | None = None
        self._stages_began: dict[str, datetime] = {}

    def cancel(self, cancelling: Cancelling) -> None:
        """Give the deployment up; a later wish replaces an earlier one."""
        self._cancelling = cancelling
        self._woken.set()

    async def note_stage(self, stage_id: str, metadata: Mapping[str, str]) -> None:
        """Keep notes of a plugin with a stage, texts for people without secrets; TooLarge when they exceed a limit."""
        masked = self._running.opened.masked
        shown = {key: masked(value) if notes.is_shown(key) else value for key, value in metadata.items()}
        await self._deliver(self._noted_in_limits(stage_id, notes.checked_notes(shown)))

    def _noted_in_limits(self, stage_id: str, metadata: Mapping[str, str]) -> reports.Report:
        notes.refuse_too_many_notes(notes.with_stage_notes(self.deployment, self._stage(stage_id), metadata))
        return self._noted(stage_id, metadata)

    def _noted(self, stage_id: str, metadata: Mapping[str, str]) -> reports.Report:
        self.deployment = notes.with_stage_notes(self.deployment, self._stage(stage_id), metadata)
        return reports.stage_noted(self.deployment.id, stage_id, metadata)

    async def note_plugin(self, plugin: str, metadata: Mapping[str, str]) -> None:
        """Keep notes of a plugin with the deployment; TooLarge when they exceed a limit."""
        notes.refuse_too_many_notes(notes.with_plugin_notes(self.deployment, plugin, notes.checked_notes(metadata)))
        await self._deliver(self._noted_by_plugin(plugin, metadata))

    def _noted_by_plugin(self, plugin: str, metadata: Mapping[str, str]) -> reports.Report:
        self.deployment = notes.with_plugin_notes(self.deployment, plugin, metadata)
        return reports.plugin_noted(self.deployment.id, plugin, metadata)

    @property
    def plugins_of_stages(self) -> Mapping[str, str]:
        """Stage id → the plugin that serves it; empty where that cannot be told."""
        return {each.id: self._owner(each) for each in self.deployment.stages}

    async def run(self) -> Deployment:
        """The deployment as it ended. Cancelling this leaves it for the next agent to go on with."""
        try:
            while True:
                decision = decide_next(self._facts(), self._time.now())
                if decision.action is not NextAction.STOP:
                    await self._act(decision)
                elif await self._end(decision):
                    return self.deployment
        finally:
            if self._executing is not None:
                self._executing.task.cancel()

    async def _act(self, decision: NextDecision) -> None:
        if decision.action is NextAction.WAIT_FOR_OTHER_AGENT:
            await self._wait_for_other_agent(decision)
            return
        self._note_wait("")
        if decision.action is NextAction.START:
            self._begin(decision)
        elif decision.action is NextAction.ROLL_BACK:
            self._advance(decision)
        elif decision.action is NextAction.SKIP:
            await self._report_stage(decision.stage_id, StageStatus.SKIPPED, decision.reason)
        elif decision.action is NextAction.RUN:
            await self._start_stage(decision)
        elif decision.action is NextAction.INTERRUPT:
            await self._interrupt(decision)
        else:
            await self._wait()

    def _facts(self) -> NextFacts:
        deployment, cancelling = self.deployment, self._cancelling
        running = next((stage for stage in deployment.stages if stage.status is StageStatus.RUNNING), None)
        return NextFacts(
            deployment=deployment,
            config=self._running.config,
            executing=self._executing_id,
            other_agents_script=script_of_another_agent(deployment, self._executing_id),
            started_at=self._began or self._noted_start(),
            stage_started_at=None if running is None else self._stage_began(running),
            stage_found_at=None if running is None or running.id in self._stages_began else self._time.taken_up,
            cancel=None if cancelling is None else cancelling.command,
            commander="" if cancelling is None else cancelling.commander,
            changed_files=self._running.changed_files,
        )

    @property
    def _executing_id(self) -> str:
        return "" if self._executing is None else self._executing.stage.id

    def _noted_start(self) -> datetime | None:
        noted = self.deployment.shared_metadata.get(STARTED_AT)
        return self._time.from_before(datetime.fromisoformat(noted)) if noted else None

    def _stage_began(self, stage: Stage) -> datetime:
        return self._stages_began.get(stage.id) or self._time.from_before(stage.updated_at)

    def _begin(self, decision: NextDecision) -> None:
        self._began = self._time.now()
        self._note_for_all({STARTED_AT: self._running.clock.now().isoformat()})
        self._advance(decision)

    def _note_for_all(self, notes: Mapping[str, str]) -> None:
        noted = {**self.deployment.shared_metadata, **notes}
        self.deployment = msgspec.structs.replace(self.deployment, shared_metadata=noted)
        self._say(reports.shared_noted(self.deployment.id, notes))

    def _advance(self, decision: NextDecision) -> None:
        if decision.deployment_status is not None:
            now = self._running.clock.now()
            self.deployment = self.deployment.advance(decision.deployment_status, decision.reason, now)
            self._say(reports.status_changed(self.deployment))

    async def _start_stage(self, decision: NextDecision) -> None:
        again = self._stage(decision.stage_id).status is StageStatus.RUNNING
        if not again:
            self._stages_began[decision.stage_id] = self._time.now()
            self._note_start(self._stage(decision.stage_id))
        await self._report_stage(decision.stage_id, StageStatus.RUNNING, decision.reason)
        if not await self._told():
            return
        stage = self._stage(decision.stage_id)
        execute = self._execute(stage, again, decision.overdue)
        task = asyncio.create_task(execute, name=f"stage {stage.name} of {self.deployment.id}")
        self._executing = _Execution(stage, task)

    def _note_start(self, stage: Stage) -> None:
        """Note that this agent starts the stage: with the place of its plugin, where the plan names it."""
        plugin = self._owner(stage)
        place = place_of(stage, self.deployment.plugin_metadata.get(plugin, {}), self._planned_here)
        if place:
            self._say(self._noted_by_plugin(plugin, {started_key(stage): place}))
        elif notes := start_notes(stage):
            self._say(self._noted(stage.id, notes))

    async def _execute(self, stage: Stage, again: bool, overdue: bool) -> StageResult:
        try:
            client = await self._client(stage)
            config = self._running.config
            if undo_of(stage, self.deployment, config) is not None:
                # By which a plugin of scripts knows, whoever made it, that there is something to undo. No limit on
                # notes of plugins holds for it, because the rollback must run.
                await self._deliver(self._noted_by_plugin(client.name, {started_key(stage): "_"}))
            sources = self._running.sources
            options = await options_of(stage, self.deployment, config, sources.target.values, lists=client.resumes)
            work = StageWork(deployment=self.deployment, stage=stage, config=options, sources=sources, overdue=overdue)
            if again and not may_repeat(client, stage):
                raise PluginGone(f"the agent was restarted, and plugin {client.name} cannot go on with a stage")
            asking = Asking(
                back=lambda: self._back(client.name, stage),
                given_up=lambda: self._giving_up == stage.id,
                steady=self._running.steady,
                say=partial(self._log_line, stage),
            )
            return self._masked(await execute_at_last(client, work, asking))
        except (PluginRefused, SecretError) as error:
            failure = str(error)
        except PluginGone as error:
            # Whether its work was done is not known, and doing it again may do harm; the rollback undoes either.
            failure = f"{error}; how far it had come is not known"
        failed = self._masked(StageResult(StageStatus.FAILED, failure))
        await self._end_log(stage, failed.message)
        return failed

    def _masked(self, result: StageResult) -> StageResult:
        """A result of which everybody is told, without secrets."""
        masked = self._running.opened.masked
        shown = {key: masked(value) for key, value in result.notes.items()}
        return StageResult(result.status, masked(result.message), shown)

    async def _end_log(self, stage: Stage, reason: str) -> None:
        """End the log of a stage in the place of its plugin, which does not."""
        await end_log(self._running.outbox, self._log_place(stage), reason, self._running.clock.now())

    async def _log_line(self, stage: Stage, line: str) -> None:
        running = self._running
        await add_line(running.outbox, self._log_place(stage), running.opened.masked(line), running.clock.now())

    def _log_place(self, stage: Stage) -> reports.LogPlace:
        return reports.LogPlace(self.deployment.id, stage.id, stage.retried_count)

    async def _client(self, stage: Stage) -> PluginClient:
        """The plugin of a stage. One that may be asked twice is not asked first whether it is there; any other is
        waited for until it is: it may be this very stage that undoes what its end has left undone."""
        name = await plugin_of_stage(stage.name, self._running, self.deployment)
        with suppress(PluginGone):
            if may_repeat(client := self._running.plugins.client(name), stage):
                return client
        return await self._back(name, stage)

    async def _back(self, name: str, stage: Stage) -> PluginClient:
        back, note = self._running.plugins.back, self.note_stage
        return await reconnected(lambda: back(name), lambda trouble: note(stage.id, {WAITS_FOR: trouble}))

    async def _wait(self) -> None:
        """Until the stage has ended, somebody asks for something, or a timeout has come."""
        if not await self._told():
            return
        deadline = next_deadline(self._facts())
        waiting: set[asyncio.Task[Any]] = {asyncio.create_task(self._woken.wait())}
        if deadline is not None:
            left = deadline - self._time.now()
            waiting.add(asyncio.create_task(self._running.sleep_until(self._running.clock.now() + left)))
        execution = self._executing
        try:
            await asyncio.wait(
                waiting | ({execution.task} if execution else set()), return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            for each in waiting:
                each.cancel()
        self._woken.clear()
        if execution is not None and execution.task.done():
            self._executing = None
            result = execution.task.result()
            try:
                if result.notes:
                    self._say(self._noted_in_limits(execution.stage.id, result.notes))
            except TooLarge as error:
                result = StageResult(StageStatus.FAILED, str(error))
            await self._report_stage(execution.stage.id, result.status, result.message)

    async def _wait_for_other_agent(self, decision: NextDecision) -> None:
        if self._note_wait(decision.reason):
            stage = self._stage(decision.stage_id)
            await report_wait(self._running.outbox, self._running.clock, self.deployment, stage, decision.reason)
        await self._wait()
        running = self._running
        while (found := await as_reported(running.outbox, running.find, self.deployment)) is not self.deployment:
            # Another agent is active. This agent acts once it is quiet.
            self.deployment = found
            await running.sleep_until(running.clock.now() + QUIET)

    def _note_wait(self, reason: str) -> bool:
        """Note what the deployment waits for; whether that is new."""
        if self.deployment.shared_metadata.get(WAITS_FOR, "") == reason:
            return False
        self._note_for_all({WAITS_FOR: reason})
        return True

    async def _interrupt(self, decision: NextDecision) -> None:
        if not await self._told():
            return
        stage, reason = self._stage(decision.stage_id), decision.reason
        if script_of_another_agent(self.deployment, self._executing_id) is not None:
            # No plugin of this agent can end that script.
            await self._end_log(stage, reason)
            await self._report_stage(stage.id, decision.stage_status or StageStatus.CANCELLED, reason)
            return
        executing, gone, trouble = None if self._executing is None else self._executing.task, False, ""
        self._giving_up = stage.id
        try:
            plugins, name = self._running.plugins, await plugin_of_stage(stage.name, self._running, self.deployment)
            given_up = GivenUp(self.deployment.id, stage, reason)
            client = await plugins.reached(name)
            before = client.condition.trouble
            known = await stopped(client, lambda: plugins.back(name), given_up, executing)
            # It may have been found out only now, or it answers again; either way it was not the stage alone.
            trouble = client.condition.trouble or before
        except (PluginGone, PluginRefused):
            # A plugin that is gone, and does not come back, cannot end anything.
            known, gone = False, True
        if gone or (executing is None and not known):
            # One that is there and loses its call ends its log itself.
            await self._end_log(stage, reason)
        if self._executing is not None:
            if not known:
                self._executing.task.cancel()
            await asyncio.wait({self._executing.task})
            reason = with_last_words(decision.reason, self._executing.task)
            self._executing = None
        reason = f"{reason}; plugin {name} {trouble}" if trouble else reason
        await self._report_stage(stage.id, decision.stage_status or StageStatus.CANCELLED, reason)

    async def _report_stage(self, stage_id: str, status: StageStatus, reason: str) -> None:
        before = self.deployment
        self.deployment = before.advance_stage(stage_id, status, reason, self._running.clock.now())
        if self.deployment is before:
            return
        if status.is_terminal:
            await self._running.stage_ended(self.deployment.id, stage_id)
        succeeded = stage_id if status is StageStatus.SUCCEEDED else ""
        self._unsaid.append(_Unsaid(reports.stage_changed(before.id, self._stage(stage_id)), before, succeeded))

    async def _end(self, decision: NextDecision) -> bool:
        """Whether it has ended, for the server too."""
        if not self.deployment.status.is_terminal and decision.deployment_status is not None:
            now = self._running.clock.now()
            self.deployment = self.deployment.complete(decision.deployment_status, decision.reason, now, {})
        for report in (reports.completed(self.deployment), *self._running.told_with_end(self.deployment)):
            self._say(report)
        return await self._told()

    def _say(self, report: reports.Report) -> None:
        """Have something told with what else there is to tell, before anything is done about it."""
        self._unsaid.append(_Unsaid(report))

    async def _told(self) -> bool:
        """Tell what there is to tell; whether things are as they were told. Otherwise it is to be decided anew."""
        unsaid, self._unsaid = self._unsaid, []
        if not unsaid:
            return True
        try:
            await self._running.outbox.deliver(self.deployment.id, *(each.report for each in unsaid))
        except ServerRefused as error:
            refused = unsaid[error.taken]
            if refused.planned:
                raise PlanRefused(str(error)) from error
            if refused.before is None or not refused.succeeded:
                raise
            # Such as an approval that the server has not seen: what it does not believe has not happened, and nothing
            # that was decided from it.
            self.deployment = refused.before
            await self._report_stage(refused.succeeded, StageStatus.FAILED, str(error))
            return False
        return True

    async def _deliver(self, report: reports.Report) -> None:
        await self._running.outbox.deliver(self.deployment.id, report)

    def _stage(self, stage_id: str) -> Stage:
        stage = self.deployment.stage(stage_id)
        if stage is None:
            raise UnknownStage(self.deployment, stage_id)
        return stage

    def _owner(self, stage: Stage) -> str:
        serving = serving_for(self.deployment, self._running.plugins)
        return decide_owner(stage.name, self._running.config, serving).plugin


class _Unsaid(NamedTuple):
    report: reports.Report
    #: The deployment before, for a change that the server may not believe: that this stage has succeeded.
    before: Deployment | None = None
    succeeded: str = ""
    #: Whether it is the plan.
    planned: bool = False


class _Execution(NamedTuple):
    stage: Stage
    task: asyncio.Task[StageResult]
