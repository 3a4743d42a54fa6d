"""What an agent's report makes of a deployment: pure, and forgiving where the report is merely late.

A report that the status table refuses is late when the reported status cannot follow any more, and early when it could
follow after a step that nobody reported. Late ones change nothing and are no error: the agent has repeated itself, or
an answer of ours got lost. Early ones are raised, as the agent can report the step that is missing. A stage that waits
for people cannot succeed before as many as it needs have said yes here, whatever its agent has counted.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

import msgspec

from fairway.model.deployment import DEPLOYMENT_TRANSITIONS, Deployment, DeploymentStatus, UnknownStage
from fairway.model.limits import SPARE_NOTES_BYTES
from fairway.model.notes import checked_notes, refuse_too_many_notes
from fairway.model.plan import Plan
from fairway.model.stage import PLANNED_METADATA, STAGE_TRANSITIONS, ManualOperation, Stage, StageStatus
from fairway.model.transitions import InvalidTransition, S, TransitionTable
from fairway.server.status_codes import NotNow

#: What people can do to stages of v0 agents, which do not say so themselves.
_V0_OPERATIONS = {"ANALYSIS": ManualOperation.SKIP, "WAIT_APPROVAL": ManualOperation.APPROVE}
#: What a stage that waits for people becomes only with their yes.
_DONE = frozenset({StageStatus.SUCCEEDED, StageStatus.EXITED})
#: Where v0 agents write who may approve a stage, separated by commas.
_APPROVERS = "Approvers"


class StageReport(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent says of one stage."""

    stage_id: str
    status: StageStatus
    reason: str = ""
    #: Empty leaves it as it was.
    requires: tuple[str, ...] = ()
    visible: bool = False
    retried_count: int = 0


def is_late(table: TransitionTable[S], found: S, wanted: S) -> bool:
    """Whether `wanted` can never follow `found`, not even by way of other statuses."""
    reached, unvisited = {found}, [found]
    while unvisited:
        new = table.rows[unvisited.pop()] - reached
        reached |= new
        unvisited.extend(new)
    return wanted not in reached


def planned(deployment: Deployment, plan: Plan, at: datetime) -> Deployment:
    """The deployment with its plan; as it is when it had one already."""
    if deployment.kind is not None:
        plan = msgspec.structs.replace(plan, stages=tuple(_with_operation(stage) for stage in plan.stages))

    def accepted() -> Deployment:
        planned = deployment.accept(plan, at)
        refuse_too_many_notes(planned)
        return planned

    return _unless_late(deployment, DeploymentStatus.PLANNED, accepted)


def status_changed(deployment: Deployment, to: DeploymentStatus, reason: str, at: datetime) -> Deployment:
    """The deployment in its next status; as it is when it is further already."""

    def advanced() -> Deployment:
        changed = deployment.advance(to, reason, at)
        if changed is not deployment and to is DeploymentStatus.SUCCEEDED:
            _refuse_unapproved(deployment, deployment.stages)
        return changed

    return _unless_late(deployment, to, advanced)


class Completion(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent says of a deployment that has ended."""

    status: DeploymentStatus
    reason: str
    completed_at: datetime
    stage_statuses: Mapping[str, StageStatus]


def completed(deployment: Deployment, report: Completion, at: datetime) -> Deployment:
    """The ended deployment; as it is when it had ended already."""

    def ended() -> Deployment:
        done = deployment.complete(report.status, report.reason, at, _approved_only(deployment, report))
        if done is deployment:
            return deployment
        if done.status is DeploymentStatus.SUCCEEDED:
            both = zip(deployment.stages, done.stages, strict=True)
            _refuse_unapproved(deployment, (old for old, new in both if new.status is not StageStatus.SKIPPED))
        # The agent knows when it ended, and may have been cut off since; but its clock may also be ahead of ours.
        return msgspec.structs.replace(done, completed_at=min(report.completed_at, at))

    return _unless_late(deployment, report.status, ended)


def stage_changed(deployment: Deployment, report: StageReport, at: datetime) -> Deployment:
    """The deployment with one stage as reported; as it is when the stage, or all of it, is further already."""
    before = deployment.stage(report.stage_id)
    if before is None:
        raise UnknownStage(deployment, report.stage_id)
    if deployment.status.is_terminal:
        return deployment
    try:
        advanced = deployment.advance_stage(report.stage_id, report.status, report.reason, at)
    except InvalidTransition as error:
        if not isinstance(error.found, StageStatus) or not is_late(STAGE_TRANSITIONS, error.found, report.status):
            raise
        return deployment
    position = _reported_position(deployment, advanced, report)
    if advanced is not deployment and report.status in _DONE:
        _refuse_unapproved(deployment, deployment.stages[position : position + 1])
    return _with_stage(advanced, position, _merged(advanced.stages[position], report), at)


def stage_noted(deployment: Deployment, stage_id: str, metadata: Mapping[str, str], at: datetime) -> Deployment:
    """The deployment with more metadata on one stage: the running one, where v0 gave several the same id."""
    positions = [position for position, stage in enumerate(deployment.stages) if stage.id == stage_id]
    if not positions:
        raise UnknownStage(deployment, stage_id)
    running = [p for p in positions if deployment.stages[p].status is StageStatus.RUNNING]
    position = (running or positions)[0]
    stage = deployment.stages[position]
    for key in PLANNED_METADATA & metadata.keys():
        if metadata[key] != stage.metadata.get(key):
            raise NotNow(f"stage {stage_id} ({stage.name}) has been planned: what {key} says can change no more")
    merged = {**stage.metadata, **checked_notes(metadata)}
    changed = stage if merged == stage.metadata else msgspec.structs.replace(stage, metadata=merged)
    noted = _with_stage(deployment, position, changed, at)
    refuse_too_many_notes(noted, SPARE_NOTES_BYTES)
    return noted


def _refuse_unapproved(deployment: Deployment, stages: Iterable[Stage]) -> None:
    for stage in stages:
        if stage.status is StageStatus.RUNNING and not stage.is_approved:
            given = ", ".join(approval.by for approval in stage.approvals) or "nobody"
            raise NotNow(
                f"stage {stage.id} ({stage.name}) of deployment {deployment.id} needs {stage.minimum_approvals} "
                f"approvals and has been approved by {given}; report it again when enough people have approved it"
            )


def _approved_only(deployment: Deployment, report: Completion) -> Mapping[str, StageStatus]:
    """What an ended deployment says of its stages, without successes that nobody approved."""
    refused = {stage.id for stage in deployment.stages if not stage.is_approved}
    return {id: status for id, status in report.stage_statuses.items() if id not in refused or status not in _DONE}


def _unless_late(deployment: Deployment, to: DeploymentStatus, change: Callable[[], Deployment]) -> Deployment:
    try:
        return change()
    except InvalidTransition:
        if is_late(DEPLOYMENT_TRANSITIONS, deployment.status, to):
            return deployment
        raise


def _reported_position(before: Deployment, after: Deployment, report: StageReport) -> int:
    """Which stage took the report: the one that changed, else the one that had the status already."""
    for position, (old, new) in enumerate(zip(before.stages, after.stages, strict=True)):
        repeats = before is after and new.id == report.stage_id and new.status is report.status
        if old is not new or repeats:
            return position
    raise UnknownStage(after, report.stage_id)


def _merged(stage: Stage, report: StageReport) -> Stage:
    merged = msgspec.structs.replace(
        stage,
        requires=report.requires or stage.requires,
        # A stage that has been shown stays so: v1 agents leave the field out.
        visible=report.visible or stage.visible,
        retried_count=max(report.retried_count, stage.retried_count),
    )
    return stage if merged == stage else merged


def _with_stage(deployment: Deployment, position: int, stage: Stage, at: datetime) -> Deployment:
    if stage is deployment.stages[position]:
        return deployment
    stages = (*deployment.stages[:position], stage, *deployment.stages[position + 1 :])
    return msgspec.structs.replace(deployment, stages=stages, updated_at=at)


def _with_operation(stage: Stage) -> Stage:
    if stage.available_operation is not ManualOperation.UNKNOWN or stage.name not in _V0_OPERATIONS:
        return stage
    approvers = tuple(name.strip() for name in stage.metadata.get(_APPROVERS, "").split(",") if name.strip())
    return msgspec.structs.replace(
        stage,
        available_operation=_V0_OPERATIONS[stage.name],
        authorized_operators=stage.authorized_operators or approvers,
    )
