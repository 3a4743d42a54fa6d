"""How far commands have come. Who may see what a command is about may see the command.

One that its agent left unanswered for too long is shown as timed out, and stored so when it is asked for by itself.
"""

import msgspec
from sqlalchemy import Connection

from fairway.model.command import Command
from fairway.model.role import Action, Resource
from fairway.server import commands as new_commands
from fairway.server.actions.desk import ActionDesk
from fairway.server.callers import Caller
from fairway.server.permissions import may, permit, scope
from fairway.server.store import applications, commands
from fairway.server.store.commands import CommandFilter
from fairway.server.store.page import Page, PageRequest


async def get_command(desk: ActionDesk, caller: Caller, command_id: str) -> Command:
    """One command."""
    now = desk.clock.now()

    def load(connection: Connection) -> Command:
        command = commands.load_command(connection, command_id)
        if command.application_id:
            labels = applications.load_labels(connection, command.application_id)
            permit(caller, Resource.APPLICATION, Action.READ, command.project_id, labels)
        else:
            permit(caller, Resource.AGENT, Action.READ, command.project_id)
        return command

    found = await desk.store.read(load)
    if new_commands.expire(found, now) is found:
        return found
    return await desk.store.write(
        lambda connection: commands.update_command(
            connection, command_id, lambda waiting: new_commands.expire(waiting, now)
        )
    )


async def list_commands(desk: ActionDesk, caller: Caller, wanted: CommandFilter, page: PageRequest) -> Page[Command]:
    """One page of the commands that fit and that the caller may see, newest first."""
    now = desk.clock.now()
    seen = msgspec.structs.replace(
        wanted,
        project_id=caller.project_id,
        scope=scope(caller, Resource.APPLICATION).any_of,
        about_agents=may(caller, Resource.AGENT, Action.READ, caller.project_id),
    )
    found = await desk.store.read(lambda connection: commands.list_commands(connection, seen, page))
    return Page(tuple(new_commands.expire(command, now) for command in found.items), found.cursor)
