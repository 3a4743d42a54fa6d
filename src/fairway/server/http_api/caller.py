"""Who makes a request, and about which project: the one guard before everything under /api/v1.

A program shows its API key as `Authorization: Bearer <key>`; it is checked by the same `UserAuth` as a gRPC call, so a
key means the same at both doors. A person's browser shows the cookie of a session. Because a browser sends its cookie
whoever made it send the request, a change by cookie needs the session's token in `X-CSRF-Token` as well, and must not
come from another site's page.
"""

from collections.abc import Callable
from typing import Any

from litestar.connection import ASGIConnection
from litestar.handlers.base import BaseRouteHandler
from sqlalchemy import Connection

from fairway.server.callers import Caller, CallerKind
from fairway.server.first_start import PROJECT
from fairway.server.http_api.desk import desk_of
from fairway.server.sign_in.cookies import SESSION, is_secure, shown_cookie
from fairway.server.sign_in.desk import SignInDesk
from fairway.server.sign_in.same_origin import refuse_foreign_pages
from fairway.server.sign_in.sessions import Person
from fairway.server.status_codes import BadCredentials, Forbidden, InvalidRequest
from fairway.server.store.projects import list_projects, load_project
from fairway.server.user_auth import SCHEME, shown_key

CSRF_HEADER = "x-csrf-token"
#: The methods that change nothing.
_LOOKING = {"GET", "HEAD"}

AnyConnection = ASGIConnection[Any, Any, Any, Any]


async def known_caller(connection: AnyConnection, _: BaseRouteHandler) -> None:
    """Let the request through with its `Caller` as `auth`; BadCredentials or Forbidden otherwise."""
    await _let_in(connection, _chosen_project)


async def known_somewhere(connection: AnyConnection, _: BaseRouteHandler) -> None:
    """The same for what is about no project; which one is the caller's own is said only where that is clear."""
    await _let_in(connection, _clear_project)


async def _let_in(connection: AnyConnection, choose: Callable[[Connection, list[str]], str]) -> None:
    if "authorization" in connection.headers:
        connection.scope["user"], connection.scope["auth"] = None, await _program(connection)
        return
    person = await signed_in_person(connection)
    asked = connection.query_params.getall("project", [])
    project_id = await desk_of(connection).store.read(lambda reading: choose(reading, asked))
    connection.scope["user"] = person
    connection.scope["auth"] = person_caller(person, project_id, address_of(connection))


async def signed_in_person(connection: AnyConnection) -> Person:
    """Whoever's session the browser shows, once it is sure that they want what they ask for."""
    desk = desk_of(connection).sign_in
    cookie = session_cookie(connection, desk)
    if not cookie:
        raise BadCredentials(
            "the request shows neither an API key nor a session; send the header `Authorization: Bearer <key>`, "
            "or sign in at /sign-in"
        )
    person = await desk.sessions.identify(cookie)
    if connection.scope.get("method", "GET") not in _LOOKING:
        refuse_foreign_pages(connection.headers, connection.scope["scheme"], desk.web_url)
        if not desk.sessions.is_csrf_token(person, connection.headers.get(CSRF_HEADER, "")):
            raise Forbidden(
                "the request does not show its session's token; send the csrf_token of GET /api/v1/session in the "
                "header X-CSRF-Token"
            )
    return person


def session_cookie(connection: AnyConnection, desk: SignInDesk) -> str:
    """What the browser holds of a session; empty without one."""
    return shown_cookie(connection.cookies, SESSION, is_secure(connection.scope["scheme"], desk.web_url))


def address_of(connection: AnyConnection) -> str:
    """Where the request came from; empty where that is not known, as on a socket file."""
    return connection.client.host if connection.client else ""


def person_caller(person: Person, project_id: str, address: str) -> Caller:
    """A person who asks for something in a project."""
    return Caller(
        kind=CallerKind.USER,
        name=person.user.id,
        project_id=project_id,
        roles=person.roles,
        groups=person.user.groups,
        address=address,
    )


async def _program(connection: AnyConnection) -> Caller:
    shown = shown_key([_in_our_scheme(header) for header in connection.headers.getall("authorization", [])])
    caller = await desk_of(connection).auth.identify(shown, address_of(connection))
    for project_id in connection.query_params.getall("project", []):
        if project_id != caller.project_id:
            raise Forbidden(
                f"this API key belongs to project {caller.project_id!r}, and the request is about {project_id!r}; "
                "use a key of that project"
            )
    return caller


def _in_our_scheme(header: str) -> str:
    """The header as a gRPC call would have it; empty for what is no bearer's. HTTP's schemes know no case."""
    scheme, _, key = header.partition(" ")
    return f"{SCHEME} {key}" if scheme.lower() == "bearer" else ""


def _chosen_project(connection: Connection, asked: list[str]) -> str:
    """The project that a person's request is about: the one it names, or the one there is."""
    if len(asked) > 1:
        raise InvalidRequest(f"project is given {len(asked)} times; expected once")
    if asked:
        return load_project(connection, asked[0]).id
    clear = _clear_project(connection, asked)
    if not clear:
        raise InvalidRequest("project is missing; there are several, say which one with ?project=")
    return clear


def _clear_project(connection: Connection, _: list[str]) -> str:
    """The only project, or the one that is there from the start; empty when there is neither."""
    ids = [project.id for project in list_projects(connection)]
    return ids[0] if len(ids) == 1 else PROJECT if PROJECT in ids else ""
