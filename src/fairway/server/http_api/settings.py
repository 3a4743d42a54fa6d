"""What administrators decide about people, as JSON."""

from litestar import get, put
from litestar.params import JSONBody

from fairway.server.http_api.body import Body
from fairway.server.http_api.desk import ApiRequest, desk_of
from fairway.server.http_api.errors import CHANGE_REFUSALS, REFUSALS
from fairway.server.sign_in.actions import settings
from fairway.server.store.settings import PeopleSettings


class SettingsBody(Body, frozen=True):
    """All settings: what is left out goes back to its default."""

    #: Names of roles, by the name of a sign-in provider's group.
    group_roles: dict[str, tuple[str, ...]] = {}
    #: Whether somebody whom a provider knows, but who is in none of these groups, may come in and look.
    allow_stray_as_viewer: bool = False
    #: After how many hours a session ends however much it is used.
    session_hours: int = PeopleSettings().session_hours


@get("/settings", summary="What holds for the whole server.", tags=["settings"], responses=REFUSALS)
async def get_settings(request: ApiRequest) -> PeopleSettings:
    """Roles of groups, and how long sessions last."""
    return await settings.get_settings(desk_of(request).actions, request.auth)


@put("/settings", summary="Change what holds for the whole server.", tags=["settings"], responses=CHANGE_REFUSALS)
async def set_settings(request: ApiRequest, data: JSONBody[SettingsBody]) -> PeopleSettings:
    """Roles of groups count at once, the length of a session from the next one on."""
    wanted = PeopleSettings(
        group_roles=data.group_roles,
        allow_stray_as_viewer=data.allow_stray_as_viewer,
        session_hours=data.session_hours,
    )
    return await settings.set_settings(desk_of(request).actions, request.auth, wanted)


ROUTES = (get_settings, set_settings)
