"""The routes, and what holds for all of them.

Everything under /api/v1 needs a key or a session. A query longer than any real one is refused before it is taken apart.
"""

import msgspec
from litestar import Litestar, Router
from litestar.datastructures import State
from litestar.exceptions import HTTPException
from litestar.plugins import PluginProtocol
from litestar.plugins.core import MsgspecDIPlugin
from litestar.types import ASGIApp, Receive, Scope, Send

from fairway.server.http_api import (
    agents,
    answers,
    api_keys,
    applications,
    audit,
    chains,
    commands,
    deployments,
    events,
    home,
    journeys,
    leases,
    plan_previews,
    probes,
    projects,
    roles,
    session,
    settings,
    sign_in_pages,
    stage_logs,
    stream,
    users,
    webhooks,
)
from fairway.server.http_api.answers import bounded_answers
from fairway.server.http_api.bodies import LIMITS, bounded_bodies
from fairway.server.http_api.body import MOST_BYTES
from fairway.server.http_api.caller import known_caller
from fairway.server.http_api.desk import HttpDesk
from fairway.server.http_api.document import SECURITY, documented
from fairway.server.http_api.errors import ErrorAnswer, Problem, answer_error
from fairway.server.http_api.methods import every_method
from fairway.server.http_api.query import check_request
from fairway.server.room import Room
from fairway.server.sign_in.cookies import SESSION

#: Longest query in bytes; 32 filters of each sort fit.
MOST_QUERY = 8 * 1024


def http_app(desk: HttpDesk) -> ASGIApp:
    """The application that answers requests from the desk."""
    litestar = _Lean(
        route_handlers=[
            _api(),
            _session_api(),
            _pages(),
            webhooks.receive_delivery,
            probes.healthz,
            probes.readyz,
            probes.metrics,
        ],
        state=State({"desk": desk, "streams": stream.Streams(desk), "reception": webhooks.reception_of(desk)}),
        openapi_config=documented(SESSION),
        exception_handlers={HTTPException: sign_in_pages.answer_unknown, Exception: answer_error},
        # What goes wrong is logged by `errors`, without the texts that may quote a secret.
        logging_config=None,
    )
    bounded = bounded_answers(bounded_bodies(litestar, Room(LIMITS)), Room(answers.LIMITS))
    return _short_query(every_method(bounded))


def _api() -> Router:
    """Everything that people and programs ask for."""
    return Router(
        "/api/v1",
        route_handlers=[
            *home.ROUTES,
            *applications.ROUTES,
            *deployments.ROUTES,
            *stage_logs.ROUTES,
            *stream.ROUTES,
            *agents.ROUTES,
            *leases.ROUTES,
            *commands.ROUTES,
            *plan_previews.ROUTES,
            *users.ROUTES,
            *roles.ROUTES,
            *settings.ROUTES,
            *events.ROUTES,
            *chains.ROUTES,
            *audit.ROUTES,
            *api_keys.ROUTES,
            *projects.ROUTES,
            *webhooks.ROUTES,
        ],
        guards=[known_caller],
        before_request=check_request,
        request_max_body_size=MOST_BYTES,
        security=SECURITY,
    )


def _session_api() -> Router:
    """Signing in and out; apart, because that comes before everything that the guard asks for."""
    return Router(
        "/api/v1",
        route_handlers=session.ROUTES,
        before_request=check_request,
        request_max_body_size=MOST_BYTES,
        security=SECURITY,
    )


def _pages() -> Router:
    """What a browser is shown on the way in."""
    return Router(
        "/",
        route_handlers=[*sign_in_pages.ROUTES, *journeys.ROUTES],
        request_max_body_size=sign_in_pages.MOST_BYTES,
        exception_handlers={
            HTTPException: sign_in_pages.answer_page_error,
            Exception: sign_in_pages.answer_page_error,
        },
        include_in_schema=False,
    )


class _Lean(Litestar):
    """Litestar for msgspec alone: it would load pydantic as well, some 8 MB, when another library has brought it."""

    @staticmethod
    def _get_default_plugins(plugins: list[PluginProtocol]) -> list[PluginProtocol]:
        return [*plugins, MsgspecDIPlugin()]


def _short_query(inner: ASGIApp) -> ASGIApp:
    """Refuse a query that is too long to be taken apart."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        length = len(scope["query_string"])
        if length <= MOST_QUERY:
            await inner(scope, receive, send)
            return
        message = f"the query has {length} bytes; expected at most {MOST_QUERY}, ask in turns"
        body = msgspec.json.encode(ErrorAnswer(Problem("query_too_long", message)))
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 414, "headers": headers})
        await send({"type": "http.response.body", "body": body, "more_body": False})

    return app
