"""Asking what merging a branch would deploy: a command for each agent that follows the repository."""

from datetime import timedelta

import msgspec
from sqlalchemy import Connection

from fairway.git.remote import parse_remote, redacted
from fairway.model.agent import Agent
from fairway.model.command import BuildPlanPreview, Command
from fairway.model.role import Action, Resource
from fairway.server import commands as new_commands
from fairway.server.actions.audit import record
from fairway.server.actions.desk import ActionDesk
from fairway.server.callers import Caller
from fairway.server.hints import HintTopic
from fairway.server.permissions import permit
from fairway.server.remotes import same_repository
from fairway.server.store import agents, commands

#: Whom a command names as its author; agents and tools know the word.
COMMANDER = "pipectl"


class PreviewRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Which merge is meant."""

    #: As people clone the repository, or the id that agents give it.
    remote: str
    head_branch: str
    head_commit: str
    base_branch: str
    #: `None` leaves it to the agent.
    timeout: timedelta | None = None


async def request_plan_preview(desk: ActionDesk, caller: Caller, asked: PreviewRequest) -> tuple[Command, ...]:
    """Ask every enabled agent that follows the base branch; none is no error."""
    parse_remote(asked.remote)
    now = desk.clock.now()

    def ask(connection: Connection) -> tuple[Command, ...]:
        permit(caller, Resource.DEPLOYMENT, Action.CREATE, caller.project_id)
        made = []
        for agent in agents.list_agents(connection, caller.project_id):
            repository_id = followed_repository(agent, asked.remote, asked.base_branch)
            if repository_id is not None:
                request = new_commands.Request(command_id=desk.new_id(), commander=COMMANDER, at=now)
                made.append(new_commands.build_plan_preview(agent, _preview(repository_id, asked), request))
        for command in made:
            commands.insert_command(connection, command)
        if made:
            said = {**msgspec.structs.asdict(asked), "remote": redacted(asked.remote)}
            told = {**said, "command_ids": [command.id for command in made]}
            record(connection, caller, now, action="deployment.preview", subject_id=asked.head_commit, after=told)
        return tuple(made)

    made = await desk.store.write(ask)
    for command in made:
        desk.hints.publish(command.agent_id, HintTopic.COMMANDS)
    return made


def followed_repository(agent: Agent, remote: str, branch: str) -> str | None:
    """The id under which an enabled agent follows this branch of this repository; `None` when it does not."""
    if agent.disabled:
        return None
    repositories = (known for known in agent.profile.repositories if known.branch == branch)
    return next(
        (known.id for known in repositories if known.id == remote or same_repository(known.remote, remote)), None
    )


def _preview(repository_id: str, asked: PreviewRequest) -> BuildPlanPreview:
    return BuildPlanPreview(
        repository_id=repository_id,
        head_branch=asked.head_branch,
        head_commit=asked.head_commit,
        base_branch=asked.base_branch,
        timeout=asked.timeout,
    )
