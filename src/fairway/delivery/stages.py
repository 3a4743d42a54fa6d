"""What a deployment does next, from what is stored and what is going on.

The answer depends on stored statuses alone, plus the one stage that this agent is executing. So a restarted agent
asks the same question and goes on: a stage that was running is taken up again, one that has ended is never run
twice. A failure, a timeout or a cancel first ends the running stage (interrupt), then undoes (roll back), and
only then ends the deployment (stop).
"""

import enum
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec

from fairway.config.application import ApplicationConfig
from fairway.config.scalars import Duration
from fairway.config.stages import WaitApprovalOptions
from fairway.delivery.rollback import RollbackDecision, decide_rollback, stages_to_undo
from fairway.delivery.skip import config_of, reason_to_skip
from fairway.model.command import CancelDeployment
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.limits import QUOTED_REASON, cut
from fairway.model.stage import Stage, StageStatus
from fairway.model.undoing import SCRIPT_RUN_ROLLBACK, stage_undone_by

#: How the reason of a deployment that took too long begins; the stage that ran then ends with the same.
_DEPLOYMENT_LATE: Final = "The deployment timed out after"

#: Why a stage ends whose script was started by another agent.
_INTERRUPTED: Final = "interrupted: another agent has started the script, and it is not known whether it still runs"

#: How much longer than its time a stage has to tell its end: one whose plugin is to bring it to a good end by then, and
#: one that an agent finds running, because it may have ended well while no agent was there.
_GRACE: Final = Duration(minutes=1)


class NextAction(enum.Enum):
    """What to do with a deployment."""

    #: Report it as running.
    START = "start"
    #: Execute the stage, or take it up again where it was left.
    RUN = "run"
    #: Report the stage as skipped.
    SKIP = "skip"
    #: End the stage that runs and report it in `stage_status`; only then ask again.
    INTERRUPT = "interrupt"
    #: Nothing until something changes.
    WAIT = "wait"
    #: The same, while another agent's script may still run: a user, that agent or its timeout decides.
    WAIT_FOR_OTHER_AGENT = "wait_for_other_agent"
    #: Report it as rolling back.
    ROLL_BACK = "roll_back"
    #: Report it as ended in `deployment_status`.
    STOP = "stop"


class NextFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the decision needs to know."""

    deployment: Deployment
    config: ApplicationConfig
    #: The stage this agent is executing now; empty when it executes none.
    executing: str = ""
    #: A stage whose script another agent has started and may still run.
    other_agents_script: Stage | None = None
    #: When the deployment became running.
    started_at: datetime | None = None
    #: When the stage that is stored as running was started.
    stage_started_at: datetime | None = None
    #: When this agent found that stage running; `None` where it has started it itself.
    stage_found_at: datetime | None = None
    cancel: CancelDeployment | None = None
    commander: str = ""
    #: Between the running commit and the one to deploy; `None` when nothing runs yet.
    changed_files: tuple[str, ...] | None = None


class NextDecision(msgspec.Struct, frozen=True, kw_only=True):
    """What to do with a deployment."""

    action: NextAction
    reason: str
    stage_id: str = ""
    stage_status: StageStatus | None = None
    #: Whether the stage is only to tell how it ended: its time is over, and nothing more of it may begin.
    overdue: bool = False
    deployment_status: DeploymentStatus | None = None


class _Trouble(msgspec.Struct, frozen=True):
    """Why a deployment does not go on, and how it will end."""

    ends_as: DeploymentStatus
    reason: str

    @property
    def stage_ends_as(self) -> StageStatus:
        cancelled = self.ends_as is DeploymentStatus.CANCELLED
        return StageStatus.CANCELLED if cancelled else StageStatus.FAILED


def decide_next(facts: NextFacts, now: datetime) -> NextDecision:
    """The next step of one deployment."""
    deployment = facts.deployment
    if deployment.status.is_terminal:
        return _stop(deployment.status, f"The deployment has already {_ended(deployment.status)}")
    ending = deployment.stage(facts.executing)
    if ending is not None and ending.status.is_terminal:
        # Its result is stored, but something of it may still be alive; nothing may run beside it.
        return NextDecision(
            action=NextAction.WAIT, reason=f"Waiting for stage {ending.name} to end", stage_id=ending.id
        )
    unknown = facts.other_agents_script
    if unknown is not None and (decision := _script_may_run(facts, unknown, now)):
        return decision
    if deployment.status is DeploymentStatus.ROLLING_BACK:
        return _next_rollback_stage(facts, now)
    if facts.cancel is not None and deployment.status is not DeploymentStatus.RUNNING:
        return _stop(DeploymentStatus.CANCELLED, f"{_cancelled_by(facts)} before any stage had started")
    if deployment.status is DeploymentStatus.PENDING:
        return NextDecision(action=NextAction.WAIT, reason="Waiting for its plan")
    if deployment.status is DeploymentStatus.PLANNED:
        return NextDecision(
            action=NextAction.START,
            reason="Its plan is ready",
            deployment_status=DeploymentStatus.RUNNING,
        )
    return _next_forward_stage(facts, now)


def next_deadline(facts: NextFacts) -> datetime | None:
    """When time alone may change the decision: the first timeout of what runs. `None` when none is running out."""
    if facts.other_agents_script is not None:
        return _end_of_script(facts, facts.other_agents_script)
    ends = _end_of_time(facts, _running(facts, facts.deployment.stages))
    return None if ends is None else _with_grace(facts, ends)


def _end_of_time(facts: NextFacts, running: Stage | None) -> datetime | None:
    """When the first timeout of what runs is over."""
    ends: list[datetime] = []
    if facts.started_at is not None and facts.deployment.status is DeploymentStatus.RUNNING:
        ends.append(facts.started_at + facts.config.timeout)
    if facts.stage_started_at is not None and running is not None:
        ends.append(facts.stage_started_at + _timeout(facts, running))
    return min(ends, default=None)


def _with_grace(facts: NextFacts, ends: datetime) -> datetime:
    """When something ends whose time is over then: a stage that was found running is heard first."""
    return ends if facts.stage_found_at is None else max(ends, facts.stage_found_at + _GRACE)


def _script_may_run(facts: NextFacts, stage: Stage, now: datetime) -> NextDecision | None:
    """What to do while another agent's script may still run. `None` once a user or the script's timeout decides."""
    ends, runs = _end_of_script(facts, stage), stage.status is StageStatus.RUNNING
    if facts.cancel is not None:
        cancelled = f"{_cancelled_by(facts)}; {_INTERRUPTED}"
        return _interrupt(stage, StageStatus.CANCELLED, cancelled) if runs else None
    if now >= ends:
        late = f"{_INTERRUPTED}; its timeout of {_timeout(facts, stage)} is over"
        return _interrupt(stage, StageStatus.FAILED, late) if runs else None
    reason = (
        f"the script of stage {stage.index + 1} ({stage.name}): another agent has started it, and it may still run; "
        f"make sure that it has ended, then cancel the deployment; its timeout is over at {ends:%Y-%m-%d %H:%M} UTC"
    )
    return NextDecision(action=NextAction.WAIT_FOR_OTHER_AGENT, reason=reason, stage_id=stage.id)


def _end_of_script(facts: NextFacts, stage: Stage) -> datetime:
    """The latest time at which another agent's script is within its timeout."""
    running = stage.status is StageStatus.RUNNING
    started = facts.stage_started_at if running else stage.completed_at
    return (started or stage.updated_at) + _timeout(facts, stage)


def _next_forward_stage(facts: NextFacts, now: datetime) -> NextDecision:
    forward = [stage for stage in facts.deployment.stages if not stage.is_rollback]
    for stage in forward:
        if stage.status is StageStatus.EXITED:
            return _stop(DeploymentStatus.SUCCEEDED, f"Stage {stage.name} found nothing left to do")
    left = [stage for stage in forward if stage.status not in {StageStatus.SUCCEEDED, StageStatus.SKIPPED}]
    if not left:
        return _stop(DeploymentStatus.SUCCEEDED, "All stages have ended well")
    trouble = _trouble(facts, left[0], now)
    if trouble is None:
        return _run_or_skip(facts, left[0], now)
    running = _running(facts, left)
    if running is not None:
        return _interrupt(running, trouble.stage_ends_as, trouble.reason)
    rollback = _decide_rollback(facts)
    if not rollback.stages:
        return _stop(trouble.ends_as, f"{trouble.reason}; there is no rollback: {rollback.reason}")
    return NextDecision(
        action=NextAction.ROLL_BACK,
        reason=f"{trouble.reason}; rolling back: {rollback.reason}",
        deployment_status=DeploymentStatus.ROLLING_BACK,
    )


def _next_rollback_stage(facts: NextFacts, now: datetime) -> NextDecision:
    rollback = _decide_rollback(facts)
    running = _running(facts, facts.deployment.stages)
    if running is not None and running not in rollback.stages:
        what = f"The rollback ends here: {rollback.reason}" if running.is_rollback else "The rollback has begun"
        return _interrupt(running, StageStatus.CANCELLED, what)
    if running is not None and _is_late(facts, running, now):
        return _interrupt(running, StageStatus.FAILED, _timed_out(facts, running))
    if not rollback.stages:
        ends_as, cause = _outcome_of_rollback(facts)
        # A cause of several lines ends with its own: what else there is to say is not part of the last.
        return _stop(ends_as, ("\n" if "\n" in cause else "; ").join((cause, _result_of_rollback(facts.deployment))))
    undoing = rollback.stages[0]
    undone = stage_undone_by(undoing, facts.deployment.stages)
    what = "" if undone is None else f" stage {undone.index + 1}"
    return _run(facts, undoing, f"Undoing{what} with {undoing.name}", now)


def _decide_rollback(facts: NextFacts) -> RollbackDecision:
    wanted = facts.config.planner.auto_rollback
    return decide_rollback(facts.deployment, auto_rollback=wanted, cancel=facts.cancel)


def _trouble(facts: NextFacts, stage: Stage, now: datetime) -> _Trouble | None:
    """Why the deployment cannot go on with this stage, its first that has not ended well."""
    if stage.status is StageStatus.FAILED:
        return _Trouble(DeploymentStatus.FAILED, _failure(stage))
    if stage.status is StageStatus.CANCELLED:
        return _Trouble(DeploymentStatus.CANCELLED, _cancelled_by(facts))
    if facts.cancel is not None:
        return _Trouble(DeploymentStatus.CANCELLED, _cancelled_by(facts))
    if facts.started_at is not None and now >= _with_grace(facts, facts.started_at + facts.config.timeout):
        return _Trouble(DeploymentStatus.FAILED, f"{_DEPLOYMENT_LATE} {facts.config.timeout}{_waited_for(stage)}")
    if stage.status is StageStatus.RUNNING and _is_late(facts, stage, now):
        return _Trouble(DeploymentStatus.FAILED, _timed_out(facts, stage))
    return None


def _run_or_skip(facts: NextFacts, stage: Stage, now: datetime) -> NextDecision:
    settings = config_of(stage, facts.deployment, facts.config)
    if settings is not None and stage.status is StageStatus.NOT_STARTED:
        reason = reason_to_skip(settings, facts.deployment.trigger.commit.message, facts.changed_files)
        if reason:
            return NextDecision(
                action=NextAction.SKIP, reason=reason, stage_id=stage.id, stage_status=StageStatus.SKIPPED
            )
    # What is said when it begins is shown for as long as it runs.
    return _run(facts, stage, f"{stage.name} is running", now)


def _run(facts: NextFacts, stage: Stage, reason: str, now: datetime) -> NextDecision:
    if stage.id == facts.executing:
        return NextDecision(action=NextAction.WAIT, reason=f"Waiting for stage {stage.name}", stage_id=stage.id)
    again = stage.status is StageStatus.RUNNING
    if again:
        reason = f"Going on with {stage.name}, which was running when its agent stopped"
    ends = _end_of_time(facts, stage)
    return NextDecision(
        action=NextAction.RUN,
        reason=reason,
        stage_id=stage.id,
        stage_status=StageStatus.RUNNING,
        overdue=again and ends is not None and now >= ends,
    )


def _running(facts: NextFacts, stages: Sequence[Stage]) -> Stage | None:
    """The stage that runs, even when the report that it started has not been stored yet."""
    return next((each for each in stages if each.status is StageStatus.RUNNING or each.id == facts.executing), None)


def _is_late(facts: NextFacts, stage: Stage, now: datetime) -> bool:
    started = facts.stage_started_at
    return started is not None and now >= _with_grace(facts, started + _timeout(facts, stage))


def _timeout(facts: NextFacts, stage: Stage) -> timedelta:
    """A script's rollback has the timeout of its script; a stage that nobody wrote has the deployment's."""
    written = stage_undone_by(stage, facts.deployment.stages) if stage.is_rollback else stage
    settings = config_of(written, facts.deployment, facts.config) if written is not None else None
    if settings is None:
        return facts.config.timeout
    ends_itself = isinstance(settings.options, WaitApprovalOptions) and settings.options.approves_on_timeout
    return Duration.of(settings.timeout + _GRACE) if ends_itself else settings.timeout


def _outcome_of_rollback(facts: NextFacts) -> tuple[DeploymentStatus, str]:
    """How a deployment that was rolled back ends: the stage that ended it says, else who cancelled it."""
    forward = [stage for stage in facts.deployment.stages if not stage.is_rollback]
    failed = next((stage for stage in forward if stage.status is StageStatus.FAILED), None)
    if failed is not None:
        return DeploymentStatus.FAILED, _failure(failed)
    if facts.cancel is not None or any(stage.status is StageStatus.CANCELLED for stage in forward):
        return DeploymentStatus.CANCELLED, _cancelled_by(facts)
    return DeploymentStatus.FAILED, f"{_DEPLOYMENT_LATE} {facts.config.timeout}"


def _result_of_rollback(deployment: Deployment) -> str:
    wanted = stages_to_undo(deployment)
    given_up = {StageStatus.CANCELLED, StageStatus.NOT_STARTED}
    broken = [_with_reason(each, deployment) for each in wanted if each.status is StageStatus.FAILED]
    left = [_with_reason(each, deployment) for each in wanted if each.status in given_up]
    told = [f"the rollback failed in {', '.join(broken)}"] if broken else []
    told += [f"the rollback was given up, with {', '.join(left)} left to do"] if left else []
    if told:
        return " and ".join(told)
    # What a platform adds when all went well is about what was not undone; a script's own words are about itself.
    added = [each.status_reason for each in wanted if each.name != SCRIPT_RUN_ROLLBACK and each.status_reason]
    return f"it was rolled back: {cut('; '.join(added), QUOTED_REASON)}" if added else "it was rolled back"


def _with_reason(stage: Stage, deployment: Deployment) -> str:
    """Which rollback stage, and why it did not end well: it may say what it has left."""
    undone = stage_undone_by(stage, deployment.stages)
    name = stage.name if undone is None else f"{stage.name} of stage {undone.index + 1}"
    return f"{name} ({cut(stage.status_reason, QUOTED_REASON)})" if stage.status_reason else name


def _failure(stage: Stage) -> str:
    """Why a deployment fails with this stage. A long reason is cut here, and whole with the stage."""
    why = cut(stage.status_reason, QUOTED_REASON)
    if why.startswith(_DEPLOYMENT_LATE):
        return why
    return f"Stage {stage.name} failed: {why}" if why else f"Stage {stage.name} failed"


def _timed_out(facts: NextFacts, stage: Stage) -> str:
    return f"timed out after {_timeout(facts, stage)}{_waited_for(stage)}"


def _waited_for(stage: Stage) -> str:
    """What kept a stage until its time was over, where its plugin has said so."""
    return f"; it waited for: {stage.waits_for}" if stage.waits_for else ""


def _cancelled_by(facts: NextFacts) -> str:
    return f"Cancelled by {facts.commander}" if facts.commander else "Cancelled"


def _ended(status: DeploymentStatus) -> str:
    return "been cancelled" if status is DeploymentStatus.CANCELLED else status.value


def _interrupt(stage: Stage, ends_as: StageStatus, reason: str) -> NextDecision:
    return NextDecision(action=NextAction.INTERRUPT, reason=reason, stage_id=stage.id, stage_status=ends_as)


def _stop(status: DeploymentStatus, reason: str) -> NextDecision:
    return NextDecision(action=NextAction.STOP, reason=reason, deployment_status=status)
