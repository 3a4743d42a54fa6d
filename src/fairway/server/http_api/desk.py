"""What the functions that answer a request work with, and who is asking.

A request shows an API key as `Authorization: Bearer <key>`. It is checked by the same `UserAuth` as a gRPC call, so
a key means the same at both doors. The check is a guard: it comes before anything else of a request is looked at.
"""

from typing import Any, TypeAlias

import msgspec
from litestar import Request
from litestar.connection import ASGIConnection
from litestar.datastructures import State
from litestar.handlers.base import BaseRouteHandler

from fairway.clock import Clock
from fairway.server.http_api.metrics import Metrics
from fairway.server.logs import LogStore
from fairway.server.sign_in.desk import SignInDesk
from fairway.server.store.store import Store
from fairway.server.user_auth import SCHEME, Access, ApiIdentity, UserAuth, authorize, shown_key


class HttpDesk(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of the server that requests are answered from."""

    store: Store
    logs: LogStore
    clock: Clock
    auth: UserAuth
    metrics: Metrics
    sign_in: SignInDesk


#: A request whose `auth` is the caller, once the guard below has let it through.
ApiRequest: TypeAlias = Request[Any, ApiIdentity, State]


def desk_of(connection: ASGIConnection[Any, Any, Any, Any]) -> HttpDesk:
    """The desk that the application was made with."""
    desk: HttpDesk = connection.app.state.desk
    return desk


async def known_caller(connection: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler) -> None:
    """Let the request through when its key may read; BadCredentials or Forbidden otherwise."""
    shown = shown_key([_in_our_scheme(header) for header in connection.headers.getall("authorization", [])])
    identity = await desk_of(connection).auth.identify(shown)
    authorize(identity, Access.READ)
    connection.scope["auth"] = identity


def _in_our_scheme(header: str) -> str:
    """The header as a gRPC call would have it; empty for what is no bearer's. HTTP's schemes know no case."""
    scheme, _, key = header.partition(" ")
    return f"{SCHEME} {key}" if scheme.lower() == "bearer" else ""
