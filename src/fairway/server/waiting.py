"""What a deployment or a command waits for, in words: nobody should look at "running" and wonder whose turn it is.

Pure. Whether the agent in question has been heard lately is part of the sentence, because an agent that is gone is the
commonest reason why nothing moves.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

import msgspec

from fairway.delivery.trigger import turn
from fairway.model.command import Command, CommandStatus
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.stage import MINIMUM_APPROVALS, WAITS_FOR, ManualOperation, Stage, StageStatus
from fairway.server.actions.agents import ONLINE_FOR


class KnownAgent(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of the agent whose turn it may be."""

    name: str
    #: None before it was ever heard.
    last_seen: datetime | None
    disabled: bool = False


class Onlooker(msgspec.Struct, frozen=True):
    """Who looks, at which moment, which agents they know by id, and which deployments are open."""

    agents: Mapping[str, KnownAgent]
    now: datetime
    #: Those that others may be behind.
    open: Sequence[Deployment] = ()

    def agent(self, agent_id: str) -> str:
        """The agent in words, with what keeps it from acting."""
        agent = self.agents.get(agent_id)
        if agent is None:
            return f"agent {agent_id}, which is not there any more,"
        trouble = _trouble(agent, self.now)
        return f"agent {agent.name}, {trouble}," if trouble else f"agent {agent.name}"


def deployment_waits_for(deployment: Deployment, onlooker: Onlooker) -> str:
    """What has to happen before the deployment goes on, and what keeps its agent from it, where it has said so; empty
    once it has ended."""
    next_step, trouble = _next_step(deployment, onlooker), deployment.shared_metadata.get(WAITS_FOR, "")
    return f"{next_step}: {trouble}" if next_step and trouble else next_step


def _next_step(deployment: Deployment, onlooker: Onlooker) -> str:
    agent = onlooker.agent(deployment.agent_id)
    match deployment.status:
        case DeploymentStatus.PENDING:
            before = filter(None, (_block_before(deployment), _turns_before(deployment, onlooker.open)))
            return ", and ".join((*before, f"{agent} to plan it"))
        case DeploymentStatus.PLANNED:
            return f"{agent} to start its first stage"
        case DeploymentStatus.RUNNING | DeploymentStatus.ROLLING_BACK:
            return _stage_waits_for(deployment, agent)
    return ""


def command_waits_for(command: Command, onlooker: Onlooker) -> str:
    """What has to happen before the command is answered; empty once it is, or has timed out."""
    if command.status is not CommandStatus.WAITING:
        return ""
    return f"{onlooker.agent(command.agent_id)} to take the command"


def awaits_approval(deployment: Deployment) -> bool:
    """Whether a person's yes is all that is missing."""
    return any(_needs_approval(stage) for stage in _running(deployment))


def _block_before(deployment: Deployment) -> str:
    if not deployment.chain_id or not deployment.chain_block_index:
        return ""
    return f"block {deployment.chain_block_index - 1} of chain {deployment.chain_id} to succeed"


def _turns_before(deployment: Deployment, open: Iterable[Deployment]) -> str:
    """The deployments of the same application that its agent brings to their end first."""
    whose = (deployment.agent_id, deployment.application_id)
    before = [each for each in open if (each.agent_id, each.application_id) == whose and _is_before(each, deployment)]
    if not before:
        return ""
    first = min(before, key=lambda each: (each.status is DeploymentStatus.PENDING, turn(each)))
    stands = f"is {first.status.value.replace('_', ' ')}"
    if len(before) == 1:
        return f"deployment {first.id}, which {stands}, to end"
    return f"{len(before)} deployments before it to end, of which {first.id} {stands}"


def _is_before(other: Deployment, deployment: Deployment) -> bool:
    # One that has been planned has its turn, whatever its commit.
    begun = other.status is not DeploymentStatus.PENDING
    return not other.status.is_terminal and other.id != deployment.id and (begun or turn(other) < turn(deployment))


def _stage_waits_for(deployment: Deployment, agent: str) -> str:
    running = _running(deployment)
    if not running:
        step = "the rollback" if deployment.status is DeploymentStatus.ROLLING_BACK else "the next stage"
        return f"{agent} to start {step}, or to end the deployment"
    stage = next((stage for stage in running if _needs_approval(stage)), running[0])
    called = f"stage {deployment.stages.index(stage) + 1} ({stage.name})"
    if _needs_approval(stage):
        return _approval(stage, called)
    skip = ", or somebody to skip it" if stage.available_operation is ManualOperation.SKIP else ""
    waits = f"; that waits for {stage.waits_for}" if stage.waits_for else ""
    return f"{agent} to end {called}{skip}{waits}"


def _approval(stage: Stage, called: str) -> str:
    given = ", ".join(approval.by for approval in stage.approvals)
    wanted = ", ".join(stage.authorized_operators) or "everybody with a role that allows it"
    return f"approval of {called}: {_count(stage, given)}, may approve: {wanted}"


def _count(stage: Stage, given: str) -> str:
    if MINIMUM_APPROVALS in stage.metadata:
        return f"{len(stage.approvals)} of {stage.minimum_approvals}" + (f" ({given})" if given else "")
    # PipeCD's agents count themselves, and tell nobody up to what.
    return f"given by {given} (only its agent knows how many it needs)" if given else "given by nobody"


def _running(deployment: Deployment) -> list[Stage]:
    if deployment.status.is_terminal:
        return []
    return [stage for stage in deployment.stages if stage.status is StageStatus.RUNNING]


def _needs_approval(stage: Stage) -> bool:
    return stage.available_operation is ManualOperation.APPROVE


def _trouble(agent: KnownAgent, now: datetime) -> str:
    if agent.disabled:
        return "which is disabled"
    if agent.last_seen is None:
        return "which was never seen"
    silent = now - agent.last_seen
    return f"last seen {_ago(silent)} ago" if silent > ONLINE_FOR else ""


def _ago(span: timedelta) -> str:
    minutes = int(span.total_seconds()) // 60
    for size, word in ((24 * 60, "day"), (60, "hour")):
        if minutes >= 2 * size:
            return f"{minutes // size} {word}s"
    return f"{minutes} minutes"
