"""People as JSON, never their passwords or hashes of them; links to set one are shown to whoever made them, once."""

from datetime import datetime

import msgspec
from litestar import delete, get, patch, post
from litestar.di import NamedDependency, Provide
from litestar.params import FromPath, JSONBody

from fairway.model.user import User
from fairway.server.http_api.body import Body
from fairway.server.http_api.desk import ApiRequest, desk_of
from fairway.server.http_api.errors import CHANGE_REFUSALS, REFUSALS
from fairway.server.http_api.query import page
from fairway.server.sign_in.actions import users
from fairway.server.sign_in.actions.users import UserChange, UserToAdd
from fairway.server.sign_in.links import NewLink
from fairway.server.store.page import PageRequest


class ShownUser(msgspec.Struct, frozen=True, kw_only=True):
    """One person."""

    id: str
    display_name: str
    #: Who vouches for them: `local`, or the name of a sign-in provider.
    provider: str
    #: Given here; those of groups come on top.
    roles: tuple[str, ...]
    #: As the provider said at the last sign-in.
    groups: tuple[str, ...]
    disabled: bool
    #: Whether they can sign in with a password; false until the link has been used.
    has_password: bool
    last_sign_in_at: datetime | None
    created_at: datetime
    updated_at: datetime


class UserPage(msgspec.Struct, frozen=True):
    """Some people, by name."""

    items: tuple[ShownUser, ...]
    #: For the next page; empty when this is the last.
    next_cursor: str


class NewUserBody(Body, frozen=True):
    """A person to add."""

    #: The name they sign in with: a-z, 0-9, '.', '_' and '-'. It never changes.
    id: str
    roles: tuple[str, ...]
    display_name: str = ""


class UserChangeBody(Body, frozen=True):
    """What is to be changed; what is left out stays."""

    display_name: str | None = None
    roles: tuple[str, ...] | None = None
    disabled: bool | None = None


class ShownLink(msgspec.Struct, frozen=True):
    """Where somebody sets a password, once."""

    link: str
    expires_at: datetime


class AddedUser(msgspec.Struct, frozen=True):
    """A person who was just added."""

    user: ShownUser
    #: Where they set a password, once.
    link: str


@get(
    "/users",
    summary="Everybody who can sign in, or could.",
    tags=["users"],
    responses=REFUSALS,
    dependencies={"asked": Provide(page)},
)
async def list_users(request: ApiRequest, asked: NamedDependency[PageRequest]) -> UserPage:
    """By name."""
    found = await users.list_users(desk_of(request).actions, request.auth, asked.cursor, asked.size + 1)
    shown = tuple(show_user(user) for user in found[: asked.size])
    return UserPage(shown, shown[-1].id if len(found) > asked.size else "")


@get("/users/{user_id:str}", summary="One person.", tags=["users"], responses=REFUSALS)
async def get_user(request: ApiRequest, user_id: FromPath[str]) -> ShownUser:
    """The person of this name."""
    return show_user(await users.get_user(desk_of(request).actions, request.auth, user_id))


@post("/users", summary="Add a person.", tags=["users"], responses=CHANGE_REFUSALS)
async def add_user(request: ApiRequest, data: JSONBody[NewUserBody]) -> AddedUser:
    """A new person, and the link with which they set a password; it is shown this once, and works once for a day."""
    asked = UserToAdd(id=data.id, display_name=data.display_name, roles=data.roles)
    added = await users.add_user(desk_of(request).actions, request.auth, asked)
    return AddedUser(show_user(added.user), _address(request, added.link))


@patch("/users/{user_id:str}", summary="Change a person.", tags=["users"], responses=CHANGE_REFUSALS)
async def change_user(
    request: ApiRequest, user_id: FromPath[str], data: JSONBody[UserChangeBody] = UserChangeBody()
) -> ShownUser:
    """New roles count at once; whoever is disabled is signed out at once."""
    asked = UserChange(display_name=data.display_name, roles=data.roles, disabled=data.disabled)
    return show_user(await users.change_user(desk_of(request).actions, request.auth, user_id, asked))


@delete(
    "/users/{user_id:str}", summary="Take a person away.", tags=["users"], status_code=204, responses=CHANGE_REFUSALS
)
async def delete_user(request: ApiRequest, user_id: FromPath[str]) -> None:
    """With their sessions and links; what they did stays on record."""
    await users.delete_user(desk_of(request).actions, request.auth, user_id)


@post(
    "/users/{user_id:str}/link",
    summary="A new link to set a password.",
    tags=["users"],
    status_code=201,
    responses=CHANGE_REFUSALS,
)
async def make_link(request: ApiRequest, user_id: FromPath[str]) -> ShownLink:
    """It is shown this once and works once, for a day. Links made before work no more; the old password still does."""
    link = await users.make_link(desk_of(request).actions, request.auth, user_id)
    return ShownLink(_address(request, link), link.link.expires_at)


@post(
    "/users/{user_id:str}/sign-out",
    summary="Sign a person out everywhere.",
    tags=["users"],
    status_code=204,
    responses=CHANGE_REFUSALS,
)
async def sign_out_user(request: ApiRequest, user_id: FromPath[str]) -> None:
    """All their sessions end at once. Everybody may do this to themselves."""
    await users.sign_out_user(desk_of(request).actions, request.auth, user_id)


def show_user(user: User) -> ShownUser:
    """What may be seen of a person."""
    return ShownUser(
        id=user.id,
        display_name=user.display_name,
        provider=user.provider,
        roles=user.roles,
        groups=user.groups,
        disabled=user.disabled,
        has_password=bool(user.password_hash),
        last_sign_in_at=user.last_sign_in_at,
        created_at=user.created_at,
        updated_at=user.updated_at,
    )


def _address(request: ApiRequest, link: NewLink) -> str:
    """The link as somebody can open it: at the address that people use, or else where this request was sent to."""
    base = desk_of(request).sign_in.web_url or f"{request.scope['scheme']}://{request.headers.get('host', '')}"
    return f"{base}{link.path}"


ROUTES = (list_users, get_user, add_user, change_user, delete_user, make_link, sign_out_user)
