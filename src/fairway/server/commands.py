"""Requests to agents, as they are made and as they grow old; pure decisions, stored by whoever asks.

A command waits until its agent answers. Agents leave some unanswered for ever (a sync of an application that
takes none by command, anything for an agent that is gone), so a command that nobody answered within a day
counts as timed out, whoever looks first.
"""

from datetime import datetime, timedelta

import msgspec

from fairway.model.agent import Agent
from fairway.model.application import Application
from fairway.model.command import (
    ApproveStage,
    BuildPlanPreview,
    CancelDeployment,
    Command,
    CommandStatus,
    RestartAgent,
    SkipStage,
    SyncApplication,
)
from fairway.model.deployment import Deployment
from fairway.model.trigger import SyncStrategy
from fairway.server.status_codes import NotNow

#: How long a command waits for its agent.
LIFETIME = timedelta(hours=24)


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks, when, and under which id."""

    command_id: str
    commander: str
    at: datetime


def sync_application(application: Application, request: Request, strategy: SyncStrategy = SyncStrategy.AUTO) -> Command:
    """Ask the application's agent to deploy it now; NotNow where no agent would answer."""
    if application.disabled or application.deleted_at is not None:
        state = "disabled" if application.deleted_at is None else "deleted"
        raise NotNow(f"application {application.id} is {state}, so its agent deploys nothing of it; enable it first")
    return Command(
        id=request.command_id,
        agent_id=application.agent_id,
        project_id=application.project_id,
        application_id=application.id,
        payload=SyncApplication(application_id=application.id, sync_strategy=strategy),
        commander=request.commander,
        created_at=request.at,
        updated_at=request.at,
    )


def about_deployment(
    deployment: Deployment, payload: CancelDeployment | ApproveStage | SkipStage, request: Request
) -> Command:
    """Ask the agent that runs a deployment to do something to it."""
    return Command(
        id=request.command_id,
        agent_id=deployment.agent_id,
        project_id=deployment.project_id,
        application_id=deployment.application_id,
        deployment_id=deployment.id,
        stage_id="" if isinstance(payload, CancelDeployment) else payload.stage_id,
        payload=payload,
        commander=request.commander,
        created_at=request.at,
        updated_at=request.at,
    )


def restart_agent(agent: Agent, request: Request) -> Command:
    """Ask an agent to end its process; NotNow where it would not be told."""
    if agent.disabled:
        raise NotNow(f"agent {agent.id} is disabled, so it is told nothing; enable it first")
    return Command(
        id=request.command_id,
        agent_id=agent.id,
        project_id=agent.project_id,
        payload=RestartAgent(agent_id=agent.id),
        commander=request.commander,
        created_at=request.at,
        updated_at=request.at,
    )


def build_plan_preview(agent: Agent, preview: BuildPlanPreview, request: Request) -> Command:
    """Ask an agent what a merge would deploy."""
    return Command(
        id=request.command_id,
        agent_id=agent.id,
        project_id=agent.project_id,
        payload=preview,
        commander=request.commander,
        created_at=request.at,
        updated_at=request.at,
    )


def expire(command: Command, now: datetime) -> Command:
    """The command as it stands now: itself, or timed out when nobody answered for too long."""
    if command.status is not CommandStatus.WAITING or now - command.created_at < LIFETIME:
        return command
    return msgspec.structs.replace(command, status=CommandStatus.TIMED_OUT, updated_at=now, handled_at=now)
