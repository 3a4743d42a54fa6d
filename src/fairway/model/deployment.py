"""One attempt to bring one application to one commit, and the table of what may become of it.

Rows that need a word:
- pending, planned → failed, cancelled: planning failed, a chain gave up, or somebody cancelled before a stage
  ran.
- planned → rolling_back is not a row: no stage has started, so there is nothing to undo. A cancel at this
  point ends in cancelled, and a restarted agent reports running before anything else.
- planned → succeeded is not a row: agents report running first, even for a plan whose stages are all skipped.
- rolling_back → succeeded is not a row: once undoing has begun, the commit was not brought. An agent that
  reports it all the same ends the deployment as failed.
"""

import enum
from collections.abc import Mapping
from datetime import datetime
from typing import Final, Self

import msgspec

from fairway.errors import UserError
from fairway.model.application import ApplicationKind, GitPath
from fairway.model.artifact import ArtifactVersion
from fairway.model.limits import REASON, cut
from fairway.model.plan import Plan
from fairway.model.stage import STAGE_TRANSITIONS, Stage, StageStatus
from fairway.model.transitions import InvalidTransition, TransitionTable
from fairway.model.trigger import SyncStrategy, Trigger


class DeploymentStatus(enum.Enum):
    """Where one deployment stands."""

    #: Created; waits for its turn and for its plan.
    PENDING = "pending"
    #: Strategy and stages are settled; no stage has started.
    PLANNED = "planned"
    #: Its stages run, one after another.
    RUNNING = "running"
    #: A stage failed or somebody cancelled; what was done is being undone.
    ROLLING_BACK = "rolling_back"
    #: The commit was brought.
    SUCCEEDED = "succeeded"
    #: The commit was not brought: planning or a stage failed, or it took too long.
    FAILED = "failed"
    #: The commit was not brought because somebody, or the chain it belongs to, gave it up.
    CANCELLED = "cancelled"

    @property
    def is_terminal(self) -> bool:
        """Whether nothing can follow: succeeded, failed and cancelled."""
        return not DEPLOYMENT_TRANSITIONS.rows[self]


DEPLOYMENT_TRANSITIONS = TransitionTable(
    noun="deployment",
    rows={
        DeploymentStatus.PENDING: frozenset(
            {DeploymentStatus.PLANNED, DeploymentStatus.FAILED, DeploymentStatus.CANCELLED}
        ),
        DeploymentStatus.PLANNED: frozenset(
            {DeploymentStatus.RUNNING, DeploymentStatus.FAILED, DeploymentStatus.CANCELLED}
        ),
        DeploymentStatus.RUNNING: frozenset(
            {
                DeploymentStatus.ROLLING_BACK,
                DeploymentStatus.SUCCEEDED,
                DeploymentStatus.FAILED,
                DeploymentStatus.CANCELLED,
            }
        ),
        DeploymentStatus.ROLLING_BACK: frozenset({DeploymentStatus.FAILED, DeploymentStatus.CANCELLED}),
        DeploymentStatus.SUCCEEDED: frozenset(),
        DeploymentStatus.FAILED: frozenset(),
        DeploymentStatus.CANCELLED: frozenset(),
    },
)

#: The shared note of a Fairway agent that says when it has started the deployment.
STARTED_AT: Final = "fairway/started-at"
#: Why a stage is cancelled that was still running when its deployment ended.
UNREPORTED = "The deployment ended before the result of this stage was reported"


class Deployment(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt to bring one application to one commit."""

    id: str
    application_id: str
    application_name: str
    agent_id: str
    project_id: str
    git_path: GitPath
    trigger: Trigger
    created_at: datetime
    updated_at: datetime
    #: v0 only.
    kind: ApplicationKind | None = None
    #: v0 only: the name of the place it is deployed to.
    platform_provider: str = ""
    #: v1 only: plugin name → names of the places that plugin deploys to.
    deploy_targets_by_plugin: dict[str, tuple[str, ...]] = {}
    labels: dict[str, str] = {}
    summary: str = ""
    versions: tuple[ArtifactVersion, ...] = ()
    #: The commit that ran before and that a rollback returns to; empty on a first deployment.
    running_commit_hash: str = ""
    running_config_filename: str = ""
    status: DeploymentStatus = DeploymentStatus.PENDING
    status_reason: str = ""
    #: In the order they run; those of the rollback stand at the end.
    stages: tuple[Stage, ...] = ()
    #: v0 only: one map for everybody.
    metadata: dict[str, str] = {}
    #: v1 only: written by the agent, read by every plugin.
    shared_metadata: dict[str, str] = {}
    #: v1 only: plugin name → what that plugin wrote.
    plugin_metadata: dict[str, dict[str, str]] = {}
    #: Empty unless the deployment belongs to a chain.
    chain_id: str = ""
    chain_block_index: int = 0
    #: The commit of another repository that led to this one, where it is known.
    trace_commit_hash: str = ""
    completed_at: datetime | None = None

    def advance(self, to: DeploymentStatus, reason: str, at: datetime) -> Self:
        """The deployment in its next status; itself when `to` is a repeat; InvalidTransition when refused."""
        DEPLOYMENT_TRANSITIONS.check(f"deployment {self.id}", self.status, to)
        if to is self.status:
            return self
        completed_at = at if to.is_terminal else None
        why = cut(reason, REASON)
        return msgspec.structs.replace(self, status=to, status_reason=why, updated_at=at, completed_at=completed_at)

    def accept(self, plan: Plan, at: datetime) -> Self:
        """The planned deployment. A repeat changes nothing: the first plan stays."""
        planned = self.advance(DeploymentStatus.PLANNED, plan.reason, at)
        if planned is self:
            return self
        # v0 agents leave AUTO in their report; then what was asked for stays.
        strategy = plan.sync_strategy if plan.sync_strategy is not SyncStrategy.AUTO else self.trigger.sync_strategy
        return msgspec.structs.replace(
            planned,
            trigger=msgspec.structs.replace(self.trigger, sync_strategy=strategy),
            summary=cut(plan.summary, REASON),
            stages=plan.stages,
            versions=plan.versions,
            running_commit_hash=plan.running_commit_hash,
            running_config_filename=plan.running_config_filename,
        )

    def stage(self, stage_id: str) -> Stage | None:
        """The stage with this id."""
        return next((stage for stage in self.stages if stage.id == stage_id), None)

    def advance_stage(self, stage_id: str, to: StageStatus, reason: str, at: datetime) -> Self:
        """The deployment with one stage in its next status. Nothing changes once the deployment has ended."""
        position = self._position(stage_id, to)
        stage = self.stages[position]
        if stage.status is to:
            return self
        if self.status.is_terminal:
            subject = f"stage {stage_id} of the {self.status.value} deployment {self.id}"
            raise InvalidTransition(subject, stage.status, to, frozenset())
        advanced = stage.advance(to, reason, at)
        stages = (*self.stages[:position], advanced, *self.stages[position + 1 :])
        return msgspec.structs.replace(self, stages=stages, updated_at=at)

    def _position(self, stage_id: str, reported: StageStatus) -> int:
        """Which stage a report is about.

        v0 agents give all their script rollbacks the same id and run them one after another. A report then belongs
        to the one that is running, else to the one it repeats, else to the next that has not ended.
        """
        same = [(position, stage.status) for position, stage in enumerate(self.stages) if stage.id == stage_id]
        if len(same) == 1:
            return same[0][0]
        by_preference = (
            [position for position, status in same if status is StageStatus.RUNNING],
            [position for position, status in same if status is reported],
            [position for position, status in same if not status.is_terminal],
            [position for position, _ in same],
        )
        for positions in by_preference:
            if positions:
                return positions[0]
        raise UnknownStage(self, stage_id)

    def complete(
        self, to: DeploymentStatus, reason: str, at: datetime, stage_statuses: Mapping[str, StageStatus]
    ) -> Self:
        """The ended deployment, with what the agent says of its stages.

        What a stage already said of itself stays: one odd entry in the map must not keep a deployment open. A
        stage that is still running after that is closed, because nobody will ever report on it again.
        """
        if not to.is_terminal:
            raise InvalidTransition(f"deployment {self.id}", self.status, to, DEPLOYMENT_TRANSITIONS.terminal)
        if self.status is DeploymentStatus.ROLLING_BACK and to is DeploymentStatus.SUCCEEDED:
            # An agent that restarts during a rollback may forget it and go forward. Refusing its report would leave
            # the application blocked for ever; believing it would hide that work has been undone.
            to, reason = DeploymentStatus.FAILED, f"Reported as succeeded after its rollback had begun: {reason}"
        ended = self.advance(to, reason, at)
        if ended is self:
            return self
        known = {stage.id for stage in self.stages}
        reported = {self._position(id, status): status for id, status in stage_statuses.items() if id in known}
        stages = tuple(_settle(stage, reported.get(position), at) for position, stage in enumerate(self.stages))
        return msgspec.structs.replace(ended, stages=stages)


class UnknownStage(UserError):
    """A report about a stage that its deployment does not have."""

    def __init__(self, deployment: Deployment, stage_id: str) -> None:
        known = ", ".join(stage.id for stage in deployment.stages) or "no stages yet"
        super().__init__(f"deployment {deployment.id} has no stage {stage_id}; it has {known}; report one of those")


def _settle(stage: Stage, reported: StageStatus | None, at: datetime) -> Stage:
    if reported is not None and STAGE_TRANSITIONS.allows(stage.status, reported):
        stage = stage.advance(reported, stage.status_reason, at)
    if stage.status is StageStatus.RUNNING:
        return stage.advance(StageStatus.CANCELLED, UNREPORTED, at)
    return stage
