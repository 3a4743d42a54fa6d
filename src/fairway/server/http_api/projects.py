"""Projects: listed, made and described."""

from typing import Annotated

import msgspec
from litestar import get, patch, post
from litestar.params import FromPath, JSONBody
from msgspec import Meta

from fairway.server.actions import projects as actions
from fairway.server.http_api.body import Body
from fairway.server.http_api.desk import ApiRequest, desk_of
from fairway.server.http_api.errors import CHANGE_REFUSALS, REFUSALS
from fairway.server.store.projects import Project


class ProjectList(msgspec.Struct, frozen=True):
    """The projects that the caller may see, by id."""

    items: tuple[Project, ...]


class ProjectToMake(Body, frozen=True, kw_only=True):
    """What is said of a new project."""

    #: Small letters, digits and dashes, with no dash at the ends.
    id: Annotated[str, Meta(pattern="^[a-z0-9]([a-z0-9-]{0,48}[a-z0-9])?$", max_length=50)]
    desc: str = ""


class ProjectPatch(Body, frozen=True, kw_only=True):
    """What is to be otherwise."""

    desc: str


@get("/projects", summary="The projects.", tags=["projects"], responses=REFUSALS)
async def list_projects(request: ApiRequest) -> ProjectList:
    """A key sees its own; a person those that a role speaks of."""
    return ProjectList(await actions.list_projects(desk_of(request).actions, request.auth))


@post("/projects", summary="Make a project.", tags=["projects"], responses=CHANGE_REFUSALS)
async def create_project(request: ApiRequest, data: JSONBody[ProjectToMake]) -> Project:
    """The new project, with nothing in it."""
    return await actions.create_project(desk_of(request).actions, request.auth, data.id, data.desc)


@patch("/projects/{project_id:str}", summary="Describe a project.", tags=["projects"], responses=CHANGE_REFUSALS)
async def change_project(request: ApiRequest, project_id: FromPath[str], data: JSONBody[ProjectPatch]) -> Project:
    """The project as it is now."""
    return await actions.change_project(desk_of(request).actions, request.auth, project_id, data.desc)


ROUTES = (list_projects, create_project, change_project)
