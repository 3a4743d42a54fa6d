"""What merging a branch would deploy: asked of every agent that follows the repository, answered when all have.

A caller asks again and again until there is an answer, so there must be one in the end: an agent that is not connected,
or that takes too long, is answered for with the reason.
"""

from datetime import datetime, timedelta

import msgspec
from sqlalchemy import Connection

from fairway.errors import UserError
from fairway.model.agent import Agent, ConnectionStatus
from fairway.model.command import BuildPlanPreview, Command, CommandStatus
from fairway.model.plan_preview import PlanPreview
from fairway.model.role import Action, Resource
from fairway.rpc.convert.plan_preview import from_command_output, to_wire_plan_preview
from fairway.rpc.convert.wire_enum import WireError
from fairway.rpc.convert.wire_time import from_wire_duration
from fairway.rpc.user_api import messages as m
from fairway.server.actions import plan_previews
from fairway.server.actions.agents import connection_status
from fairway.server.actions.desk import ActionDesk
from fairway.server.actions.plan_previews import PreviewRequest
from fairway.server.callers import Caller
from fairway.server.permissions import permit
from fairway.server.status_codes import InvalidRequest, NotNow
from fairway.server.store import agents, commands
from fairway.server.store.errors import NotFound

#: How long an agent may take when the caller does not say.
DEFAULT_LIMIT = timedelta(minutes=5)
#: How long an answer can be fetched: what a merge would do is soon out of date.
READABLE_FOR = timedelta(hours=24)


class StillWaiting(NotFound):
    """There is no preview yet: the status that callers of this service take for "ask again"."""

    def __init__(self, command_id: str) -> None:
        UserError.__init__(self, f"the agent has not answered command {command_id} yet; ask again in a few seconds")


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One agent's command, and all that is known of its answer."""

    command: Command
    agent: Agent
    #: The agent's.
    connection: ConnectionStatus
    #: `None` when the agent has sent nothing.
    output: bytes | None = None


async def request_plan_preview(
    desk: ActionDesk, caller: Caller, request: m.RequestPlanPreviewRequest
) -> m.RequestPlanPreviewResponse:
    """Ask every enabled agent that follows the base branch; none is no error."""
    asked = PreviewRequest(
        remote=request.repo_remote_url,
        head_branch=request.head_branch,
        head_commit=request.head_commit,
        base_branch=request.base_branch,
        timeout=from_wire_duration(request.timeout),
    )
    made = await plan_previews.request_plan_preview(desk, caller, asked)
    return m.RequestPlanPreviewResponse(commands=[command.id for command in made])


async def get_plan_preview_results(
    desk: ActionDesk, caller: Caller, request: m.GetPlanPreviewResultsRequest
) -> m.GetPlanPreviewResultsResponse:
    """The previews of all commands; NotFound while one of them is still being made."""
    now = desk.clock.now()
    limit = from_wire_duration(request.command_handle_timeout) or DEFAULT_LIMIT

    def load(connection: Connection) -> list[Asked]:
        return [_load(connection, caller, command_id, now) for command_id in dict.fromkeys(request.commands)]

    previews = []
    for asked in await desk.store.read(load):
        preview = decide_preview(asked, now, limit)
        if preview is None:
            raise StillWaiting(asked.command.id)
        previews.append(to_wire_plan_preview(_with_pages(preview, desk.web_url)))
    return m.GetPlanPreviewResultsResponse(results=previews)


def decide_preview(asked: Asked, now: datetime, limit: timedelta) -> PlanPreview | None:
    """The agent's preview, or the reason why there is none; `None` while it is worth waiting."""
    command = asked.command
    if command.status is not CommandStatus.WAITING:
        if now - (command.handled_at or command.updated_at) > READABLE_FOR:
            hours = READABLE_FOR // timedelta(hours=1)
            raise NotNow(f"command {command.id} was answered more than {hours} hours ago; ask for a new preview")
        return _answered(asked)
    if asked.connection is not ConnectionStatus.ONLINE:
        return _failed(asked, "the agent is not connected; start it, or see its log, and ask again")
    if now - command.created_at > limit:
        seconds = limit // timedelta(seconds=1)
        return _failed(asked, f"the agent did not answer within {seconds} seconds; give it longer, or see its log")
    return None


def _answered(asked: Asked) -> PlanPreview:
    if asked.output is None:
        return _failed(asked, f"the agent sent no preview with its answer ({asked.command.status.value}); see its log")
    try:
        preview = from_command_output(asked.output)
    except WireError as error:
        return _failed(asked, f"the agent's answer cannot be read: {error}")
    # Whose preview it is, is what the server knows of the command, whatever the agent wrote into it.
    return msgspec.structs.replace(
        preview, command_id=asked.command.id, agent_id=asked.agent.id, agent_name=asked.agent.name
    )


def _failed(asked: Asked, reason: str) -> PlanPreview:
    return PlanPreview(command_id=asked.command.id, agent_id=asked.agent.id, agent_name=asked.agent.name, error=reason)


def _load(connection: Connection, caller: Caller, command_id: str, now: datetime) -> Asked:
    command = commands.load_command(connection, command_id)
    permit(caller, Resource.DEPLOYMENT, Action.READ, command.project_id)
    if not isinstance(command.payload, BuildPlanPreview):
        raise InvalidRequest(f"command {command_id} asks for no plan preview; name those of RequestPlanPreview")
    try:
        output = commands.load_command_output(connection, command_id)
    except NotFound:
        output = None
    return Asked(
        command=command,
        agent=agents.load_agent(connection, command.agent_id),
        connection=connection_status(agents.last_seen(connection, command.agent_id), now),
        output=output,
    )


def _with_pages(preview: PlanPreview, web_url: str) -> PlanPreview:
    """The preview with the web pages of its agent and applications."""
    if not web_url:
        return preview
    applications = tuple(
        msgspec.structs.replace(found, application_url=f"{web_url}/applications/{found.application_id}")
        for found in preview.applications
    )
    return msgspec.structs.replace(preview, agent_url=f"{web_url}/settings/piped", applications=applications)
