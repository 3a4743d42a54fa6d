"""Deployments with their stages, and the logs of the stages, as JSON."""

import msgspec
from litestar import get
from litestar.di import NamedDependency, Provide
from litestar.params import FromPath, FromQuery

from fairway.model.application import ApplicationKind
from fairway.model.deployment import Deployment, DeploymentStatus
from fairway.model.log_block import LogBlock
from fairway.server.http_api.applications import without_credentials
from fairway.server.http_api.desk import ApiRequest, desk_of
from fairway.server.http_api.errors import REFUSALS
from fairway.server.http_api.query import (
    MOST_BLOCKS,
    KindsQuery,
    LabelsQuery,
    StatusesQuery,
    few,
    in_range,
    known_words,
    labels,
    page,
)
from fairway.server.logs import StageLogKey
from fairway.server.store import deployments
from fairway.server.store.deployments import DeploymentFilter
from fairway.server.store.errors import NotFound
from fairway.server.store.page import PageRequest
from fairway.server.user_service.desk import check_project

_LAST_INDEX = 2**63 - 1


class DeploymentPage(msgspec.Struct, frozen=True):
    """Some deployments, newest change first."""

    items: tuple[Deployment, ...]
    #: For the next page; empty when this is the last.
    next_cursor: str


class LogPage(msgspec.Struct, frozen=True):
    """Some of a stage's log, in its order."""

    blocks: tuple[LogBlock, ...]
    #: Whether the agent said that no more is to come.
    completed: bool
    #: Where the next page begins; null when this one reaches the end of what is there.
    next_index: int | None


async def deployment_filter(
    request: ApiRequest,
    status: StatusesQuery = None,
    kind: KindsQuery = None,
    application_id: FromQuery[list[str] | None] = None,
    application_name: FromQuery[str] = "",
    label: LabelsQuery = None,
) -> DeploymentFilter:
    """Which deployments of the caller's project are asked for."""
    return DeploymentFilter(
        project_id=request.auth.project_id,
        statuses=known_words("status", status, DeploymentStatus),
        kinds=known_words("kind", kind, ApplicationKind),
        application_ids=few("application_id", application_id),
        application_name=application_name,
        labels=labels(label),
    )


@get(
    "/deployments",
    summary="The deployments of the project.",
    tags=["deployments"],
    responses=REFUSALS,
    dependencies={"wanted": Provide(deployment_filter), "asked": Provide(page)},
)
async def list_deployments(
    request: ApiRequest, wanted: NamedDependency[DeploymentFilter], asked: NamedDependency[PageRequest]
) -> DeploymentPage:
    """Newest change first. Filters may be repeated: any status, kind and application, all labels must fit."""
    found = await desk_of(request).store.read(
        lambda connection: deployments.list_deployments(connection, wanted, asked)
    )
    return DeploymentPage(tuple(_shown(deployment) for deployment in found.items), found.cursor)


@get("/deployments/{deployment_id:str}", summary="One deployment.", tags=["deployments"], responses=REFUSALS)
async def get_deployment(request: ApiRequest, deployment_id: FromPath[str]) -> Deployment:
    """The deployment with this id, its stages in the order they run."""
    return _shown(await _load(request, deployment_id))


@get(
    "/deployments/{deployment_id:str}/stages/{stage_id:str}/log",
    summary="The log of a stage.",
    tags=["deployments"],
    responses=REFUSALS,
)
async def get_stage_log(
    request: ApiRequest,
    deployment_id: FromPath[str],
    stage_id: FromPath[str],
    from_index: FromQuery[int] = 0,
    limit: FromQuery[int] = MOST_BLOCKS,
) -> LogPage:
    """The log of the stage's latest run from an index on, as far as it has been written."""
    first = in_range("from_index", from_index, 0, _LAST_INDEX)
    most = in_range("limit", limit, 1, MOST_BLOCKS)
    stage = (await _load(request, deployment_id)).stage(stage_id)
    if stage is None:
        raise NotFound("stage", stage_id)
    key = StageLogKey(deployment_id, stage.id, stage.retried_count)
    log = await desk_of(request).logs.read(key, first, most)
    return LogPage(log.blocks, log.completed, log.next_index)


async def _load(request: ApiRequest, deployment_id: str) -> Deployment:
    found = await desk_of(request).store.read(lambda connection: deployments.load_deployment(connection, deployment_id))
    check_project(request.auth, found.project_id, f"deployment {deployment_id}")
    return found


def _shown(deployment: Deployment) -> Deployment:
    return msgspec.structs.replace(deployment, git_path=without_credentials(deployment.git_path))


ROUTES = (
    list_deployments,
    get_deployment,
    get_stage_log,
)
