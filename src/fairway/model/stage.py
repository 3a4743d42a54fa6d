"""One step of a deployment, and the table of what may become of it.

Rows that need a word:
- not_started → failed, cancelled, skipped: an agent that cannot start a stage (no plugin serves it), gives
  it up or passes it over (`skipOn`) reports the result without reporting "running" first.
- not_started → succeeded, exited are not rows: work that nobody saw start did not happen.
- running → skipped: a plugin may find while running that there is nothing to do, or a person may skip an
  analysis.
"""

import enum
from datetime import datetime
from typing import Self

import msgspec

from fairway.model.limits import REASON, cut
from fairway.model.transitions import TransitionTable


class StageStatus(enum.Enum):
    """Where one stage stands."""

    #: Planned; no work has been done.
    NOT_STARTED = "not_started"
    #: The plugin works on it, or did when its agent was last heard.
    RUNNING = "running"
    #: Done as asked.
    SUCCEEDED = "succeeded"
    #: Not done: the work failed or took too long.
    FAILED = "failed"
    #: Ended because somebody cancelled the deployment.
    CANCELLED = "cancelled"
    #: Passed over on purpose; the stages after it go on.
    SKIPPED = "skipped"
    #: Done, and nothing is left to do: the deployment ends here as succeeded.
    EXITED = "exited"

    @property
    def is_terminal(self) -> bool:
        """Whether nothing can follow: succeeded, failed, cancelled, skipped and exited."""
        return not STAGE_TRANSITIONS.rows[self]


STAGE_TRANSITIONS = TransitionTable(
    noun="stage",
    rows={
        StageStatus.NOT_STARTED: frozenset(
            {StageStatus.RUNNING, StageStatus.FAILED, StageStatus.CANCELLED, StageStatus.SKIPPED}
        ),
        StageStatus.RUNNING: frozenset(
            {
                StageStatus.SUCCEEDED,
                StageStatus.FAILED,
                StageStatus.CANCELLED,
                StageStatus.SKIPPED,
                StageStatus.EXITED,
            }
        ),
        StageStatus.SUCCEEDED: frozenset(),
        StageStatus.FAILED: frozenset(),
        StageStatus.CANCELLED: frozenset(),
        StageStatus.SKIPPED: frozenset(),
        StageStatus.EXITED: frozenset(),
    },
)


#: The metadata key of a stage that ended without having run. It crosses the wire, where nothing else could say so.
NEVER_STARTED = "fairway/never-started"

#: How an authorized operator that is a group of the sign-in provider is written.
GROUP_OF_OPERATORS = "group:"
#: The metadata key of how many people must approve a stage. Whoever plans it writes it; without it one is enough.
MINIMUM_APPROVALS = "fairway/minimum-approvals"
#: The metadata keys of a stage that counts as approved when nobody answered in time: planned so, and come so.
APPROVE_ON_TIMEOUT = "fairway/approve-on-timeout"
APPROVED_BY_TIMEOUT = "fairway/approved-by-timeout"
#: The metadata key of what is shown under a stage.
DISPLAY = "pipecd/stage-display-metadata"
#: The metadata key of what a running stage waits for right now, in words; among the shared notes of a deployment, of
#: what keeps its agent from planning it.
WAITS_FOR = "fairway/waits-for"
#: The beginning of the metadata key of what became of one deploy target.
TARGET = "fairway/target/"
#: What a stage's metadata may say only from its beginning: who runs a stage must not lower what it needs.
PLANNED_METADATA = frozenset({MINIMUM_APPROVALS, APPROVE_ON_TIMEOUT})

#: The stages that v0 agents add to undo a deployment; users cannot write them.
V0_ROLLBACKS = frozenset({"ROLLBACK", "CUSTOM_SYNC_ROLLBACK", "SCRIPT_RUN_ROLLBACK"})


#: No more people than this many digits tell can be asked for.
_DIGITS = 7


class ManualOperation(enum.Enum):
    """What a person can do to a running stage."""

    #: An older agent did not say.
    UNKNOWN = "unknown"
    #: Nothing.
    NONE = "none"
    #: Let the deployment go on without the rest of this stage.
    SKIP = "skip"
    #: Say yes.
    APPROVE = "approve"


class Approval(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody's yes to a stage, as the server took it."""

    by: str
    at: datetime
    #: With which the agent was told.
    command_id: str


class Stage(msgspec.Struct, frozen=True, kw_only=True):
    """One step of one deployment."""

    id: str
    name: str
    created_at: datetime
    updated_at: datetime
    desc: str = ""
    #: Position in the pipeline of the application's file; a rollback stage has that of the stage it undoes.
    index: int = 0
    #: Ids of the stages that must have ended well before this one starts.
    requires: tuple[str, ...] = ()
    #: Whether the stage belongs to the rollback. Agents of v0 never set it: there the name says so.
    rollback: bool = False
    #: v0 only: not written by the user but added by planning.
    predefined: bool = False
    #: v0 only: whether it is shown. A rollback stage of v0 is not, until it starts.
    visible: bool = True
    status: StageStatus = StageStatus.NOT_STARTED
    status_reason: str = ""
    metadata: dict[str, str] = {}
    retried_count: int = 0
    available_operation: ManualOperation = ManualOperation.NONE
    #: Who may perform the operation; empty means everybody who may act on the application.
    authorized_operators: tuple[str, ...] = ()
    #: Kept by the server alone: no agent can say who approved.
    approvals: tuple[Approval, ...] = ()
    completed_at: datetime | None = None

    @property
    def is_rollback(self) -> bool:
        """Whether the stage belongs to the rollback, in either generation's way of saying so."""
        return self.rollback or self.name in V0_ROLLBACKS

    @property
    def minimum_approvals(self) -> int:
        """How many people must say yes before it may succeed; none where it does not ask."""
        if self.available_operation is not ManualOperation.APPROVE:
            return 0
        if "true" == self.metadata.get(APPROVE_ON_TIMEOUT) == self.metadata.get(APPROVED_BY_TIMEOUT):
            return 0
        written = self.metadata.get(MINIMUM_APPROVALS, "")
        return max(int(written), 1) if written.isascii() and written.isdecimal() and len(written) < _DIGITS else 1

    @property
    def is_approved(self) -> bool:
        """Whether as many people as it needs have said yes."""
        return len({approval.by for approval in self.approvals}) >= self.minimum_approvals

    def advance(self, to: StageStatus, reason: str, at: datetime) -> Self:
        """The stage in its next status; itself when `to` is a repeat; InvalidTransition when refused."""
        STAGE_TRANSITIONS.check(f"stage {self.id} ({self.name})", self.status, to)
        if to is self.status:
            return self
        completed_at = at if to.is_terminal else None
        # Whatever it waited for, it does not any more.
        metadata = {key: value for key, value in self.metadata.items() if key != WAITS_FOR}
        if self.status is StageStatus.NOT_STARTED and to in {StageStatus.FAILED, StageStatus.CANCELLED}:
            metadata = {**metadata, NEVER_STARTED: "true"}
        return msgspec.structs.replace(
            self,
            status=to,
            status_reason=cut(reason, REASON),
            updated_at=at,
            completed_at=completed_at,
            metadata=metadata,
        )

    @property
    def waits_for(self) -> str:
        """What it waits for right now, in words; empty where its plugin does not say, and once it has ended."""
        return self.metadata.get(WAITS_FOR, "") if self.status is StageStatus.RUNNING else ""

    @property
    def was_started(self) -> bool:
        """Whether any of its work may have been done."""
        never = self.status in {StageStatus.NOT_STARTED, StageStatus.SKIPPED} or NEVER_STARTED in self.metadata
        return not never
