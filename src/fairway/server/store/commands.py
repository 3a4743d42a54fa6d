"""Commands that wait for an agent, and the outputs that agents send back with their answers.

An output (a plan preview) can be large and is read once or twice, so it is kept apart from its command.
"""

from collections.abc import Callable

import sqlalchemy as sa

from fairway.model.command import Command, CommandStatus
from fairway.server.store.documents import to_microseconds
from fairway.server.store.errors import NotFound
from fairway.server.store.rows import Columns, Rows, upsert
from fairway.server.store.tables import COMMAND_OUTPUTS, COMMANDS


def insert_command(connection: sa.Connection, command: Command) -> None:
    """Store a new command."""
    _ROWS.insert(connection, command)


def load_command(connection: sa.Connection, id: str) -> Command:
    """The command with this id."""
    return _ROWS.load(connection, id)


def update_command(connection: sa.Connection, id: str, change: Callable[[Command], Command]) -> Command:
    """The command as `change` makes it, stored."""
    return _ROWS.update(connection, id, change)


def list_unhandled_commands(connection: sa.Connection, agent_id: str) -> tuple[Command, ...]:
    """What waits for the agent, oldest first."""
    return _ROWS.query(connection, _WAITING, agent_id=agent_id)


def store_command_output(connection: sa.Connection, command_id: str, output: bytes) -> None:
    """Keep what the agent sent with its answer; a later answer replaces it."""
    statement = upsert(connection, COMMAND_OUTPUTS).values(command_id=command_id, output=output)
    connection.execute(statement.on_conflict_do_update(index_elements=["command_id"], set_={"output": output}))


def load_command_output(connection: sa.Connection, command_id: str) -> bytes:
    """What the agent sent with its answer; NotFound when it sent nothing."""
    statement = sa.select(COMMAND_OUTPUTS.c.output).where(COMMAND_OUTPUTS.c.command_id == command_id)
    output: bytes | None = connection.execute(statement).scalar_one_or_none()
    if output is None:
        raise NotFound("output of command", command_id)
    return output


def _columns(command: Command) -> Columns:
    handled = command.handled_at or command.updated_at
    return {
        "id": command.id,
        "agent_id": command.agent_id,
        "created_at": to_microseconds(command.created_at),
        # The status decides what waits, whatever time the agent gave.
        "handled_at": None if command.status is CommandStatus.WAITING else to_microseconds(handled),
    }


_ROWS = Rows(COMMANDS, Command, "command", _columns)
# Made once, because every agent asks it every few seconds.
_WAITING = (
    sa.select(COMMANDS.c.document)
    .where(COMMANDS.c.agent_id == sa.bindparam("agent_id"), COMMANDS.c.handled_at.is_(None))
    .order_by(COMMANDS.c.created_at, COMMANDS.c.id)
)
