"""Cancelling deployments, and approving and skipping their stages.

Each of them is a command for the agent that runs the deployment. The deployment is locked while it is decided, so two
who ask at once are judged one after the other; asking for what already waits gives the command that was made before.
"""

import enum
from datetime import datetime
from typing import Any

import msgspec
from sqlalchemy import Connection

from fairway.model.command import ApproveStage, CancelDeployment, Command, CommandStatus, SkipStage
from fairway.model.deployment import Deployment
from fairway.model.role import Action, Resource
from fairway.model.stage import Approval, ManualOperation, Stage
from fairway.server import commands as new_commands
from fairway.server.actions.approvals import operable_stage
from fairway.server.actions.audit import record
from fairway.server.actions.desk import ActionDesk
from fairway.server.callers import Caller
from fairway.server.hints import HintTopic
from fairway.server.permissions import permit
from fairway.server.status_codes import NotNow
from fairway.server.store import commands, deployments
from fairway.server.store.errors import NotFound


class Rollback(enum.Enum):
    """What a cancelled deployment does about the work that was done."""

    #: What the application's file says.
    DEFAULT = "default"
    #: Undo it, even where the file says not to.
    ALWAYS = "always"
    #: Leave it, even where the file says to undo it.
    NEVER = "never"


class _Asked(msgspec.Struct, frozen=True):
    """What somebody asks of a deployment's agent."""

    caller: Caller
    request: new_commands.Request

    @property
    def at(self) -> datetime:
        return self.request.at


async def cancel_deployment(
    desk: ActionDesk, caller: Caller, deployment_id: str, rollback: Rollback = Rollback.DEFAULT
) -> Command:
    """Ask the agent to give a deployment up."""
    asked = _asked(desk, caller)
    payload = CancelDeployment(
        deployment_id=deployment_id,
        force_rollback=rollback is Rollback.ALWAYS,
        force_no_rollback=rollback is Rollback.NEVER,
    )

    def cancel(connection: Connection) -> Command:
        deployment = _permitted(connection, caller, deployment_id, Action.CANCEL)
        if deployment.status.is_terminal:
            raise NotNow(f"deployment {deployment.id} cannot be cancelled: it is {deployment.status.value} already")
        return _once(connection, asked, deployment, payload, {"rollback": rollback})

    return await _tell(desk, await desk.store.write(cancel))


async def approve_stage(desk: ActionDesk, caller: Caller, deployment_id: str, stage_id: str) -> Command:
    """Say yes to a stage that waits for it. Whoever says it twice counts once."""
    asked = _asked(desk, caller)

    def approve(connection: Connection) -> Command:
        deployment = _permitted(connection, caller, deployment_id, Action.APPROVE)
        stage = operable_stage(deployment, stage_id, ManualOperation.APPROVE, caller)
        given = next((approval for approval in stage.approvals if approval.by == caller.name), None)
        told = _still_counts(connection, given, asked.at)
        if told is not None:
            return told
        command = _command(connection, asked, deployment, ApproveStage(deployment_id=deployment.id, stage_id=stage_id))
        said = Approval(by=caller.name, at=asked.at if given is None else given.at, command_id=command.id)
        approvals = (*(other for other in stage.approvals if other.by != caller.name), said)
        approved = msgspec.structs.replace(stage, approvals=approvals)
        deployments.update_deployment(connection, deployment.id, lambda found: _with(found, stage, approved, asked.at))
        names = {"approvals": [approval.by for approval in stage.approvals]}
        after = {"stage": stage.name, "command_id": command.id, "approvals": [approval.by for approval in approvals]}
        _record(connection, asked, deployment, ("approve_stage", names, after))
        return command

    return await _tell(desk, await desk.store.write(approve))


async def skip_stage(desk: ActionDesk, caller: Caller, deployment_id: str, stage_id: str) -> Command:
    """Let the deployment go on without the rest of a stage."""
    asked = _asked(desk, caller)

    def skip(connection: Connection) -> Command:
        deployment = _permitted(connection, caller, deployment_id, Action.SKIP)
        stage = operable_stage(deployment, stage_id, ManualOperation.SKIP, caller)
        payload = SkipStage(deployment_id=deployment.id, stage_id=stage.id)
        return _once(connection, asked, deployment, payload, {"stage": stage.name})

    return await _tell(desk, await desk.store.write(skip))


def _asked(desk: ActionDesk, caller: Caller) -> _Asked:
    request = new_commands.Request(command_id=desk.new_id(), commander=caller.name, at=desk.clock.now())
    return _Asked(caller, request)


def _permitted(connection: Connection, caller: Caller, deployment_id: str, action: Action) -> Deployment:
    """The deployment, locked until the transaction ends."""
    deployment = deployments.update_deployment(connection, deployment_id, lambda found: found)
    permit(caller, Resource.DEPLOYMENT, action, deployment.project_id, deployment.labels)
    return deployment


def _once(
    connection: Connection,
    asked: _Asked,
    deployment: Deployment,
    payload: CancelDeployment | SkipStage,
    after: dict[str, Any],
) -> Command:
    """The command that asks for it: the one that waits already, or a new one."""
    for waiting in commands.list_unhandled_commands(connection, deployment.agent_id):
        if waiting.payload == payload and new_commands.expire(waiting, asked.at) is waiting:
            return waiting
    command = _command(connection, asked, deployment, payload)
    verb = "cancel" if isinstance(payload, CancelDeployment) else "skip_stage"
    _record(connection, asked, deployment, (verb, {}, {**after, "command_id": command.id}))
    return command


def _command(
    connection: Connection, asked: _Asked, deployment: Deployment, payload: CancelDeployment | ApproveStage | SkipStage
) -> Command:
    command = new_commands.about_deployment(deployment, payload, asked.request)
    commands.insert_command(connection, command)
    return command


def _still_counts(connection: Connection, given: Approval | None, now: datetime) -> Command | None:
    """The command of an approval, unless its agent never acted on it: then it must be told anew."""
    if given is None:
        return None
    try:
        command = new_commands.expire(commands.load_command(connection, given.command_id), now)
    except NotFound:
        return None
    return command if command.status in {CommandStatus.WAITING, CommandStatus.SUCCEEDED} else None


def _with(deployment: Deployment, stage: Stage, approved: Stage, at: datetime) -> Deployment:
    stages = tuple(approved if found == stage else found for found in deployment.stages)
    return msgspec.structs.replace(deployment, stages=stages, updated_at=at)


def _record(
    connection: Connection, asked: _Asked, deployment: Deployment, change: tuple[str, dict[str, Any], dict[str, Any]]
) -> None:
    verb, before, after = change
    record(
        connection,
        asked.caller,
        asked.at,
        action=f"deployment.{verb}",
        subject_id=deployment.id,
        subject_name=deployment.application_name,
        before=before,
        after=after,
    )


async def _tell(desk: ActionDesk, command: Command) -> Command:
    desk.hints.publish(command.agent_id, HintTopic.COMMANDS)
    return command
