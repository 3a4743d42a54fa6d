"""Roles as JSON: the built-in ones to look at, others to make, change and take away."""

import msgspec
from litestar import delete, get, put
from litestar.params import FromPath, JSONBody

from fairway.model.role import Action, Permission, Resource, Role
from fairway.server.http_api.body import Body
from fairway.server.http_api.desk import ApiRequest, desk_of
from fairway.server.http_api.errors import CHANGE_REFUSALS, REFUSALS
from fairway.server.sign_in.actions import roles


class PermissionBody(Body, frozen=True):
    """Some actions on some resources, where projects and labels fit."""

    #: null: every one.
    resources: tuple[Resource, ...] | None = None
    #: null: every one.
    actions: tuple[Action, ...] | None = None
    #: Patterns of project ids, with * and ?; one must fit.
    projects: tuple[str, ...] = ("*",)
    #: Label → pattern of its value; each must be there and fit.
    labels: dict[str, str] = {}


class RoleBody(Body, frozen=True):
    """What a role allows."""

    permissions: tuple[PermissionBody, ...]


class RolePage(msgspec.Struct, frozen=True):
    """All roles, the built-in ones first."""

    items: tuple[Role, ...]
    #: Always empty: there are few.
    next_cursor: str = ""


@get("/roles", summary="All roles.", tags=["roles"], responses=REFUSALS)
async def list_roles(request: ApiRequest) -> RolePage:
    """The built-in ones, then the others by name."""
    return RolePage(await roles.list_roles(desk_of(request).actions, request.auth))


@get("/roles/{name:str}", summary="One role.", tags=["roles"], responses=REFUSALS)
async def get_role(request: ApiRequest, name: FromPath[str]) -> Role:
    """The role of this name."""
    return await roles.get_role(desk_of(request).actions, request.auth, name)


@put("/roles/{name:str}", summary="Make or change a role.", tags=["roles"], responses=CHANGE_REFUSALS)
async def set_role(request: ApiRequest, name: FromPath[str], data: JSONBody[RoleBody]) -> Role:
    """It counts at once for everybody who has it. Nobody can give away more than they may do themselves."""
    permissions = tuple(
        Permission(resources=each.resources, actions=each.actions, projects=each.projects, labels=each.labels)
        for each in data.permissions
    )
    return await roles.set_role(desk_of(request).actions, request.auth, name, permissions)


@delete("/roles/{name:str}", summary="Take a role away.", tags=["roles"], status_code=204, responses=CHANGE_REFUSALS)
async def delete_role(request: ApiRequest, name: FromPath[str]) -> None:
    """Refused while somebody, or a group, has it."""
    await roles.delete_role(desk_of(request).actions, request.auth, name)


ROUTES = (list_roles, get_role, set_role, delete_role)
