"""What merging a branch would deploy, as APIService has it: asked of every agent, answered when all have answered."""

from fairway.errors import UserError
from fairway.rpc.convert.plan_preview import to_wire_plan_preview
from fairway.rpc.convert.wire_time import from_wire_duration
from fairway.rpc.user_api import messages as m
from fairway.server.actions import plan_previews
from fairway.server.actions.desk import ActionDesk
from fairway.server.actions.plan_previews import PreviewRequest
from fairway.server.actions.preview_results import list_previews
from fairway.server.callers import Caller
from fairway.server.store.errors import NotFound


class StillWaiting(NotFound):
    """There is no preview yet: the status that callers of this service take for "ask again"."""

    def __init__(self, command_id: str) -> None:
        UserError.__init__(self, f"the agent has not answered command {command_id} yet; ask again in a few seconds")


async def request_plan_preview(
    desk: ActionDesk, caller: Caller, request: m.RequestPlanPreviewRequest
) -> m.RequestPlanPreviewResponse:
    """Ask every enabled agent that follows the base branch; none is no error."""
    asked = PreviewRequest(
        remote=request.repo_remote_url,
        head_branch=request.head_branch,
        head_commit=request.head_commit,
        base_branch=request.base_branch,
        timeout=from_wire_duration(request.timeout),
    )
    made = await plan_previews.request_plan_preview(desk, caller, asked)
    return m.RequestPlanPreviewResponse(commands=[command.id for command in made])


async def get_plan_preview_results(
    desk: ActionDesk, caller: Caller, request: m.GetPlanPreviewResultsRequest
) -> m.GetPlanPreviewResultsResponse:
    """The previews of all commands; NotFound while one of them is still being made."""
    limit = from_wire_duration(request.command_handle_timeout)
    previews = []
    for asked, preview in await list_previews(desk, caller, request.commands, limit):
        if preview is None:
            raise StillWaiting(asked.command.id)
        previews.append(to_wire_plan_preview(preview))
    return m.GetPlanPreviewResultsResponse(results=previews)
