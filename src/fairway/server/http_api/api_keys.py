"""Keys of programs: listed, made and disabled. A key is shown once, its hash never."""

from datetime import datetime
from typing import Annotated

import msgspec
from litestar import get, post
from litestar.params import FromPath, JSONBody
from msgspec import Meta

from fairway.model.api_key import APIKey, APIKeyRole
from fairway.server.actions import api_keys as actions
from fairway.server.http_api.body import Body
from fairway.server.http_api.desk import ApiRequest, desk_of
from fairway.server.http_api.errors import CHANGE_REFUSALS, REFUSALS
from fairway.server.http_api.routes import action


class ShownAPIKey(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a key."""

    id: str
    name: str
    project_id: str
    role: APIKeyRole
    creator: str
    disabled: bool
    #: Some minutes at a time; null before the first time.
    last_used_at: datetime | None
    created_at: datetime
    updated_at: datetime


class APIKeyList(msgspec.Struct, frozen=True):
    """All keys of the project, by id."""

    items: tuple[ShownAPIKey, ...]


class APIKeyAndSecret(msgspec.Struct, frozen=True):
    """A new key: what is known of it, and the key itself, which is shown this once."""

    api_key: ShownAPIKey
    key: str


class APIKeyToMake(Body, frozen=True, kw_only=True):
    """What is said of a new key."""

    name: Annotated[str, Meta(min_length=1, max_length=200)]
    role: APIKeyRole


@get("/api-keys", summary="The keys of programs.", tags=["api-keys"], responses=REFUSALS)
async def list_api_keys(request: ApiRequest) -> APIKeyList:
    """All keys of the project, disabled ones too."""
    found = await actions.list_api_keys(desk_of(request).actions, request.auth)
    return APIKeyList(tuple(_shown(key) for key in found))


@post("/api-keys", summary="Make a key for a program.", tags=["api-keys"], responses=CHANGE_REFUSALS)
async def create_api_key(request: ApiRequest, data: JSONBody[APIKeyToMake]) -> APIKeyAndSecret:
    """The new key, shown this once. It may do no more than whoever makes it."""
    made = await actions.create_api_key(desk_of(request).actions, request.auth, data.name, data.role)
    return APIKeyAndSecret(_shown(made.api_key), made.key)


@action("/api-keys/{key_id:str}/disable", "Refuse a key from now on, for ever.")
async def disable_api_key(request: ApiRequest, key_id: FromPath[str]) -> ShownAPIKey:
    """The key as it is now."""
    return _shown(await actions.disable_api_key(desk_of(request).actions, request.auth, key_id))


def _shown(key: APIKey) -> ShownAPIKey:
    return ShownAPIKey(
        id=key.id,
        name=key.name,
        project_id=key.project_id,
        role=key.role,
        creator=key.creator,
        disabled=key.disabled,
        last_used_at=key.last_used_at,
        created_at=key.created_at,
        updated_at=key.updated_at,
    )


ROUTES = (list_api_keys, create_api_key, disable_api_key)
