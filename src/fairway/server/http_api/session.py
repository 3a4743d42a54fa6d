"""The session of whoever asks: who they are, signing in with a password, signing out.

Signing in needs no token, since there is no session that could have one. That another site's page makes a browser sign
in as somebody else is prevented by asking the browser where the request comes from, and by taking JSON only, which such
a page cannot send without being asked first.
"""

from datetime import datetime
from typing import Any

import msgspec
from litestar import Request, Response, delete, get, post
from litestar.datastructures import State
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import JSONBody
from sqlalchemy import Connection

from fairway.server.callers import CallerKind
from fairway.server.http_api.body import Body
from fairway.server.http_api.caller import AnyConnection, address_of, known_somewhere, session_cookie
from fairway.server.http_api.desk import ApiRequest, desk_of
from fairway.server.http_api.errors import CHANGE_REFUSALS, REFUSALS, ErrorAnswer
from fairway.server.sign_in.arrivals import Arrival, record_arrival
from fairway.server.sign_in.cookies import SESSION, dropped_cookie, is_secure, kept_cookie
from fairway.server.sign_in.grants import means_something_in
from fairway.server.sign_in.local import Typed, sign_in
from fairway.server.sign_in.same_origin import refuse_foreign_pages
from fairway.server.sign_in.sessions import NewSession
from fairway.server.status_codes import NotNow
from fairway.server.store.projects import list_projects
from fairway.server.store.sessions import delete_session


class Credentials(Body, frozen=True):
    """What somebody types to sign in."""

    username: str
    password: str


class ShownProject(msgspec.Struct, frozen=True):
    """A project to choose from."""

    id: str
    desc: str


class ShownSession(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks, and what they may choose from."""

    kind: CallerKind
    #: The person's name, or the key's id.
    name: str
    display_name: str
    #: Who vouches for the person; empty for a key.
    provider: str
    roles: tuple[str, ...]
    groups: tuple[str, ...]
    #: The project that requests are about when they do not say; empty where a person has to.
    project_id: str
    projects: tuple[ShownProject, ...]
    #: To be sent in the header X-CSRF-Token with each change; null for a key, which needs none.
    csrf_token: str | None
    #: When the session ends however much it is used; null for a key.
    ends_at: datetime | None


class BegunSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session that has just begun; its cookie is set."""

    name: str
    csrf_token: str
    ends_at: datetime


@get("/session", summary="Who am I?", tags=["session"], responses=REFUSALS, guards=[known_somewhere])
async def get_session(request: ApiRequest) -> ShownSession:
    """Who asks, with the roles they have now and the token that changes need."""
    caller, person = request.auth, request.scope["user"]
    found = await desk_of(request).store.read(list_projects)
    # A key has one project, and nobody need know of those in which they can do nothing.
    mine = [project for project in found if person is not None or project.id == caller.project_id]
    seen = [project for project in mine if means_something_in(project.id, caller.roles)]
    return ShownSession(
        kind=caller.kind,
        name=caller.name,
        display_name=person.user.display_name if person else "",
        provider=person.user.provider if person else "",
        roles=tuple(role.name for role in caller.roles),
        groups=caller.groups,
        project_id=caller.project_id,
        projects=tuple(ShownProject(project.id, project.desc) for project in seen),
        csrf_token=person.csrf_token if person else None,
        ends_at=person.session.ends_at if person else None,
    )


@post(
    "/session",
    summary="Sign in with a name and a password.",
    tags=["session"],
    responses={
        **{status: CHANGE_REFUSALS[status] for status in (400, 401, 403, 413, 415, 503)},
        429: ResponseSpec(ErrorAnswer, description="Too many attempts; Retry-After says when to try again."),
    },
    security=[{}],
)
async def create_session(request: Request[Any, Any, State], data: JSONBody[Credentials]) -> Response[BegunSession]:
    """Begin a session, which the answer's cookie stands for; one that the browser had before ends."""
    desk = desk_of(request).sign_in
    refuse_foreign_pages(request.headers, request.scope["scheme"], desk.web_url)
    new = await sign_in(desk, Typed(data.username, data.password), address_of(request))
    await desk.sessions.end(session_cookie(request, desk))
    begun = BegunSession(name=new.session.user_id, csrf_token=new.csrf_token, ends_at=new.session.ends_at)
    return with_session(Response(begun, status_code=201), request, new)


@delete(
    "/session",
    summary="Sign out.",
    tags=["session"],
    status_code=204,
    responses=CHANGE_REFUSALS,
    guards=[known_somewhere],
)
async def sign_out(request: ApiRequest) -> Response[None]:
    """End this session at once, wherever its cookie may be."""
    if request.scope["user"] is None:
        raise NotNow("an API key has no session to end; disable the key instead")
    return await without_session(Response(None, status_code=204), request, request.auth.name)


def with_session(response: Response[Any], connection: AnyConnection, new: NewSession) -> Response[Any]:
    """The response with the cookie of a new session."""
    lasts = new.session.ends_at - new.session.created_at
    secure = is_secure(connection.scope["scheme"], desk_of(connection).sign_in.web_url)
    response.set_cookie(kept_cookie(SESSION, new.cookie, secure, int(lasts.total_seconds())))
    response.headers["cache-control"] = "no-store"
    return response


async def without_session(response: Response[Any], connection: AnyConnection, user_id: str) -> Response[Any]:
    """The response that takes the cookie away, once the session has ended and that has been written down."""
    desk = desk_of(connection).sign_in
    id = desk.sessions.id_of(session_cookie(connection, desk)) or ""
    arrival = Arrival(at=desk.clock.now(), address=address_of(connection))

    def end(writing: Connection) -> None:
        if delete_session(writing, id):
            record_arrival(writing, user_id, arrival, "session.delete", {})

    await desk.store.write(end)
    response.set_cookie(dropped_cookie(SESSION, is_secure(connection.scope["scheme"], desk.web_url)))
    return response


ROUTES = (get_session, create_session, sign_out)
