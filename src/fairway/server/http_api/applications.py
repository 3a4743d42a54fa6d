"""Applications: looked at, registered, changed, switched, deleted and synced.

Lists leave out what has been deleted; a deleted application is still shown by its id. What may be done by whom is
decided by the actions; here a request becomes their arguments, and what they give back an answer.
"""

from typing import Annotated

import msgspec
from litestar import delete, get, patch, post
from litestar.di import NamedDependency, Provide
from litestar.params import FromPath, FromQuery, JSONBody
from msgspec import UNSET, Meta, UnsetType

from fairway.config.find import APPLICATION_FILE
from fairway.git.remote import redacted
from fairway.model.application import Application, ApplicationKind, DiscoveredApplication, GitPath, SyncStatus
from fairway.model.command import Command
from fairway.model.live_state import Health, LiveState
from fairway.model.trigger import SyncStrategy
from fairway.server.actions import applications as actions
from fairway.server.actions import reading
from fairway.server.http_api.body import Body
from fairway.server.http_api.commands import ShownCommand, show_command
from fairway.server.http_api.desk import ApiRequest, desk_of
from fairway.server.http_api.errors import CHANGE_REFUSALS, REFUSALS
from fairway.server.http_api.query import (
    HealthsQuery,
    KindsQuery,
    LabelsQuery,
    SyncStatusesQuery,
    known_words,
    labels,
    ordered_page,
    sorting,
)
from fairway.server.http_api.routes import action
from fairway.server.store.applications import ApplicationFilter
from fairway.server.store.page import PageRequest, Sort

Name = Annotated[str, Meta(min_length=1, max_length=200)]
Id = Annotated[str, Meta(min_length=1, max_length=200)]
FilePath = Annotated[str, Meta(min_length=1, max_length=1000)]


class ApplicationPage(msgspec.Struct, frozen=True):
    """Some applications."""

    items: tuple[Application, ...]
    #: For the next page; empty when this is the last.
    next_cursor: str


class SuggestionList(msgspec.Struct, frozen=True):
    """What agents found in Git and nobody has registered."""

    items: tuple[DiscoveredApplication, ...]


class ApplicationToAdd(Body, frozen=True, kw_only=True):
    """What is said of a new application."""

    name: Name
    agent_id: Id
    #: One that the agent has reported.
    repository_id: Id
    #: From the root of the repository.
    path: FilePath
    #: Empty means `.pipe.yaml`, as agents take a name that is not said.
    config_filename: str = APPLICATION_FILE
    #: v0 only.
    kind: ApplicationKind | None = None
    #: v0 only.
    platform_provider: str = ""
    #: v1 only: plugin name → names of the places that plugin deploys to.
    deploy_targets_by_plugin: dict[str, tuple[str, ...]] = {}
    labels: dict[str, str] = {}
    description: str = ""


class ApplicationPatch(Body, frozen=True, kw_only=True):
    """What is to be otherwise; what is left out stays."""

    name: Name | UnsetType = UNSET
    agent_id: Id | UnsetType = UNSET
    repository_id: Id | UnsetType = UNSET
    path: FilePath | UnsetType = UNSET
    config_filename: str | UnsetType = UNSET
    kind: ApplicationKind | UnsetType | None = UNSET
    platform_provider: str | UnsetType = UNSET
    deploy_targets_by_plugin: dict[str, tuple[str, ...]] | UnsetType = UNSET
    labels: dict[str, str] | UnsetType = UNSET
    description: str | UnsetType = UNSET


class SyncRequest(Body, frozen=True, kw_only=True):
    """How to deploy."""

    strategy: SyncStrategy = SyncStrategy.AUTO


async def application_filter(
    request: ApiRequest,
    name: FromQuery[str] = "",
    kind: KindsQuery = None,
    agent_id: FromQuery[str] = "",
    disabled: FromQuery[bool | None] = None,
    sync_status: SyncStatusesQuery = None,
    health: HealthsQuery = None,
    label: LabelsQuery = None,
) -> ApplicationFilter:
    """Which applications of the caller's project are asked for."""
    return ApplicationFilter(
        project_id=request.auth.project_id,
        name=name,
        kinds=known_words("kind", kind, ApplicationKind),
        agent_id=agent_id,
        disabled=disabled,
        sync_statuses=known_words("sync_status", sync_status, SyncStatus),
        healths=known_words("health", health, Health),
        labels=labels(label),
    )


@get(
    "/applications",
    summary="The applications of the project.",
    tags=["applications"],
    responses=REFUSALS,
    dependencies={"wanted": Provide(application_filter), "asked": Provide(ordered_page)},
)
async def list_applications(
    request: ApiRequest,
    wanted: NamedDependency[ApplicationFilter],
    asked: NamedDependency[PageRequest],
    sort: FromQuery[str] = "updated_at",
) -> ApplicationPage:
    """Newest change first, or by name. Filters may be repeated: any kind and state, all labels must fit."""
    wanted_page = sorting(asked, sort, Sort.LAST_CHANGE, Sort.NAME)
    found = await reading.list_applications(desk_of(request).actions, request.auth, wanted, wanted_page)
    return ApplicationPage(tuple(shown_application(application) for application in found.items), found.cursor)


@get("/applications/{application_id:str}", summary="One application.", tags=["applications"], responses=REFUSALS)
async def get_application(request: ApiRequest, application_id: FromPath[str]) -> Application:
    """The application with this id, deleted or not."""
    return shown_application(await reading.get_application(desk_of(request).actions, request.auth, application_id))


@get(
    "/applications/{application_id:str}/live-state",
    summary="What runs of an application.",
    tags=["applications"],
    responses=REFUSALS,
)
async def get_live_state(request: ApiRequest, application_id: FromPath[str]) -> LiveState:
    """As its agent last told it; 404 when it has told nothing yet."""
    return await reading.get_live_state(desk_of(request).actions, request.auth, application_id)


@get(
    "/applications/suggestions",
    summary="Applications that agents found in Git and nobody has registered.",
    tags=["applications"],
    responses=REFUSALS,
)
async def list_suggestions(request: ApiRequest) -> SuggestionList:
    """Agent by agent, as each last told it."""
    return SuggestionList(await reading.list_suggestions(desk_of(request).actions, request.auth))


@post("/applications", summary="Register an application.", tags=["applications"], responses=CHANGE_REFUSALS)
async def add_application(request: ApiRequest, data: JSONBody[ApplicationToAdd]) -> Application:
    """The new application."""
    new = actions.NewApplication(**msgspec.structs.asdict(data))
    return shown_application(await actions.add_application(desk_of(request).actions, request.auth, new))


@patch(
    "/applications/{application_id:str}",
    summary="Change an application.",
    tags=["applications"],
    responses=CHANGE_REFUSALS,
)
async def update_application(
    request: ApiRequest, application_id: FromPath[str], data: JSONBody[ApplicationPatch] = ApplicationPatch()
) -> Application:
    """The application as it is now. One that moves to another agent or place must be able to live there."""
    change = actions.ApplicationChange(**msgspec.structs.asdict(data))
    changed = await actions.update_application(desk_of(request).actions, request.auth, application_id, change)
    return shown_application(changed)


@delete(
    "/applications/{application_id:str}",
    summary="Take an application out of service for good.",
    tags=["applications"],
    responses=CHANGE_REFUSALS,
)
async def delete_application(request: ApiRequest, application_id: FromPath[str]) -> None:
    """Its deployments stay."""
    await actions.delete_application(desk_of(request).actions, request.auth, application_id)


@action("/applications/{application_id:str}/enable", "Deploy an application again.")
async def enable_application(request: ApiRequest, application_id: FromPath[str]) -> Application:
    """The application as it is now."""
    return shown_application(await actions.enable_application(desk_of(request).actions, request.auth, application_id))


@action("/applications/{application_id:str}/disable", "Keep an application, but do not deploy it.")
async def disable_application(request: ApiRequest, application_id: FromPath[str]) -> Application:
    """The application as it is now."""
    return shown_application(await actions.disable_application(desk_of(request).actions, request.auth, application_id))


@action("/applications/{application_id:str}/sync", "Deploy an application now.", 202)
async def sync_application(
    request: ApiRequest, application_id: FromPath[str], data: JSONBody[SyncRequest] = SyncRequest()
) -> ShownCommand:
    """The command for the application's agent, which can be followed."""
    desk = desk_of(request)
    command: Command = await actions.sync_application(desk.actions, request.auth, application_id, data.strategy)
    return await show_command(desk, command)


def without_credentials(git_path: GitPath) -> GitPath:
    """The path with a remote that shows no password, should somebody have written one into it."""
    repository = git_path.repository
    shown = msgspec.structs.replace(repository, remote=redacted(repository.remote))
    return msgspec.structs.replace(git_path, repository=shown)


def shown_application(application: Application) -> Application:
    """The application as everybody who may see it sees it."""
    return msgspec.structs.replace(application, git_path=without_credentials(application.git_path))


ROUTES = (
    list_applications,
    list_suggestions,
    get_application,
    get_live_state,
    add_application,
    update_application,
    delete_application,
    enable_application,
    disable_application,
    sync_application,
)
