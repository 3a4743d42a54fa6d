"""What agents answered to the question what a merge would deploy, or the reason why there is no answer.

A caller asks again and again until there is one, so there must be one in the end: an agent that is not connected, or
that takes too long, is answered for with the reason.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

import msgspec
from sqlalchemy import Connection

from fairway.model.agent import Agent, ConnectionStatus
from fairway.model.command import BuildPlanPreview, Command, CommandStatus
from fairway.model.plan_preview import PlanPreview
from fairway.model.role import Action, Resource
from fairway.rpc.convert.plan_preview import from_command_output
from fairway.rpc.convert.wire_enum import WireError
from fairway.server.actions.agents import connection_status
from fairway.server.actions.desk import ActionDesk
from fairway.server.callers import Caller
from fairway.server.permissions import permit
from fairway.server.status_codes import InvalidRequest, NotNow
from fairway.server.store import agents, commands
from fairway.server.store.errors import NotFound

#: How long an agent may take when the caller does not say.
DEFAULT_LIMIT = timedelta(minutes=5)
#: How long an answer can be fetched: what a merge would do is soon out of date.
READABLE_FOR = timedelta(hours=24)


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One agent's command, and all that is known of its answer."""

    command: Command
    agent: Agent
    #: The agent's.
    connection: ConnectionStatus
    #: `None` when the agent has sent nothing.
    output: bytes | None = None


async def list_previews(
    desk: ActionDesk, caller: Caller, command_ids: Iterable[str], limit: timedelta | None = None
) -> tuple[tuple[Asked, PlanPreview | None], ...]:
    """What there is to each command; no preview while it is worth waiting for."""
    now = desk.clock.now()

    def load(connection: Connection) -> list[Asked]:
        return [_load(connection, caller, command_id, now) for command_id in dict.fromkeys(command_ids)]

    found = await desk.store.read(load)
    decided = [(asked, decide_preview(asked, now, limit or _limit(asked.command))) for asked in found]
    return tuple((asked, preview and _with_pages(preview, desk.web_url)) for asked, preview in decided)


def _limit(command: Command) -> timedelta:
    """How long the agent was given."""
    given = command.payload.timeout if isinstance(command.payload, BuildPlanPreview) else None
    return given or DEFAULT_LIMIT


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
        # One that is not registered has no page.
        msgspec.structs.replace(found, application_url=f"{web_url}/applications/{found.application_id}")
        if found.application_id
        else found
        for found in preview.applications
    )
    return msgspec.structs.replace(preview, agent_url=f"{web_url}/settings/piped", applications=applications)
