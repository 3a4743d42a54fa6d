"""Applications as JSON. Lists leave out what has been deleted; a deleted application is still shown by its id."""

import msgspec
from litestar import get
from litestar.di import NamedDependency, Provide
from litestar.params import FromPath, FromQuery

from fairway.git.remote import redacted
from fairway.model.application import Application, ApplicationKind, GitPath
from fairway.server.http_api.desk import ApiRequest, desk_of
from fairway.server.http_api.errors import REFUSALS
from fairway.server.http_api.query import KindsQuery, LabelsQuery, known_words, labels, page
from fairway.server.store import applications
from fairway.server.store.applications import ApplicationFilter
from fairway.server.store.page import PageRequest
from fairway.server.user_service.applications import check_application


class ApplicationPage(msgspec.Struct, frozen=True):
    """Some applications, newest change first."""

    items: tuple[Application, ...]
    #: For the next page; empty when this is the last.
    next_cursor: str


async def application_filter(
    request: ApiRequest,
    name: FromQuery[str] = "",
    kind: KindsQuery = None,
    agent_id: FromQuery[str] = "",
    disabled: FromQuery[bool | None] = None,
    label: LabelsQuery = None,
) -> ApplicationFilter:
    """Which applications of the caller's project are asked for."""
    return ApplicationFilter(
        project_id=request.auth.project_id,
        name=name,
        kinds=known_words("kind", kind, ApplicationKind),
        agent_id=agent_id,
        disabled=disabled,
        labels=labels(label),
    )


@get(
    "/applications",
    summary="The applications of the project.",
    tags=["applications"],
    responses=REFUSALS,
    dependencies={"wanted": Provide(application_filter), "asked": Provide(page)},
)
async def list_applications(
    request: ApiRequest, wanted: NamedDependency[ApplicationFilter], asked: NamedDependency[PageRequest]
) -> ApplicationPage:
    """Newest change first. `kind` and `label=key:value` may be repeated: any kind, all labels must fit."""
    found = await desk_of(request).store.read(
        lambda connection: applications.list_applications(connection, wanted, asked)
    )
    return ApplicationPage(tuple(_shown(application) for application in found.items), found.cursor)


@get("/applications/{application_id:str}", summary="One application.", tags=["applications"], responses=REFUSALS)
async def get_application(request: ApiRequest, application_id: FromPath[str]) -> Application:
    """The application with this id, deleted or not."""
    found = await desk_of(request).store.read(
        lambda connection: applications.load_application(connection, application_id)
    )
    check_application(request.auth, found)
    return _shown(found)


def without_credentials(git_path: GitPath) -> GitPath:
    """The path with a remote that shows no password, should somebody have written one into it."""
    repository = git_path.repository
    shown = msgspec.structs.replace(repository, remote=redacted(repository.remote))
    return msgspec.structs.replace(git_path, repository=shown)


def _shown(application: Application) -> Application:
    return msgspec.structs.replace(application, git_path=without_credentials(application.git_path))


ROUTES = (
    list_applications,
    get_application,
)
