"""What is asked of agents and told to them from outside: commands and events."""

from fairway.rpc.convert.command import to_wire_command
from fairway.rpc.user_api import messages as m
from fairway.server.actions import applications, commands, events
from fairway.server.actions.desk import ActionDesk
from fairway.server.actions.events import NewEvent
from fairway.server.callers import Caller


async def sync_application(
    desk: ActionDesk, caller: Caller, request: m.SyncApplicationRequest
) -> m.SyncApplicationResponse:
    """Ask for a deployment; the answer names the command to follow."""
    command = await applications.sync_application(desk, caller, request.application_id)
    return m.SyncApplicationResponse(command_id=command.id)


async def get_command(desk: ActionDesk, caller: Caller, request: m.GetCommandRequest) -> m.GetCommandResponse:
    """How far a command has come."""
    found = await commands.get_command(desk, caller, request.command_id)
    return m.GetCommandResponse(command=to_wire_command(found))


async def register_event(desk: ActionDesk, caller: Caller, request: m.RegisterEventRequest) -> m.RegisterEventResponse:
    """Tell of something new, such as an image; agents that watch for it write it into Git."""
    new = NewEvent(
        name=request.name,
        data=request.data,
        labels=dict(request.labels),
        contexts=dict(request.contexts),
        commit_hash=request.commit_hash,
    )
    event = await events.register_event(desk, caller, new)
    return m.RegisterEventResponse(event_id=event.id)
