"""Makes deployments: for commits that touch an application, for commands that ask for one, and against drift.

What `delivery.trigger` decides is done here. An application's changes are counted from the commit that was deployed or
examined last; what was examined is remembered while the agent runs, and worked out again after a restart.
"""

from collections.abc import Callable, Iterable
from datetime import datetime

import msgspec

from fairway.agent.applications import KnownApplication, kind_of
from fairway.config.application import ApplicationConfig
from fairway.delivery.commit import Touched, TouchIndex, TouchRule
from fairway.delivery.trigger import (
    DRIFT_NOTE,
    Drift,
    LastDeployment,
    TriggerDecision,
    TriggerFacts,
    decide_trigger,
    with_its_turn,
)
from fairway.git.errors import GitNotFound
from fairway.git.history import Commit as GitCommit
from fairway.git.mirror import Mirror
from fairway.git.remote import commit_url
from fairway.model.application import Application, ApplicationKind, GitPath, Repository
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.trigger import Commit, SyncStrategy, Trigger, TriggerKind

#: The trailer with which a commit names the commit of another repository that led to it.
TRACE_TRAILER = "Pipecd-Dev-Trace-Trigger-Commit-Hash"


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """Somebody asks for a deployment."""

    kind: TriggerKind
    strategy: SyncStrategy = SyncStrategy.AUTO
    commander: str = ""
    chain_id: str = ""
    chain_block_index: int = 0
    #: For drift: the digest of the difference.
    drift: str = ""
    #: The id that the deployment is to have; empty where any will do.
    deployment_id: str = ""


class Triggered(msgspec.Struct, frozen=True):
    """One application, and whether it is deployed now."""

    known: KnownApplication
    decision: TriggerDecision


async def examine(
    mirror: Mirror, known: Iterable[KnownApplication], examined: dict[str, str], now: datetime
) -> list[Triggered]:
    """Which applications the newest commit deploys. `examined` (application id → commit) is brought up to date."""
    applications = tuple(known)
    touched = await _touched(mirror, applications, examined)
    found: list[Triggered] = []
    for each in applications:
        facts = _facts(each, touched.get(each.application.id), Asked(kind=TriggerKind.COMMIT))
        decision = decide_trigger(facts, now)
        if decision.examined:
            examined[each.application.id] = each.commit
        found.append(Triggered(each, decision))
    return found


def asked_for(known: KnownApplication, asked: Asked, now: datetime) -> Triggered:
    """Whether an application is deployed because somebody asks for it."""
    return Triggered(known, decide_trigger(_facts(known, None, asked), now))


def drifted(known: KnownApplication, drift: Drift, last: LastDeployment | None, now: datetime) -> Triggered:
    """Whether an application is deployed again because what runs differs from Git."""
    facts = _facts(known, None, Asked(kind=TriggerKind.OUT_OF_SYNC))
    return Triggered(known, decide_trigger(msgspec.structs.replace(facts, last=last, drift=drift), now))


class NewDeployment(msgspec.Struct, frozen=True, kw_only=True):
    """What a deployment is made from."""

    triggered: Triggered
    commit: GitCommit
    repository: Repository
    mirror: Mirror
    asked: Asked
    #: Whether another deployment of the same application has its turn.
    behind: bool = False


def new_deployment(new: NewDeployment, new_id: Callable[[], str], now: datetime) -> Deployment:
    """The deployment of one application to one commit, waiting for its plan."""
    application, config = new.triggered.known.application, new.triggered.known.config
    commit = new.commit
    return Deployment(
        id=new.asked.deployment_id or new_id(),
        application_id=application.id,
        application_name=application.name,
        agent_id=application.agent_id,
        project_id=application.project_id,
        git_path=_place(application, new.repository),
        trigger=Trigger(
            commit=Commit(
                hash=commit.hash,
                message=commit.message,
                author=commit.author,
                branch=new.repository.branch,
                created_at=commit.committed_at,
                url=commit_url(new.mirror.remote, commit.hash) or "",
            ),
            at=now,
            commander=new.asked.commander,
            sync_strategy=new.triggered.decision.sync_strategy,
            strategy_summary=new.triggered.decision.reason,
        ),
        kind=_kind(application, config),
        platform_provider=application.platform_provider,
        deploy_targets_by_plugin=application.deploy_targets_by_plugin,
        labels=application.labels,
        status_reason=with_its_turn(
            new.triggered.decision.reason,
            new.behind,
            config.trigger.waiting if config is not None else "",
            new.asked.chain_block_index,
        ),
        chain_id=new.asked.chain_id,
        chain_block_index=new.asked.chain_block_index,
        shared_metadata={DRIFT_NOTE: new.asked.drift} if new.asked.drift else {},
        trace_commit_hash=commit.trailer(TRACE_TRAILER) or "",
        created_at=now,
        updated_at=now,
    )


def _kind(application: Application, config: ApplicationConfig | None) -> ApplicationKind | None:
    """What the file says: who was registered without a kind comes with the first one over the wire, whatever it is."""
    if config is None or application.kind is None:
        return application.kind
    return kind_of(config)


async def _touched(mirror: Mirror, known: tuple[KnownApplication, ...], examined: dict[str, str]) -> dict[str, Touched]:
    """Application id → what shows that it has changed since it was last looked at."""
    by_commit: dict[str, list[KnownApplication]] = {}
    for each in known:
        last = examined.get(each.application.id) or _last_commit(each.application)
        if last and last != each.commit and each.config is not None:
            by_commit.setdefault(last, []).append(each)
    found: dict[str, Touched] = {}
    for last, changed in by_commit.items():
        files = await _changed_files(mirror, last, changed[0].commit)
        index = TouchIndex(map(touch_rule, changed))
        found |= {touched.application_id: touched for touched in index.touched_by(files)}
    return found


async def _changed_files(mirror: Mirror, last: str, head: str) -> list[str]:
    try:
        return [change.path for change in await mirror.changes(last, head)]
    except GitNotFound:
        # The commit before is gone, as after a forced push: then everything may have changed.
        return list(await mirror.tree(head))


def touch_rule(known: KnownApplication) -> TouchRule:
    """What counts as a change of an application, as its file says."""
    on_commit = known.config.trigger.on_commit if known.config else None
    return TouchRule(
        application_id=known.application.id,
        directory=known.application.git_path.path,
        paths=on_commit.paths if on_commit else (),
        ignores=on_commit.ignores if on_commit else (),
    )


def _facts(known: KnownApplication, touched: Touched | None, asked: Asked) -> TriggerFacts:
    last = known.application.last_triggered
    return TriggerFacts(
        kind=asked.kind,
        application=known.application,
        head_commit=known.commit,
        config=known.config,
        config_problem=known.problem,
        last=None
        if last is None
        else LastDeployment(
            commit_hash=last.trigger.commit.hash, status=DeploymentStatus.PENDING, completed_at=last.completed_at
        ),
        touched=touched,
        asked_strategy=asked.strategy,
        commander=asked.commander,
    )


def _last_commit(application: Application) -> str:
    last = application.last_triggered
    return last.trigger.commit.hash if last else ""


def _place(application: Application, repository: Repository) -> GitPath:
    return msgspec.structs.replace(application.git_path, repository=repository)
