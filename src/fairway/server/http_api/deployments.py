"""Deployments with their stages: looked at, cancelled, approved and skipped. Logs are `stage_logs`."""

import msgspec
from litestar import get
from litestar.di import NamedDependency, Provide
from litestar.params import FromPath, FromQuery, JSONBody

from fairway.model.application import ApplicationKind
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.notes import brief, thinned
from fairway.server.actions import deployments as actions
from fairway.server.actions import reading
from fairway.server.actions.deployments import Rollback
from fairway.server.http_api.applications import without_credentials
from fairway.server.http_api.body import Body
from fairway.server.http_api.commands import ShownCommand, show_command
from fairway.server.http_api.desk import ApiRequest, desk_of
from fairway.server.http_api.errors import REFUSALS
from fairway.server.http_api.onlookers import looks_at
from fairway.server.http_api.query import (
    KindsQuery,
    LabelsQuery,
    StatusesQuery,
    TimeQuery,
    a_moment,
    few,
    known_words,
    labels,
    ordered_page,
    sorting,
)
from fairway.server.http_api.routes import action
from fairway.server.store.deployments import DeploymentFilter
from fairway.server.store.page import PageRequest, Sort
from fairway.server.waiting import Onlooker, deployment_waits_for


class ShownDeployment(Deployment, frozen=True, kw_only=True):
    """A deployment, and what it waits for."""

    #: In words; empty once it has ended.
    waiting_for: str


class DeploymentPage(msgspec.Struct, frozen=True):
    """Some deployments."""

    items: tuple[ShownDeployment, ...]
    #: For the next page; empty when this is the last.
    next_cursor: str


class CancelRequest(Body, frozen=True, kw_only=True):
    """What is to become of the work that was done."""

    rollback: Rollback = Rollback.DEFAULT


async def deployment_filter(
    request: ApiRequest,
    status: StatusesQuery = None,
    kind: KindsQuery = None,
    application_id: FromQuery[list[str] | None] = None,
    application_name: FromQuery[str] = "",
    label: LabelsQuery = None,
    since: TimeQuery = None,
    until: TimeQuery = None,
) -> DeploymentFilter:
    """Which deployments of the caller's project are asked for."""
    return DeploymentFilter(
        project_id=request.auth.project_id,
        statuses=known_words("status", status, DeploymentStatus),
        kinds=known_words("kind", kind, ApplicationKind),
        application_ids=few("application_id", application_id),
        application_name=application_name,
        labels=labels(label),
        since=a_moment("since", since),
        until=a_moment("until", until),
    )


@get(
    "/deployments",
    summary="The deployments of the project.",
    tags=["deployments"],
    responses=REFUSALS,
    dependencies={"wanted": Provide(deployment_filter), "asked": Provide(ordered_page)},
)
async def list_deployments(
    request: ApiRequest,
    wanted: NamedDependency[DeploymentFilter],
    asked: NamedDependency[PageRequest],
    sort: FromQuery[str] = "updated_at",
) -> DeploymentPage:
    """Newest change first, or by creation. Filters may be repeated: any status, kind and application, all labels.

    Notes that plugins keep for themselves are left out; GET of one deployment has them.
    From `since` on and before `until`, of the moment that the list is sorted by.
    """
    desk = desk_of(request)
    wanted_page = sorting(asked, sort, Sort.LAST_CHANGE, Sort.CREATION)
    found = await reading.list_deployments(desk.actions, request.auth, wanted, wanted_page)
    looking = await looks_at(desk, found.items)
    return DeploymentPage(tuple(show_briefly(each, looking) for each in found.items), found.cursor)


@get("/deployments/{deployment_id:str}", summary="One deployment.", tags=["deployments"], responses=REFUSALS)
async def get_deployment(request: ApiRequest, deployment_id: FromPath[str]) -> ShownDeployment:
    """The deployment with this id, its stages in the order they run."""
    desk = desk_of(request)
    found = await reading.get_deployment(desk.actions, request.auth, deployment_id)
    return show_deployment(found, await looks_at(desk, (found,)))


@action("/deployments/{deployment_id:str}/cancel", "Give a deployment up.", 202)
async def cancel_deployment(
    request: ApiRequest, deployment_id: FromPath[str], data: JSONBody[CancelRequest] = CancelRequest()
) -> ShownCommand:
    """The command for the deployment's agent. Asking twice gives the command that waits already."""
    desk = desk_of(request)
    command = await actions.cancel_deployment(desk.actions, request.auth, deployment_id, data.rollback)
    return await show_command(desk, command)


@action("/deployments/{deployment_id:str}/stages/{stage_id:str}/approve", "Say yes to a stage that waits for it.", 202)
async def approve_stage(request: ApiRequest, deployment_id: FromPath[str], stage_id: FromPath[str]) -> ShownCommand:
    """The command for the deployment's agent. Whoever says yes twice counts once."""
    desk = desk_of(request)
    return await show_command(desk, await actions.approve_stage(desk.actions, request.auth, deployment_id, stage_id))


@action("/deployments/{deployment_id:str}/stages/{stage_id:str}/skip", "Go on without the rest of a stage.", 202)
async def skip_stage(request: ApiRequest, deployment_id: FromPath[str], stage_id: FromPath[str]) -> ShownCommand:
    """The command for the deployment's agent. Asking twice gives the command that waits already."""
    desk = desk_of(request)
    return await show_command(desk, await actions.skip_stage(desk.actions, request.auth, deployment_id, stage_id))


def show_briefly(deployment: Deployment, looking: Onlooker) -> ShownDeployment:
    """The same for lists and streams, without the notes that plugins keep for themselves."""
    return show_deployment(brief(deployment), looking)


def show_deployment(deployment: Deployment, looking: Onlooker) -> ShownDeployment:
    """The deployment as everybody who may see it sees it."""
    shown = msgspec.structs.replace(thinned(deployment), git_path=without_credentials(deployment.git_path))
    return ShownDeployment(**msgspec.structs.asdict(shown), waiting_for=deployment_waits_for(deployment, looking))


ROUTES = (list_deployments, get_deployment, cancel_deployment, approve_stage, skip_stage)
