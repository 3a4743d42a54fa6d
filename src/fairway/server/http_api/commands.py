"""Commands as JSON: what was asked of an agent and what became of it."""

from litestar import get
from litestar.params import FromPath

from fairway.model.command import Command
from fairway.server.commands import expire
from fairway.server.http_api.desk import ApiRequest, desk_of
from fairway.server.http_api.errors import REFUSALS
from fairway.server.store import commands
from fairway.server.user_service.desk import check_project


@get("/commands/{command_id:str}", summary="One command.", tags=["commands"], responses=REFUSALS)
async def get_command(request: ApiRequest, command_id: FromPath[str]) -> Command:
    """The command with this id. One that nobody answered for too long is shown as timed out; looking stores nothing."""
    desk = desk_of(request)
    found = await desk.store.read(lambda connection: commands.load_command(connection, command_id))
    check_project(request.auth, found.project_id, f"command {command_id}")
    return expire(found, desk.clock.now())


ROUTES = (get_command,)
