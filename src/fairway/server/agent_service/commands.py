"""What people ask of an agent: handed out until it is answered, each exactly once."""

import msgspec
from sqlalchemy import Connection

from fairway.model.command import ChainSyncApplication, Command, CommandStatus
from fairway.model.limits import REASON, SHOWN_TEXT, cut
from fairway.rpc.agent_api import messages as m
from fairway.rpc.convert.command import COMMAND_STATUSES, to_wire_command
from fairway.rpc.convert.wire_time import from_wire_time
from fairway.server.agent_auth import AgentIdentity
from fairway.server.agent_service.chains import give_up_block
from fairway.server.agent_service.desk import AgentDesk
from fairway.server.agent_service.ownership import update_own_command
from fairway.server.commands import expire
from fairway.server.hints import HintTopic
from fairway.server.status_codes import InvalidRequest
from fairway.server.store import commands


async def list_unhandled(
    desk: AgentDesk, caller: AgentIdentity, _request: m.ListUnhandledCommandsRequest
) -> m.ListUnhandledCommandsResponse:
    """Every command that waits for the agent, each time; one that grew too old is not handed out any more."""
    now = desk.clock.now()
    waiting = await desk.store.read(lambda connection: commands.list_unhandled_commands(connection, caller.agent_id))
    fresh = [command for command in waiting if expire(command, now) is command]
    return m.ListUnhandledCommandsResponse(commands=[to_wire_command(command) for command in fresh])


async def report_handled(
    desk: AgentDesk, caller: AgentIdentity, request: m.ReportCommandHandledRequest
) -> m.ReportCommandHandledResponse:
    """The agent's answer. The first one stays, so that nobody who has read it is told otherwise later.

    A chain whose next deployment an agent cannot make falls with that answer: nobody would ever report on it.
    """
    now = desk.clock.now()
    status = COMMAND_STATUSES.from_wire(request.status)
    if status is CommandStatus.WAITING:
        raise InvalidRequest("status is 0 (waiting); expected 1 (succeeded), 2 (failed) or 3 (timed out)")
    handled_at = from_wire_time(request.handled_at)
    said = {cut(key, REASON): cut(value, SHOWN_TEXT) for key, value in request.metadata.items()}

    def record(connection: Connection) -> frozenset[str]:
        accepted: list[Command] = []

        def answer(command: Command) -> Command:
            if command.status is not CommandStatus.WAITING:
                return command
            accepted.append(command)
            return msgspec.structs.replace(command, status=status, metadata=said, handled_at=handled_at, updated_at=now)

        update_own_command(connection, caller, request.command_id, answer)
        if accepted and request.output:
            commands.store_command_output(connection, request.command_id, request.output)
        asked = accepted[0].payload if accepted else None
        if status is CommandStatus.SUCCEEDED or not isinstance(asked, ChainSyncApplication):
            return frozenset()
        return give_up_block(connection, asked, now)

    for agent_id in await desk.store.write(record):
        desk.hints.publish(agent_id, HintTopic.DEPLOYMENTS)
    return m.ReportCommandHandledResponse()
