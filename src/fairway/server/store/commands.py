"""Commands that wait for an agent, and the outputs that agents send back with their answers.

An output (a plan preview) can be large and is read once or twice, so it is kept apart from its command.
"""

from collections.abc import Callable, Iterator
from datetime import datetime

import msgspec
import sqlalchemy as sa

from fairway.model.command import Command, CommandStatus
from fairway.server.store.documents import to_microseconds
from fairway.server.store.errors import NotFound
from fairway.server.store.labels import EVERYTHING, Patterns, label_patterns
from fairway.server.store.page import Page, PageRequest, by_creation, cut_page
from fairway.server.store.prepared import PreparedSelect
from fairway.server.store.rows import Columns, Rows, upsert
from fairway.server.store.tables import APPLICATION_LABELS, COMMAND_OUTPUTS, COMMANDS


class CommandFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which commands of a project; what is empty or `None` lets all through."""

    project_id: str
    application_id: str = ""
    deployment_id: str = ""
    status: CommandStatus | None = None
    #: Also those that are about no application, such as a restart of an agent.
    about_agents: bool = True
    #: Of the applications that have all labels of one of these, by pattern.
    scope: Patterns = EVERYTHING


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
    return _ROWS.decoded(_WAITING.all(connection, {"of": agent_id}))


def list_commands(connection: sa.Connection, filter: CommandFilter, page: PageRequest) -> Page[Command]:
    """One page of the commands that fit, newest first."""
    statement = sa.select(COMMANDS.c.document).where(*_conditions(connection, filter))
    return cut_page(connection, _ROWS, (statement,), by_creation(COMMANDS), page)


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


def list_overdue_commands(connection: sa.Connection, asked_until: datetime, limit: int) -> tuple[Command, ...]:
    """What still waits although it was asked at that moment or before, for whichever agent."""
    columns = COMMANDS.c
    overdue = columns.handled_at.is_(None), columns.created_at <= to_microseconds(asked_until)
    # No order: the index of what waits is small, and whoever asks takes all of it in the end.
    return _ROWS.query(connection, sa.select(columns.document).where(*overdue).limit(limit))


def delete_command_outputs(connection: sa.Connection, answered_before: datetime, limit: int) -> int:
    """Forget some outputs of commands that were answered so long ago; how many."""
    # Asked for each output and not joined: outputs are few, and commands of a month that have none are many.
    answered = sa.select(COMMANDS.c.handled_at).where(COMMANDS.c.id == COMMAND_OUTPUTS.c.command_id).scalar_subquery()
    old = sa.select(COMMAND_OUTPUTS.c.command_id).where(answered < to_microseconds(answered_before)).limit(limit)
    ids = connection.execute(old).scalars().all()
    if ids:
        connection.execute(sa.delete(COMMAND_OUTPUTS).where(COMMAND_OUTPUTS.c.command_id.in_(ids)))
    return len(ids)


def delete_finished_commands(connection: sa.Connection, ended_before: datetime, limit: int) -> int:
    """Forget some commands that were answered, or timed out, so long ago, and their outputs; how many."""
    ended = COMMANDS.c.handled_at
    old = sa.select(COMMANDS.c.id).where(ended < to_microseconds(ended_before)).order_by(ended).limit(limit)
    ids = connection.execute(old).scalars().all()
    if ids:
        connection.execute(sa.delete(COMMAND_OUTPUTS).where(COMMAND_OUTPUTS.c.command_id.in_(ids)))
        connection.execute(sa.delete(COMMANDS).where(COMMANDS.c.id.in_(ids)))
    return len(ids)


def _conditions(connection: sa.Connection, filter: CommandFilter) -> Iterator[sa.ColumnElement[bool]]:
    columns = COMMANDS.c
    yield columns.project_id == filter.project_id
    if filter.application_id:
        yield columns.application_id == filter.application_id
    if filter.deployment_id:
        yield columns.deployment_id == filter.deployment_id
    if filter.status is not None:
        yield columns.status == filter.status.value
    if not filter.about_agents:
        yield columns.application_id != ""
    yield from label_patterns(connection, APPLICATION_LABELS, columns.application_id, filter.scope)


def _columns(command: Command) -> Columns:
    return {
        "id": command.id,
        "project_id": command.project_id,
        "agent_id": command.agent_id,
        "application_id": command.application_id,
        "deployment_id": command.deployment_id,
        "status": command.status.value,
        "created_at": to_microseconds(command.created_at),
        # By our clock, not by the agent's, which may be years off: what is old is deleted by it.
        "handled_at": None if command.status is CommandStatus.WAITING else to_microseconds(command.updated_at),
    }


_ROWS = Rows(COMMANDS, Command, "command", _columns)
# Made once, because every agent asks it every few seconds.
_WAITING = PreparedSelect(
    sa.select(COMMANDS.c.document)
    .where(COMMANDS.c.agent_id == sa.bindparam("of"), COMMANDS.c.handled_at.is_(None))
    .order_by(COMMANDS.c.created_at, COMMANDS.c.id)
)
