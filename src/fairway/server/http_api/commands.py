"""Commands as JSON: what was asked of an agent, what it waits for and what became of it.

A command is seen by whoever may see the application that it is about.
"""

import msgspec
from litestar import get
from litestar.di import NamedDependency, Provide
from litestar.params import FromPath, FromQuery

from fairway.model.command import Command, CommandStatus
from fairway.server.actions import commands as actions
from fairway.server.http_api.desk import ApiRequest, HttpDesk, desk_of
from fairway.server.http_api.errors import REFUSALS
from fairway.server.http_api.onlookers import looks
from fairway.server.http_api.query import ordered_page, the_word
from fairway.server.store.commands import CommandFilter
from fairway.server.store.page import PageRequest
from fairway.server.waiting import Onlooker, command_waits_for


class ShownCommand(Command, frozen=True, kw_only=True):
    """A command, and what it waits for."""

    #: In words; empty once it is answered, or has timed out.
    waiting_for: str


class CommandPage(msgspec.Struct, frozen=True):
    """Some commands, newest first."""

    items: tuple[ShownCommand, ...]
    #: For the next page; empty when this is the last.
    next_cursor: str


async def command_filter(
    request: ApiRequest,
    application_id: FromQuery[str] = "",
    deployment_id: FromQuery[str] = "",
    status: FromQuery[str] = "",
) -> CommandFilter:
    """Which commands of the caller's project are asked for."""
    return CommandFilter(
        project_id=request.auth.project_id,
        application_id=application_id,
        deployment_id=deployment_id,
        status=the_word("status", status, CommandStatus),
    )


@get(
    "/commands",
    summary="What was asked of the project's agents.",
    tags=["commands"],
    responses=REFUSALS,
    dependencies={"wanted": Provide(command_filter), "asked": Provide(ordered_page)},
)
async def list_commands(
    request: ApiRequest, wanted: NamedDependency[CommandFilter], asked: NamedDependency[PageRequest]
) -> CommandPage:
    """Newest first. One that nobody answered for too long is shown as timed out, and found as waiting until then."""
    desk = desk_of(request)
    found = await actions.list_commands(desk.actions, request.auth, wanted, asked)
    looking = await looks(desk, (command.agent_id for command in found.items))
    return CommandPage(tuple(shown_command(command, looking) for command in found.items), found.cursor)


@get("/commands/{command_id:str}", summary="One command.", tags=["commands"], responses=REFUSALS)
async def get_command(request: ApiRequest, command_id: FromPath[str]) -> ShownCommand:
    """The command with this id. One that nobody answered for too long has timed out."""
    desk = desk_of(request)
    return await show_command(desk, await actions.get_command(desk.actions, request.auth, command_id))


async def show_command(desk: HttpDesk, command: Command) -> ShownCommand:
    """The command, and what it waits for."""
    return shown_command(command, await looks(desk, (command.agent_id,)))


def shown_command(command: Command, looking: Onlooker) -> ShownCommand:
    """The command as everybody who may see it sees it."""
    return ShownCommand(**msgspec.structs.asdict(command), waiting_for=command_waits_for(command, looking))


ROUTES = (list_commands, get_command)
