"""Somebody who asks for something, whichever door they came in by: known by name, with the roles they have now."""

import enum

import msgspec

from fairway.model.api_key import APIKeyRole
from fairway.model.role import ADMIN, VIEWER, Permission, Resource, Role


class CallerKind(enum.Enum):
    """What sort of caller it is."""

    #: A person with a session.
    USER = "user"
    #: A program with an API key.
    API_KEY = "api_key"


class Caller(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks."""

    kind: CallerKind
    #: The person's name, or the key's id. It is what commands, audit and approvals show.
    name: str
    #: The project this request is about. A key has one for ever; a person says it in each request.
    project_id: str
    roles: tuple[Role, ...] = ()
    #: As the sign-in provider last said.
    groups: tuple[str, ...] = ()
    #: The network address the request came from; empty where it is not known.
    address: str = ""


_ACTED_ON = (Resource.APPLICATION, Resource.DEPLOYMENT, Resource.EVENT, Resource.AGENT)

#: What the holder of a key may do.
KEY_ROLES = {
    APIKeyRole.READ_ONLY: Role(name="ReadOnly", permissions=VIEWER.permissions),
    APIKeyRole.READ_WRITE: Role(name="ReadWrite", permissions=(Permission(resources=_ACTED_ON), *VIEWER.permissions)),
    APIKeyRole.ADMIN: ADMIN,
}
