"""What is asked of agents and told to them from outside: commands and events.

A command is stored, then its agent gets a hint, so that it need not wait for its next poll.
"""

from sqlalchemy import Connection

from fairway.model.command import Command
from fairway.model.event import Event, event_key
from fairway.rpc.convert.command import to_wire_command
from fairway.rpc.user_api import messages as m
from fairway.server import commands as new_commands
from fairway.server.hints import HintTopic
from fairway.server.store import applications, commands, events
from fairway.server.user_auth import ApiIdentity
from fairway.server.user_service.applications import check_application
from fairway.server.user_service.desk import Desk, check_project


async def sync_application(
    desk: Desk, identity: ApiIdentity, request: m.SyncApplicationRequest
) -> m.SyncApplicationResponse:
    """Ask for a deployment; the answer names the command to follow."""
    asked = new_commands.Request(command_id=desk.new_id(), commander=identity.key_id, at=desk.clock.now())

    def store(connection: Connection) -> Command:
        application = applications.load_application(connection, request.application_id)
        check_application(identity, application)
        command = new_commands.sync_application(application, asked)
        commands.insert_command(connection, command)
        return command

    command = await desk.store.write(store)
    desk.hints.publish(command.agent_id, HintTopic.COMMANDS)
    return m.SyncApplicationResponse(command_id=command.id)


async def get_command(desk: Desk, identity: ApiIdentity, request: m.GetCommandRequest) -> m.GetCommandResponse:
    """How far a command has come."""
    now = desk.clock.now()
    found = await desk.store.read(lambda connection: commands.load_command(connection, request.command_id))
    check_project(identity, found.project_id, f"command {found.id}")
    if new_commands.expire(found, now) is not found:
        found = await desk.store.write(
            lambda connection: commands.update_command(
                connection, found.id, lambda waiting: new_commands.expire(waiting, now)
            )
        )
    return m.GetCommandResponse(command=to_wire_command(found))


async def register_event(desk: Desk, identity: ApiIdentity, request: m.RegisterEventRequest) -> m.RegisterEventResponse:
    """Tell of something new, such as an image; agents that watch for it write it into Git."""
    now, labels = desk.clock.now(), dict(request.labels)
    event = Event(
        id=desk.new_id(),
        name=request.name,
        data=request.data,
        project_id=identity.project_id,
        key=event_key(request.name, labels),
        labels=labels,
        contexts=dict(request.contexts),
        trigger_commit_hash=request.commit_hash,
        created_at=now,
        updated_at=now,
    )
    await desk.store.write(lambda connection: events.insert_event(connection, event))
    return m.RegisterEventResponse(event_id=event.id)
