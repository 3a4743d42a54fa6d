"""Plan previews over HTTP: ask what merging a branch would deploy, then look until each agent has answered."""

from datetime import timedelta
from typing import Annotated

import msgspec
from litestar import get, post
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import FromPath, JSONBody
from msgspec import Meta

from fairway.model.merge_preview import ApplicationChange, MergePreview, TargetChange
from fairway.model.plan_preview import ApplicationPlanPreview, PlanPreview
from fairway.server.actions import plan_previews as actions
from fairway.server.actions.preview_results import Asked, list_previews
from fairway.server.http_api.body import Body
from fairway.server.http_api.desk import ApiRequest, desk_of
from fairway.server.http_api.errors import CHANGE_REFUSALS, REFUSALS, ErrorAnswer

_Name = Annotated[str, Meta(min_length=1, max_length=1_000)]


class MergeToPreview(Body, frozen=True, kw_only=True):
    """Which merge is meant."""

    #: The repository as people clone it, in whichever spelling.
    repository: _Name
    head_branch: _Name
    head_commit: _Name
    base_branch: _Name
    #: How long each agent may take; 0 leaves it to the agent.
    timeout_seconds: Annotated[int, Meta(ge=0, le=86_400)] = 0


class MergePreviews(msgspec.Struct, frozen=True):
    """One for each agent that follows the repository; none when nobody does."""

    items: tuple[MergePreview, ...]


@post("/plan-previews", summary="Ask what a merge would deploy.", tags=["plan previews"], responses=CHANGE_REFUSALS)
async def request_plan_preview(request: ApiRequest, data: JSONBody[MergeToPreview]) -> MergePreviews:
    """One preview for each agent that follows the base branch; look at each until it is ready."""
    asked = actions.PreviewRequest(
        remote=data.repository,
        head_branch=data.head_branch,
        head_commit=data.head_commit,
        base_branch=data.base_branch,
        timeout=timedelta(seconds=data.timeout_seconds) or None,
    )
    desk = desk_of(request).actions
    made = await actions.request_plan_preview(desk, request.auth, asked)
    found = await list_previews(desk, request.auth, [command.id for command in made])
    return MergePreviews(tuple(_told(*each) for each in found))


@get(
    "/plan-previews/{preview_id:str}",
    summary="What one agent says a merge would deploy.",
    tags=["plan previews"],
    responses=REFUSALS | {409: ResponseSpec(ErrorAnswer, description="Answered too long ago; ask for a new one.")},
)
async def get_plan_preview(request: ApiRequest, preview_id: FromPath[str]) -> MergePreview:
    """An agent that is not connected, or takes too long, is answered for with the reason."""
    ((asked, preview),) = await list_previews(desk_of(request).actions, request.auth, [preview_id])
    return _told(asked, preview)


ROUTES = (request_plan_preview, get_plan_preview)


def _told(asked: Asked, preview: PlanPreview | None) -> MergePreview:
    return MergePreview(
        id=asked.command.id,
        agent_id=asked.agent.id,
        agent_name=asked.agent.name,
        ready=preview is not None,
        applications=tuple(map(_application, preview.applications)) if preview else (),
        error=preview.error if preview else "",
    )


def _application(found: ApplicationPlanPreview) -> ApplicationChange:
    targets = tuple(
        TargetChange(
            plugin=each.plugin_name,
            deploy_target=each.deploy_target,
            summary=_text(each.summary),
            details=_text(each.details),
            language=each.diff_language,
        )
        for each in found.plugins
    )
    # An agent of the older generation has one for all of it.
    older = TargetChange(plugin=found.kind.value if found.kind else "", details=_text(found.details))
    return ApplicationChange(
        application_id=found.application_id,
        application_name=found.application_name,
        directory=found.application_directory,
        labels=found.labels,
        url=found.application_url,
        sync_strategy=found.sync_strategy,
        summary=_text(found.summary),
        no_change=found.no_change,
        targets=(*targets, *([older] if found.details else [])),
        error=found.error,
    )


def _text(said: bytes) -> str:
    return said.decode("utf-8", "replace")
