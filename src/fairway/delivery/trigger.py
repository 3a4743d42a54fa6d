"""Whether to start a deployment, and why or why not.

Two promises that PipeCD does not keep: a "no" never swallows a commit (only a comparison that found nothing
relevant marks the head as examined), and a command is always answered (one that may not run is rejected with
the reason instead of waiting for ever).
"""

import enum
from datetime import datetime

import msgspec

from fairway.config.application import ApplicationConfig
from fairway.delivery.commit import Touched
from fairway.model.application import Application
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.trigger import DRIFTED, SyncStrategy, TriggerKind

#: Under which a deployment that is made against drift notes the digest of that difference.
DRIFT_NOTE = "fairway/drift"


class TriggerOutcome(enum.Enum):
    """What to do about one cause."""

    #: Create a deployment.
    TRIGGER = "trigger"
    #: Do nothing; look again when something changes.
    NO = "no"
    #: Answer the command that asked for it as failed.
    REJECT = "reject"


class LastDeployment(msgspec.Struct, frozen=True, kw_only=True):
    """The deployment of the application that was created last."""

    commit_hash: str
    status: DeploymentStatus
    completed_at: datetime | None = None
    #: The digest of the difference from Git that it was made for; empty where it was made for something else.
    drift: str = ""


class Drift(msgspec.Struct, frozen=True, kw_only=True):
    """How what runs differs from what Git says."""

    #: In one line.
    words: str
    #: The same for the same difference.
    digest: str
    #: Whether deploying takes it away, as far as plugins can tell.
    mendable: bool = True
    #: Whether there was no difference for a while since the last deployment.
    anew: bool = False


class TriggerFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Everything the decision needs to know."""

    kind: TriggerKind
    application: Application
    head_commit: str
    #: `None` when the file cannot be used; then `config_problem` says why.
    config: ApplicationConfig | None
    config_problem: str = ""
    last: LastDeployment | None = None
    #: What the changes since the last examined commit touch of this application.
    touched: Touched | None = None
    #: For drift: what differs.
    drift: Drift | None = None
    #: For a command or a chain: the strategy that was asked for.
    asked_strategy: SyncStrategy = SyncStrategy.AUTO
    #: For a command: who asked.
    commander: str = ""


class TriggerDecision(msgspec.Struct, frozen=True, kw_only=True):
    """Whether to start a deployment."""

    outcome: TriggerOutcome
    reason: str
    sync_strategy: SyncStrategy = SyncStrategy.AUTO
    #: Whether the next commit may be compared with the head instead of the commit before it. Only true when all
    #: changes up to the head were seen to be none of this application's.
    examined: bool = False


def decide_trigger(facts: TriggerFacts, now: datetime) -> TriggerDecision:
    """Whether to start a deployment of one application for one cause."""
    application = facts.application
    if application.deleted_at is not None:
        return _declined(facts, f"{application.name} has been deleted")
    if application.disabled:
        return _declined(facts, f"{application.name} is disabled")
    if facts.config is None:
        problem = facts.config_problem or "its configuration file cannot be read"
        return _declined(facts, f"The configuration of {application.name} is invalid: {problem}")
    match facts.kind:
        case TriggerKind.COMMIT:
            return _on_commit(facts, facts.config)
        case TriggerKind.COMMAND:
            return _on_command(facts, facts.config)
        case TriggerKind.OUT_OF_SYNC:
            return _on_out_of_sync(facts, facts.config, now)
        case TriggerKind.CHAIN:
            return _on_chain(facts, facts.config)


def _on_commit(facts: TriggerFacts, config: ApplicationConfig) -> TriggerDecision:
    if config.trigger.on_commit.disabled:
        return _no("trigger.onCommit is disabled")
    if facts.last is None:
        return _yes(f"{facts.application.name} has never been deployed")
    if facts.last.commit_hash == facts.head_commit:
        return _no(f"A deployment of commit {_short(facts.head_commit)} has already been triggered")
    if facts.touched is None:
        reason = f"Nothing up to commit {_short(facts.head_commit)} touches {facts.application.name}"
        return TriggerDecision(outcome=TriggerOutcome.NO, reason=reason, examined=True)
    return _yes(f"Commit {_short(facts.head_commit)} touches it: {facts.touched.reason}")


def _on_command(facts: TriggerFacts, config: ApplicationConfig) -> TriggerDecision:
    if config.trigger.on_command.disabled:
        return _declined(facts, "trigger.onCommand is disabled for this application")
    return _yes(f"{facts.commander or 'Somebody'} asked for it", facts.asked_strategy)


def _on_chain(facts: TriggerFacts, config: ApplicationConfig) -> TriggerDecision:
    if config.trigger.on_chain.disabled:
        return _declined(facts, "trigger.onChain is disabled for this application, so the chain cannot deploy it")
    return _yes("It is part of a chain that another application has begun", facts.asked_strategy)


def _on_out_of_sync(facts: TriggerFacts, config: ApplicationConfig, now: datetime) -> TriggerDecision:
    settings = config.trigger.on_out_of_sync
    if settings.disabled:
        return _no("trigger.onOutOfSync is disabled")
    if facts.last is not None and (facts.last.completed_at is None or not facts.last.status.is_terminal):
        return _no("It is out of sync, but its last deployment has not ended yet")
    if facts.drift is not None and (reason := not_mended(facts.drift, facts.last)):
        return _no(reason)
    ended_at = facts.last.completed_at if facts.last is not None else None
    if ended_at is not None and now < ended_at + settings.min_window:
        since = f"its last deployment ended less than trigger.onOutOfSync.minWindow ({settings.min_window}) ago"
        return _no(f"It is out of sync, but {since}")
    return _yes(DRIFTED)


def not_mended(drift: Drift, last: LastDeployment | None) -> str:
    """Why deploying again would leave a difference as it is; empty where it may take it away.

    A deployment that failed says nothing about that: the cluster may have been away.
    """
    tried = last is not None and last.drift == drift.digest and last.status is DeploymentStatus.SUCCEEDED
    if drift.mendable and (not tried or drift.anew):
        return ""
    return f"It differs from Git in a way that deploying again does not mend: {drift.words}"


def _yes(reason: str, strategy: SyncStrategy = SyncStrategy.AUTO) -> TriggerDecision:
    return TriggerDecision(outcome=TriggerOutcome.TRIGGER, reason=reason, sync_strategy=strategy)


def _no(reason: str) -> TriggerDecision:
    return TriggerDecision(outcome=TriggerOutcome.NO, reason=reason)


def _declined(facts: TriggerFacts, reason: str) -> TriggerDecision:
    """A no to whoever did not ask, a rejection to whoever did."""
    asked = facts.kind in {TriggerKind.COMMAND, TriggerKind.CHAIN}
    return TriggerDecision(outcome=TriggerOutcome.REJECT if asked else TriggerOutcome.NO, reason=reason)


def _short(commit_hash: str) -> str:
    return commit_hash[:7]


def with_its_turn(reason: str, behind: bool, waiting: str, block: int = 0) -> str:
    """Why a deployment was made, and when its turn comes: after others of its application that were open then
    (`behind`), or after the block of its chain before its own.

    Nobody can change a pending deployment's reason (PipeCD's server takes no such report), so it says what stays true
    until it is planned. Which ones it waits for right now the server says, which sees them end.
    `waiting` is what the file says of those that wait.
    """
    if block:
        reason = f"{reason}; its turn comes when block {block - 1} of the chain has succeeded"
    if not behind:
        return reason
    meanwhile = (
        "a newer commit takes its place until then" if waiting == "newest" else "newer commits wait for theirs after it"
    )
    return f"{reason}; its turn comes after the deployments of its application before it ({meanwhile})"


def turn(deployment: Deployment) -> tuple[bool, float, float]:
    """The order in which deployments of one application have their turn: what was begun first, then by commit."""
    trigger = deployment.trigger
    return (not deployment.stages, trigger.commit.created_at.timestamp(), trigger.at.timestamp())


def is_superseded(waiting: Deployment, newest: Deployment) -> bool:
    """Whether a deployment that has not begun is needless once another is made: a push that a later push includes."""
    asked_for = bool(waiting.trigger.commander or waiting.chain_id)
    another = waiting.id != newest.id and waiting.application_id == newest.application_id
    older = waiting.trigger.commit.created_at <= newest.trigger.commit.created_at
    return another and older and not asked_for and waiting.status is DeploymentStatus.PENDING
