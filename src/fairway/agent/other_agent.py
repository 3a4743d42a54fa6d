"""Deployments that another agent, such as PipeCD's, has begun: what it may still do, and what it reports meanwhile."""

from collections.abc import Callable, Coroutine, Mapping
from datetime import timedelta
from typing import Any, Final

import structlog

from fairway.agent import reports
from fairway.agent.control_plane import ServerAway, ServerRefused
from fairway.agent.outbox import Outbox
from fairway.agent.stage_logs import deliver_log
from fairway.clock import Clock
from fairway.delivery.another_agent import SCRIPTS, STARTED_BY
from fairway.model.deployment import Deployment
from fairway.model.log_block import LogBlock, LogSeverity
from fairway.model.stage import Stage, StageStatus
from fairway.rpc.plugin_api import PLACE_KEY

_log = structlog.get_logger()

#: A deployment as the server has it.
Find = Callable[[str], Coroutine[Any, Any, Deployment]]
#: The time without a report after which another agent counts as gone.
QUIET: Final = timedelta(seconds=5)


def started_key(stage: Stage) -> str:
    """The note that a stage was begun, as plugins of scripts call it."""
    return f"started-{stage.index}"


def place_of(stage: Stage, notes: Mapping[str, str], planned_here: bool) -> str:
    """Where the plugin of a new stage will run its script; empty where it has not said so for this agent."""
    return stage.metadata.get(PLACE_KEY, "") if planned_here and started_key(stage) not in notes else ""


def start_notes(stage: Stage) -> dict[str, str]:
    """The notes of a stage that this agent starts: they tell its script from another agent's."""
    return {STARTED_BY: "fairway"} if stage.name in SCRIPTS else {}


async def report_wait(outbox: Outbox, clock: Clock, deployment: Deployment, stage: Stage, reason: str) -> None:
    """Write to the logs of agent and stage what the deployment waits for."""
    _log.warning("deployment waits for the script of another agent", deployment=deployment.id, waits_for=reason)
    if stage.status is StageStatus.RUNNING:
        place, now = reports.LogPlace(deployment.id, stage.id, stage.retried_count), clock.now()
        # Above the numbers of PipeCD's plugins, which count from the time in seconds.
        number = int(now.timestamp() * 1_000_000)
        block = LogBlock(index=number, log=f"Waiting for {reason}", created_at=now, severity=LogSeverity.ERROR)
        await deliver_log(outbox, place, reports.logged(place, [block], completed=False))


async def as_reported(outbox: Outbox, find: Find, deployment: Deployment) -> Deployment:
    """The deployment as the server has it, where another agent has reported a change of its status or stages."""
    if outbox.keeps(deployment.id):
        return deployment
    try:
        found = await find(deployment.id)
    except (ServerAway, ServerRefused):
        return deployment
    return deployment if _statuses(found) == _statuses(deployment) else found


def _statuses(deployment: Deployment) -> tuple[object, ...]:
    return (deployment.status, *(stage.status for stage in deployment.stages))
